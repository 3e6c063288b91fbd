import type { I18n } from '../html/i18n.ts';
import type { KindName } from '../kinds/kind-names.ts';

/** What a field is called in a form. One that has no words of its own yet is called by its name. */
export function labelOf({ say, has }: I18n, kind: KindName, name: string): string {
  const key = [`desk:fields.${kind}.${name}`, `desk:fields.${name}`].find(has);
  return key === undefined ? humanized(name) : say(key);
}

/** What helps to fill in a field; undefined where nothing has to be said. */
export function hintOf({ say, has }: I18n, kind: KindName, name: string): string | undefined {
  const key = [`desk:hints.${kind}.${name}`, `desk:hints.${name}`].find(has);
  return key === undefined ? undefined : say(key);
}

const humanized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
