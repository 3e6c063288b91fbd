import type { I18n } from '../html/i18n.ts';
import type { KindName } from '../kinds/kind-names.ts';

/** Returns the label of a field in a form, made from its name if it has none. */
export function labelOf({ say, has }: I18n, kind: KindName, name: string): string {
  const key = [`desk:fields.${kind}.${name}`, `desk:fields.${name}`].find(has);
  return key === undefined ? humanized(name) : say(key);
}

/** Returns the hint for filling in a field; undefined if there is none. */
export function hintOf({ say, has }: I18n, kind: KindName, name: string): string | undefined {
  const key = [`desk:hints.${kind}.${name}`, `desk:hints.${name}`].find(has);
  return key === undefined ? undefined : say(key);
}

/** Returns the name of a status; those of other programs have none in our languages. */
export const statusText = ({ say, has }: Pick<I18n, 'say' | 'has'>, status: string): string =>
  has(`statuses:${status}`) ? say(`statuses:${status}`) : status;

const humanized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
