import { isRecord } from '../../objects.ts';
import type { RemoteSite } from './site-client.ts';

/** Facts about a site that its records do not show, because they leave out empty members. */
export interface SiteFacts {
  /** Parameters of each list and of its records, by the name of the list. */
  readonly params: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names and labels of the custom fields that events may have. */
  readonly customFields: ReadonlyMap<string, string>;
}

/**
 * Reads the facts from the site's description of its routes. The reference describes neither additional texts nor
 * custom fields, so that their absence from its records means nothing.
 */
export async function siteFacts(site: RemoteSite): Promise<SiteFacts> {
  const { body } = await site.get('');
  const routes = isRecord(body) && isRecord(body.routes) ? body.routes : {};
  const argsOf = (stage: string): [string, unknown][] => {
    const route = routes[`/${site.namespace}/${stage}`];
    const endpoints = isRecord(route) && Array.isArray(route.endpoints) ? route.endpoints.filter(isRecord) : [];
    return endpoints.flatMap(({ args }) => (isRecord(args) ? Object.entries(args) : []));
  };
  const params = ['events', 'venues', 'organizers'].map((stage) => [stage, new Set(argsOf(stage).map(([name]) => name))] as const);
  const fields = argsOf('events').flatMap(([name, arg]) =>
    name === 'custom_fields' && isRecord(arg) && isRecord(arg.properties) ? Object.entries(arg.properties) : [],
  );
  return {
    params: new Map(params),
    customFields: new Map(fields.map(([name, schema]) => [name, isRecord(schema) && schema.title ? String(schema.title) : ''])),
  };
}
