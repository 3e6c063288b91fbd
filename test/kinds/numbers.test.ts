import { describe, expect, it } from '@jest/globals';
import type { SiteSettings } from '../../src/calendar/settings.ts';
import { companionNamespaces } from '../../src/http/companion/namespaces.ts';
import { createRoutes } from '../../src/http/routes.ts';
import { kindOnSite } from '../../src/kinds/custom-fields.ts';
import { postKind } from '../../src/kinds/index.ts';
import type { Params } from '../../src/kinds/param.ts';

/* A number that overflows to Infinity would be stored as a word and shown as null. */

const NUMBER = { meta: '_ecp_custom_2', name: 'seats', label: 'Seats', type: 'number', choices: [] } as const;
const event = kindOnSite(postKind('event'), { calendar: { customFields: [NUMBER] } } as unknown as SiteSettings);

/** Parameters of all endpoints, and those that a site defines. */
const DECLARED: readonly (readonly [string, Params])[] = [
  ...[['calendar/events/v1', createRoutes(['en', 'it'])] as const, ...companionNamespaces()].flatMap(([namespace, routes]) =>
    routes.flatMap(({ pattern, endpoints }) =>
      endpoints.map(({ methods, params, unlistedParams: unlisted }): [string, Params] => [
        `${methods[0]} ${namespace}${pattern}`,
        { ...params, ...unlisted },
      ]),
    ),
  ),
  ['fields of a site', event.fields],
  ['filters of a site', event.filters],
];

const TOO_LARGE = ['1e999', '-1e999', '9'.repeat(400)];
/**
 * Forms of a value: the value itself, a list member, the value of a custom field, and part of a comma-separated list.
 */
const sentForms = (value: unknown): unknown[] => [value, [value], { seats: value }, `1,${value}`];

const isSound = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return !/^-?Infinity$/.test(value);
  if (value instanceof Map) return [...value.values()].every(isSound);
  return value === null || typeof value !== 'object' || Object.values(value).every(isSound);
};

describe('number that overflows', () => {
  it.each(DECLARED)('is not accepted by %s', (_, params) => {
    const taken = Object.entries(params).flatMap(([name, { grammar }]) =>
      TOO_LARGE.flatMap(sentForms).flatMap((sent) => {
        const read = grammar.read(sent, () => true, {});
        return 'value' in read && !isSound(read.value) ? [`${name} ${JSON.stringify(sent)}`] : [];
      }),
    );
    expect(taken).toEqual([]);
  });
});
