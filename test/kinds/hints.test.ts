import { describe, expect, it } from '@jest/globals';
import { companionNamespaces } from '../../src/http/companion/namespaces.ts';
import type { ServedEndpoint } from '../../src/http/endpoint.ts';
import { kindOnSite } from '../../src/kinds/custom-fields.ts';
import { feedFilters } from '../../src/kinds/feed-list.ts';
import { lengthFault } from '../../src/kinds/grammars/grammar.ts';
import { kinds, postKind } from '../../src/kinds/index.ts';
import type { Params } from '../../src/kinds/param.ts';
import { loadTexts } from '../../src/texts.ts';
import { LANGUAGES, routes } from '../http/describing.ts';

/* Tests of every declared parameter of every route. Parameters that are added are tested automatically. */

const texts = await loadTexts(LANGUAGES);

const FIELDS = (['text', 'textarea', 'number', 'url', 'choice', 'checkbox'] as const).map((type, place) => ({
  meta: `_ecp_custom_${place + 1}`,
  name: type,
  label: type,
  type,
  choices: type === 'choice' || type === 'checkbox' ? ['One', 'Two'] : [],
}));

const endpoints: readonly ServedEndpoint[] = [...routes, ...[...companionNamespaces().values()].flat()].flatMap((route) => route.endpoints);
const SETS: readonly Params[] = [
  ...endpoints.flatMap(({ params, unlistedParams: unlisted = {} }) => [params, unlisted]),
  ...kinds.flatMap(({ fields, filters }) => [fields, filters]),
  feedFilters,
  ...FIELDS.map((field) => kindOnSite(postKind('event'), { calendar: { customFields: [field] } } as never).fields),
];
const params = SETS.flatMap((set) => Object.entries(set));
const grammars = [...new Set(params.map(([, { grammar }]) => grammar))];

describe('hints of all grammars', () => {
  it('are found', () => expect(grammars.length).toBeGreaterThan(100));

  it('have an example that the grammar accepts', () => {
    const refused = params.flatMap(([name, { grammar }]) =>
      [true, false].flatMap((may) => {
        const { example } = grammar.hint;
        const reading = grammar.read(example, () => may);
        const sound = reading.fault === undefined && reading.schemaFault === undefined && lengthFault(grammar, example) === undefined;
        return sound ? [] : [[name, example]];
      }),
    );
    expect(refused).toEqual([]);
  });

  it('have an example that is not empty', () =>
    expect(params.filter(([, { grammar }]) => [undefined, null, ''].includes(grammar.hint.example as never))).toEqual([]));

  it.each(LANGUAGES)('have a sentence in %s that contains the sent value', (language) => {
    const told = grammars.map(({ hint: { reason, values } }) =>
      texts.has(language, `reasons:${reason}`) ? texts.t(language, `reasons:${reason}`, { sent: '"X1"', ...values }) : reason,
    );
    expect(told.filter((sentence) => !sentence.includes('"X1"') || sentence.includes('{{'))).toEqual([]);
  });

  it.each(LANGUAGES)('have sentences in %s about records that cannot be found', (language) => {
    const named = new Set(grammars.flatMap(({ hint: { unknownReason: unknown } }) => unknown ?? []));
    expect(named.size).toBeGreaterThan(0);
    expect([...named].filter((reason) => !texts.has(language, `reasons:${reason}`))).toEqual([]);
  });
});
