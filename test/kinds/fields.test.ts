import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  INDEX_OPTION,
  LAST_SAVE_OPTION,
  OCCURRENCE_BASE_OPTION,
  SUGGEST_SLUG_OPTION,
  VERSION_KEY_OPTION,
} from '../../src/calendar/settings.ts';
import { LAYOUTS } from '../../src/exchange/csv/layout.ts';
import { RECORDS } from '../../src/exchange/live/records.ts';
import { coreMeta } from '../../src/kinds/core/meta.ts';
import { COORDINATES, COST, DATES } from '../../src/kinds/events/metas.ts';
import { postKind, postKinds } from '../../src/kinds/index.ts';
import type { PostKind } from '../../src/kinds/kind.ts';
import type { Field } from '../../src/kinds/param.ts';
import type { Bundle } from '../../src/kinds/rendering.ts';
import { tecFields } from '../../src/kinds/tec/params.ts';
import { type TecContext, tecRecord } from '../../src/kinds/tec/record.ts';
import { renderContext } from '../../src/records/caller.ts';
import { DEFAULT_COLUMNS } from '../../src/storage/rows/posts.ts';
import { GROUP_TAXONOMIES, LANGUAGE_TAXONOMIES } from '../../src/wordpress/polylang.ts';
import { callerOf } from '../http/describing.ts';

/* Tests of every declared field of every kind. Fields that are added to a kind are tested automatically. */

/** Fields that records do not show, with the reason. */
const NOT_SHOWN: Readonly<Record<string, string>> = {};

/** Members of a record that come from other rows than its own. */
const OF_OTHERS: Readonly<Record<string, string>> = { image: 'the attachment' };

/** Fields that tec/v1 accepts and does not show, with the reason. */
const NOT_IN_TEC: Readonly<Record<string, string>> = { 'event.website': 'the plugin does not show it either' };

/** Members of records without a field of the same name, with their source. */
const DERIVED: Readonly<Record<string, string>> = {
  id: 'the row', global_id: 'the row', global_id_lineage: 'imports', modified: 'every change', modified_utc: 'every change', url: 'slug', rest_url: 'the row',
  slug: 'the title', excerpt: 'the content, or other programs', start_date_details: 'start_date', end_date_details: 'end_date',
  utc_start_date: 'start_date', utc_start_date_details: 'start_date', utc_end_date: 'end_date', utc_end_date_details: 'end_date',
  timezone_abbr: 'timezone', cost_details: 'cost', custom_fields: 'fields that the site defines', json_ld: 'the whole record',
  recurrence: 'the rule of the calendar’s paid extension', language: 'the languages of the site', translations: 'the languages of the site',
}; // biome-ignore format: pairs

const membersOf = ({ record }: PostKind): string[] => (record instanceof z.ZodObject ? Object.keys(record.shape) : []);
const FIELDS = postKinds.flatMap((kind) => Object.entries<Field>(kind.fields).map(([name, field]) => ({ kind, name, field })));
const TEXTS = FIELDS.filter(({ field }) => field.text !== undefined);

describe('every field', () => {
  it('is a member of the record unless listed as hidden', () =>
    expect(
      FIELDS.filter(({ kind, name }) => !membersOf(kind).includes(name) && !NOT_SHOWN[name]).map(
        ({ kind, name }) => `${kind.name}.${name}`,
      ),
    ).toEqual([]));

  it('is rendered in the record and in tec/v1 if its rows hold a value', () => {
    const kinds = { venue: postKind('venue'), organizer: postKind('organizer') };
    const missing = postKinds.flatMap((kind) => {
      const fields = Object.entries<Field>(kind.fields);
      const metas = [...fields.flatMap(([, { place }]) => (place.in === 'meta' ? [place.key] : [])), ...Object.values(COORDINATES)];
      const { bundle, context } = holding(kind, Object.fromEntries(metas.map((key) => [key, heldBy(key)])));
      const record = kind.render(7, bundle, context);
      const inTec = tecRecord(kind, 7, bundle, context, kinds);
      const taken = Object.keys(tecFields(kind, postKind('event')));
      return fields.flatMap(([name, { names }]) => {
        const other = names?.tec === false ? undefined : (names?.tec ?? name);
        return [
          ...(name in record || NOT_SHOWN[name] || OF_OTHERS[name] ? [] : [`${kind.name}.${name}`]),
          ...(other === undefined || !taken.includes(other) || other in inTec || NOT_IN_TEC[`${kind.name}.${other}`]
            ? []
            : [`tec/v1 ${kind.name}.${other}`]),
        ];
      });
    });
    expect(missing).toEqual([]);
  });

  it('is declared for each member of the record that is not derived', () =>
    expect(
      postKinds.flatMap((kind) =>
        membersOf(kind)
          .filter((name) => !(name in kind.fields) && !DERIVED[name])
          .map((name) => `${kind.name}.${name}`),
      ),
    ).toEqual([]));

  it('has a name in tec/v1 that is unique in its kind', () => {
    for (const kind of postKinds) {
      const names = Object.entries<Field>(kind.fields).flatMap(([own, { names }]) => (names?.tec === false ? [] : [names?.tec ?? own]));
      expect([kind.name, names.length]).toEqual([kind.name, new Set(names).size]);
    }
  });
});

const WORDS = { locked: 'Locked', allDay: 'All day', protectedTitle: String, privateTitle: String };

/** A value that is valid in the given meta. */
const heldBy = (key: string): string => (Object.values<string>(COORDINATES).includes(key) ? '1' : 'https://words.example/');

/** Returns a record in which only the content and the given metas have values. */
function holding(
  kind: PostKind,
  held: Readonly<Record<string, string>>,
): { readonly bundle: Bundle; readonly context: TecContext; readonly metas: Map<string, string[]> } {
  const metas = new Map(Object.entries(held).map(([key, value]) => [key, [value]]));
  const moment = '2026-01-01 00:00:00';
  const moments = { post_date: moment, post_date_gmt: moment, post_modified: moment, post_modified_gmt: moment };
  const row = {
    ...DEFAULT_COLUMNS,
    ...moments,
    ID: 7,
    post_type: kind.postType,
    post_status: 'publish',
    post_title: 'Title',
    post_content: 'Words',
    guid: '',
  };
  const context = renderContext(callerOf(), { mayRead: () => true, isOpen: () => true });
  return {
    metas,
    bundle: { posts: new Map([[7, row as never]]), metas: new Map([[7, metas]]), terms: new Map(), attached: new Map(), pages: new Map() },
    context: { ...context, words: WORDS, language: 'en' },
  };
}

describe.each(TEXTS.map((text) => [`${text.kind.name}.${text.name}`, text] as const))('text field %s', (_, { kind, name, field }) => {
  const key = field.place.in === 'meta' ? field.place.key : '';
  const { bundle, context, metas } = holding(kind, { [key]: 'Words' });
  const inTec = field.names?.tec === false ? undefined : (field.names?.tec ?? name);

  it('is a member of the record', () => expect(kind.render(7, bundle, context)).toMatchObject({ [name]: 'Words' }));
  it('is a meta of wp/v2', () => expect(coreMeta(kind, metas)).toMatchObject({ [field.names?.core || key]: 'Words' }));
  it('is hidden in wp/v2 for a protected record, unless WordPress has the field', () =>
    expect(Object.keys(coreMeta(kind, metas, true)).includes(field.names?.core || key)).toBe(!field.isAdditional));
  it('is a field and a member of tec/v1, unless it has no name there', () => {
    const fields = Object.keys(tecFields(kind, postKind('event')));
    if (inTec === undefined) return expect(fields).not.toContain(name);
    const kinds = { venue: postKind('venue'), organizer: postKind('organizer') };
    expect(fields).toContain(inTec);
    expect(tecRecord(kind, 7, bundle, context, kinds)).toMatchObject({ [inTec]: 'Words' });
  });
  it('has a column in CSV files, unless it has no name there', () =>
    expect(Object.keys(LAYOUTS[kind.name]).includes(name)).toBe(field.names?.csv !== false));
  it('is read from other sites', () => {
    const list = { event: 'events', venue: 'venues', organizer: 'organizers' } as const;
    expect(Object.keys(RECORDS[list[kind.name]].shape)).toContain(name);
  });
});

describe('a name of stored data', () => {
  const root = new URL('../../src/', import.meta.url);
  const files = (readdirSync(root, { recursive: true }) as string[]).filter((path) => /\.tsx?$/.test(path));
  const sources = files.map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
  const ofFields = FIELDS.flatMap(({ field: { place } }) => (place.in === 'meta' || place.in === 'links' ? [place.key] : []));
  const keys = [...new Set([...ofFields, ...Object.values(DATES), ...Object.values(COST), ...Object.values(COORDINATES)])];
  const options = [INDEX_OPTION, LAST_SAVE_OPTION, VERSION_KEY_OPTION, SUGGEST_SLUG_OPTION, OCCURRENCE_BASE_OPTION];
  const taxonomies = [...LANGUAGE_TAXONOMIES.filter((name) => name !== 'language'), ...GROUP_TAXONOMIES];

  it.each([...keys, ...options, ...taxonomies])('%s is spelled out in exactly one source file', (key) => {
    const places = sources.filter(({ text }) => text.includes(`'${key}'`)).map(({ path }) => path);
    expect(places).toHaveLength(1);
  });
});
