import type { Caller } from '../records/caller.ts';
import { restUrl } from '../wordpress/links.ts';
import { type ApiDocument, ApiReference } from './api-reference.tsx';
import { type Page, pageOf, speechFor, type Workshop } from './pages.tsx';

/** The reference of the API for people. `document`: its OpenAPI document, in the caller's language. */
export function referencePage(workshop: Workshop, caller: Caller, document: ApiDocument): Page {
  const speech = speechFor(workshop.site, caller);
  return pageOf(workshop, caller, {
    body: ApiReference({ speech, document, json: restUrl(caller, `${caller.namespace}/doc`) }),
    name: 'reference',
    title: speech.say('pages:reference.title'),
    description: document.info.description,
    address: `${caller.home}/doc`,
    styles: ['reference.css'],
    scripts: ['api-try.js'],
    records: [],
    about: {},
    timeliness: 'never',
  });
}
