import { documentOf } from './document.tsx';
import type { I18n } from './i18n.ts';

/**
 * Returns a page about an error of the server that needs neither the database nor the look of the site. `request`: the
 * id by which an administrator finds the request in the log.
 */
export const plainProblemPage = (i18n: I18n, sentence: string, request: string): string =>
  documentOf({
    i18n,
    title: i18n.say('pages:failed'),
    styles: [],
    name: 'problem',
    children: (
      <main id="content">
        <h1>{i18n.say('pages:failed')}</h1>
        <p>{sentence}</p>
        <p>{i18n.say('pages:request', { id: request })}</p>
      </main>
    ),
  });
