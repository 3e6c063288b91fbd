import type { I18n } from '../html/i18n.ts';
import { postKind, termKind } from '../kinds/index.ts';
import type { Caller } from '../records/caller.ts';
import { readablePosts } from '../records/posts.ts';
import { termLookUp } from '../records/references.ts';
import { inChosenLanguage } from '../records/terms.ts';
import type { Site } from '../site.ts';
import { idsIn } from '../wordpress/rows.ts';
import { nameOf } from './models.ts';

/*
 * Names for the present values of filters, which contain ids and slugs: a page offers only some of the choices.
 */

export interface Choice {
  readonly value: string;
  readonly text: string;
}

/** Maximum number of ids or slugs in a value that are looked up. */
const MAX_NAMES = 20;

/** The kinds of the records that filters name. */
const POST_FILTERS = { venue: 'venue', organizer: 'organizer' } as const;
const TERM_FILTERS = { categories: 'category', tags: 'tag' } as const;

const isIn = <Name extends string>(name: string, table: Readonly<Record<Name, unknown>>): name is Name => Object.hasOwn(table, name);

/**
 * Returns the value of a filter with the names of its records, terms in the language of the page; the value itself for
 * other filters, and if none of its records can be shown. Unknown ids and slugs stay in it, and those that are too
 * many to be looked up, so that sending the form again does not change the filter.
 */
export async function chosenChoice(site: Site, caller: Caller, i18n: I18n, name: string, value: string): Promise<Choice> {
  const tokens = value.split(',').map((token) => token.trim()).filter((token) => token !== ''); // biome-ignore format: one step each
  const namedTokens = tokens.slice(0, MAX_NAMES);
  const unnamed = { value, text: value };
  if (isIn(name, POST_FILTERS)) {
    const kind = postKind(POST_FILTERS[name]);
    const { records } = await readablePosts(site, caller, kind, [...new Set(idsIn(namedTokens))]);
    return records.length === 0 ? unnamed : { value, text: namesOf(records.map((record) => record[kind.titleField]), i18n) }; // biome-ignore format: short
  }
  if (!isIn(name, TERM_FILTERS)) return unnamed;
  const kind = termKind(TERM_FILTERS[name]);
  const lookUp = await termLookUp(site.db, kind.name, namedTokens);
  const terms = await inChosenLanguage(site.db, caller, kind, [...new Set(namedTokens.flatMap((token) => lookUp.byToken(token) ?? []))]);
  if (terms.length === 0) return unnamed;
  const otherTokens = tokens.filter((token, place) => place >= MAX_NAMES || !lookUp.byToken(token));
  return { value: [...terms.map(({ slug }) => slug), ...otherTokens].join(','), text: namesOf(terms.map((term) => term.name), i18n) }; // biome-ignore format: short
}

const namesOf = (names: readonly unknown[], i18n: I18n): string => names.map((name) => nameOf(String(name ?? ''), i18n)).join(', ');
