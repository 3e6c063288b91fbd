import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { errorsPage } from '../src/cli/docs.ts';
import { problems } from '../src/errors.ts';
import { batchRoute } from '../src/http/batch.ts';
import { companionNamespaces } from '../src/http/companion/namespaces.ts';
import { tecDocument } from '../src/http/companion/tec-document.ts';
import { describeSite } from '../src/http/describe.ts';
import { openApiDocument } from '../src/http/openapi.ts';
import { createIndex, inLanguages } from '../src/http/routes.ts';
import { createRouter } from '../src/http/routing.ts';
import type { Say } from '../src/kinds/core/labels.ts';
import { coreTaxonomies, coreTypes } from '../src/kinds/core/types.ts';
import { status } from '../src/kinds/grammars/grammars.ts';
import { kinds } from '../src/kinds/index.ts';
import { loadTexts, TEXT_FILES, type Texts } from '../src/texts.ts';
import { callerOf, config, fullCallerOf, LANGUAGES, routes } from './http/describing.ts';

const root = new URL('..', import.meta.url);
const texts = await loadTexts(LANGUAGES);
const companions = companionNamespaces();
const roots = [
  inLanguages(
    batchRoute(() => createRouter([], new Map(), [])),
    LANGUAGES,
  ),
];

const fileOf = (language: string, file: string) => readFileSync(new URL(`locales/${language}/${file}.json`, root), 'utf8');

/** Sentences by their key, such as `fields:venue.city`. */
function sentences(language: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, key: string) => {
    if (typeof value === 'string') found.set(key, value);
    else for (const [name, member] of Object.entries(value as object)) walk(member, key.endsWith(':') ? `${key}${name}` : `${key}.${name}`);
  };
  for (const file of TEXT_FILES) walk(JSON.parse(fileOf(language, file)), `${file}:`);
  return found;
}

const keysOf = (file: string) => [...sentences('en').keys()].filter((key) => key.startsWith(`${file}:`));
const variables = (sentence: string) => [...sentence.matchAll(/\{\{[^}]*\}\}/g)].map(([variable]) => variable).sort();
/** Source files without `exchange/`, whose reasons for losses have sentences that are checked there. */
const sources = (readdirSync(new URL('src', root), { recursive: true }) as string[])
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('exchange/'))
  .map((path) => readFileSync(new URL(`src/${path}`, root), 'utf8'))
  .join('\n');

/** Words that are the same in several languages. */
const SHARED_WORDS: ReadonlySet<string> = new Set(['Tag', 'Password', 'Server', 'Database', 'No']);

describe.each(LANGUAGES)('the texts in %s', (language) => {
  const own = sentences(language);
  it('have the same keys as in English', () => expect([...own.keys()]).toEqual([...sentences('en').keys()]));
  it.each(TEXT_FILES)('have each key once in %s.json', (file) => {
    const [stored, read] = [fileOf(language, file), JSON.stringify(JSON.parse(fileOf(language, file)))];
    expect(stored.replaceAll(/\s/g, '')).toHaveLength(read.replaceAll(/\s/g, '').length);
  });
  it('have the same variables', () => {
    for (const [key, sentence] of sentences('en')) expect([key, variables(own.get(key) ?? '')]).toEqual([key, variables(sentence)]);
  });
  it('have a form for every number', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const counted = [...own.keys()].flatMap((key) => (key.endsWith('_other') ? [key.slice(0, -'other'.length)] : []));
    expect(counted.length).toBeGreaterThan(30);
    const forms = counted.flatMap((key) => pluralCategories.map((category) => key + category));
    expect(forms.filter((key) => !texts.has(language, key))).toEqual([]);
  });
  it('have one kind of apostrophe', () => expect([...own].filter(([, sentence]) => sentence.includes('’'))).toEqual([]));
  it('are not empty', () => expect([...own].filter(([, sentence]) => sentence.trim() === '')).toEqual([]));
  it('are not those of another language', () => {
    const others = LANGUAGES.filter((other) => other !== language).map(sentences);
    const same = [...own].filter(([key, sentence]) => !SHARED_WORDS.has(sentence) && others.some((other) => other.get(key) === sentence));
    expect(same).toEqual([]);
  });
});

/** Italian words that WordPress does not use for these things. A label of a form field is an exception. */
const NOT_IN_ITALIAN = /\be-mail|posta elettronica|parola d.accesso|parola chiave|\betichett(?!a deve)/i;

describe('the texts in Italian', () => {
  const own = sentences('it');
  it('use the words of WordPress everywhere', () => expect([...own].filter(([, sentence]) => NOT_IN_ITALIAN.test(sentence))).toEqual([]));
  it('do not say "simile" (similar) for "such"', () => expect([...own].filter(([, sentence]) => /\bsimile\b/.test(sentence))).toEqual([]));
  it('are the same on the pages and at the desk if they are the same in English', () => {
    const said = new Map<string, Set<string>>();
    for (const [key, sentence] of sentences('en')) {
      // Only labels and buttons: the messages about completed actions agree in gender with their object, and tabs with
      // their contents.
      if (!/^(pages|desk|statuses):/.test(key) || /^desk:(done|rule|me|import|tabs)\./.test(key)) continue;
      const label = sentence.replace(/\.$/, '');
      said.set(label, (said.get(label) ?? new Set()).add((own.get(key) ?? '').replace(/\.$/, '')));
    }
    expect([...said].filter(([, words]) => words.size > 1)).toEqual([]);
  });
});

describe.each(LANGUAGES)('the reports of imports at the desk in %s', (language) => {
  const own = sentences(language);
  /**
   * About other databases, which cannot be imported at the desk, about columns, which it lists, and about deleted
   * events, which it creates again.
   */
  const ELSEWHERE = ['no-wordpress', 'columns', 'deleted-here'];
  it.each([
    ['losses', 40],
    ['faults', 40],
    ['hints', 2],
  ])('name neither options nor commands, nor several files at once (%s)', (group, leastNames) => {
    const names = [...own.keys()].flatMap((key) => (key.startsWith(`exchange:${group}.`) ? [key.slice(`exchange:${group}.`.length)] : []));
    expect(names.length).toBeGreaterThan(leastNames);
    const shown = names
      .filter((name) => !ELSEWHERE.includes(name))
      .map((name) => own.get(`desk:import.${group}.${name}`) ?? own.get(`exchange:${group}.${name}`)!);
    expect(shown.filter((sentence) => /--\w|`|together with this one|insieme a questo/.test(sentence))).toEqual([]);
  });
});

describe('the texts contain exactly the necessary sentences', () => {
  it('for every problem', () =>
    expect(keysOf('problems').sort()).toEqual(
      Object.keys(problems)
        .map((name) => `problems:${name}`)
        .sort(),
    ));
  it('for every status', () =>
    expect(keysOf('statuses').sort()).toEqual((status.json.enum as string[]).map((name) => `statuses:${name}`).sort()));
  it('for every reason', () => {
    const named = [...sources.matchAll(/\breason: '([\w-]+)'/g)].map(([, name]) => `reasons:${name}`);
    expect(keysOf('reasons')).toEqual(expect.arrayContaining(named));
    const general = ['invalid', 'type', 'enum', 'sent-secret', 'received', 'example'].map((name) => `reasons:${name}`);
    const unused = keysOf('reasons').filter((key) => !general.includes(key) && !sources.includes(`'${key.replace('reasons:', '')}'`));
    expect(unused).toEqual([]);
  });
  it('for every route, parameter and field', () => {
    const { missing, used } = askedFor();
    expect(missing).toEqual([]);
    const described = ['routes', 'params', 'fields', 'site'].flatMap(keysOf);
    expect(described.filter((key) => !used.has(key) && key !== 'site:free' && key !== 'routes:site' && !isSpoken(key))).toEqual([]);
  });
  it('for the index of the site', () =>
    expect(texts.has('en', `routes:${createIndex(routes, LANGUAGES).endpoints[0]!.summary}`)).toBe(true));
});

/** Orders that no sentence mentions: other names in WordPress, and orders of terms that are rarely useful. */
const UNSAID_ORDERS: Readonly<Record<string, readonly string[]>> = {
  event: ['event_date', 'post__in'],
  venue: ['name'],
  organizer: ['name'],
  category: ['include_slugs', 'parent', 'term_id'],
  tag: ['include_slugs', 'parent', 'term_id'],
};

describe.each(LANGUAGES)('the description of the order of lists in %s', (language) => {
  it.each(kinds.map((kind) => [kind.name, kind] as const))('names all orders of %s', (_, { name, filters }) => {
    const declared: Readonly<Record<string, { readonly grammar: { readonly json: { readonly enum?: readonly unknown[] } } }>> = filters;
    for (const param of ['orderby', 'order']) {
      const sentence = texts.t(language, [`params:${name}.${param}`, `params:common.${param}`]);
      const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
      if (param === 'orderby') named.push(...(UNSAID_ORDERS[name] ?? []));
      expect([param, named.sort()]).toEqual([param, [...(declared[param]?.grammar.json.enum ?? [])].sort()]);
    }
  });
});

/** Words within records, which are looked up where records are made. */
const isSpoken = (key: string) => key.startsWith('site:words.');

/** The sentences used by the descriptions of all interfaces, and the missing ones. */
function askedFor(): { missing: string[]; used: Set<string> } {
  const missing: string[] = [];
  const used = new Set<string>();
  const t: Texts['t'] = (language, key, values) => {
    const keys = typeof key === 'string' ? [key] : key;
    const found = keys.find((name) => texts.has(language, name));
    if (found === undefined) missing.push(`${language} ${keys.join(' ')}`);
    else used.add(found);
    return texts.t(language, key, values);
  };
  for (const language of LANGUAGES) {
    const site = { config, texts: { ...texts, t } };
    describeSite(site, callerOf({ language }), routes, { otherRoutes: companions, roots });
    for (const endpoint of [...companions.values()].flat().flatMap((route) => route.endpoints)) t(language, `routes:${endpoint.summary}`);
    openApiDocument(site, fullCallerOf({ language }), routes, roots);
    tecDocument(site, callerOf({ language }), companions.get('tec/v1') ?? []);
    const say: Say = (key, words) => t(language, `site:${key}`, words);
    coreTypes(callerOf({ language }), 'edit', say);
    coreTaxonomies(callerOf({ language }), 'edit', say);
  }
  return { missing, used };
}

describe('a sentence', () => {
  it.each([
    ['en', 'translation_language is not one of en and it.'],
    ['it', 'translation_language non è tra i valori en e it.'],
  ])('is given its values in %s', (language, sentence) =>
    expect(texts.t(language, 'reasons:enum', { param: 'translation_language', values: ['en', 'it'] })).toBe(sentence),
  );
  it.each([1_000_000, 1_000_001])('is in its language for %d records', (count) =>
    expect(texts.t('it', 'cli:done.generated', { count })).toMatch(/^Fatto/),
  );
  it.each([
    ['en', 'lists of venues have no filter --tags.'],
    ['it', 'gli elenchi di luoghi non hanno un filtro --tags.'],
  ])('names kinds of records in %s', (language, sentence) =>
    expect(texts.t(language, 'cli:problems.filter-unknown', { kind: 'venue', name: 'tags' })).toBe(sentence),
  );
  it('contains values unchanged, neither escaped nor looked up as sentences', () =>
    expect(texts.t('en', 'reasons:type', { param: '<b>$t(site:free)</b>', type: '{{param}}' })).toBe(
      '<b>$t(site:free)</b> is not of type {{param}}.',
    ));
  it('is in the default language if the requested one is unknown', () => expect(texts.t('xx', 'site:free')).toBe('Free'));
  it('is the first existing one of several keys', () => expect(texts.t('it', ['site:nothing', 'site:free'])).toBe('Gratis'));
});

describe('the language of an answer', () => {
  it.each([
    [{ parameter: 'it', segment: 'en', acceptLanguage: 'en' }, 'it'],
    [{ parameter: 'fr', segment: 'it' }, 'it'],
    [{ segment: 'it', acceptLanguage: 'en' }, 'it'],
    [{ acceptLanguage: 'it-CH,it;q=0.9,en;q=0.8' }, 'it'],
    [{ acceptLanguage: 'fr, en;q=0.2, it;q=0.5' }, 'it'],
    [{ acceptLanguage: 'it;q=0, fr' }, 'en'],
    [{ acceptLanguage: 'IT' }, 'it'],
    [{ acceptLanguage: '*' }, 'en'],
    [{ acceptLanguage: ';;q=,,' }, 'en'],
    [{}, 'en'],
  ])('of %j is %s', (wishes, language) => expect(texts.chooseLanguage(wishes)).toBe(language));
  it('is the first one of the site if the request does not prefer one', async () =>
    expect((await loadTexts(['it', 'en'])).chooseLanguage({})).toBe('it'));
});

it('loadTexts refuses a language without texts by its name', async () => expect(loadTexts(['en', 'tlh'])).rejects.toThrow('tlh'));

it('docs/errors.md has no variables', () => expect(errorsPage(texts)).not.toMatch(/\{\{/));

it('docs/errors.md is up to date', () => expect(readFileSync(new URL('docs/errors.md', root), 'utf8')).toBe(errorsPage(texts)));
