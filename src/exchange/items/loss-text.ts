import { decodeEntities } from '../../wordpress/content/entities.ts';
import type { Loss } from './report.ts';

/** What a report says of a loss beside its reason, for people: where, of what, what exactly. */
export const lossParts = ({ place, of, detail, linked }: Loss, say: (key: string) => string): string[] =>
  [place, decodeEntities(of), linked ? `${say(`exchange:links.${linked}`)}: ${decodeEntities(detail ?? '')}` : detail].filter(
    (part): part is string => Boolean(part),
  );
