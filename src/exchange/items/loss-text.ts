import { decodeEntities } from '../../wordpress/content/entities.ts';
import type { Loss } from './report.ts';

/** Returns the parts of a loss, besides its reason, as texts for people: place, record, and details. */
export const lossParts = ({ place, of, detail, linked }: Loss, say: (key: string) => string): string[] =>
  [place, decodeEntities(of), linked ? `${say(`exchange:links.${linked}`)}: ${decodeEntities(detail ?? '')}` : detail].filter(
    (part): part is string => Boolean(part),
  );
