import type { Caller } from '../records/caller.ts';
import { restUrl } from '../wordpress/links.ts';
import { type ApiDocument, ApiReference } from './api-reference.tsx';
import { i18nFor } from './i18n-for.ts';
import { type Page, type PageContext, toPage } from './pages.tsx';

/** Returns the page of the API reference. `document`: the OpenAPI document, in the caller's language. */
export function referencePage(context: PageContext, caller: Caller, document: ApiDocument): Page {
  const i18n = i18nFor(context.site, caller);
  return toPage(context, caller, {
    body: ApiReference({ i18n, document, json: restUrl(caller, `${caller.namespace}/doc`) }),
    name: 'reference',
    title: i18n.say('pages:reference.title'),
    description: document.info.description,
    address: `${caller.home}/doc`,
    styles: ['reference.css'],
    scripts: ['api-try.js'],
    records: [],
    subject: {},
    timeliness: 'never',
  });
}
