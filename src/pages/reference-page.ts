import type { Caller } from '../records/caller.ts';
import { restUrl } from '../wordpress/links.ts';
import { type ApiDocument, ApiReference } from './api-reference.tsx';
import { type Page, type PageContext, pageOf, speechFor } from './pages.tsx';

/** The reference of the API for people. `document`: its OpenAPI document, in the caller's language. */
export function referencePage(context: PageContext, caller: Caller, document: ApiDocument): Page {
  const speech = speechFor(context.site, caller);
  return pageOf(context, caller, {
    body: ApiReference({ speech, document, json: restUrl(caller, `${caller.namespace}/doc`) }),
    name: 'reference',
    title: speech.say('pages:reference.title'),
    description: document.info.description,
    address: `${caller.home}/doc`,
    styles: ['reference.css'],
    scripts: ['api-try.js'],
    records: [],
    subject: {},
    timeliness: 'never',
  });
}
