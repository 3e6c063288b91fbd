import { flattenFields } from '../forms/form-values.ts';
import type { Values } from '../kinds/param.ts';
import { authorizeAgain } from './authorize.tsx';
import { KeptInput } from './kept-input.tsx';
import { labelledInput } from './labelled-input.ts';
import { deskPage, Nonce } from './layout.tsx';
import { deskUrl, type PageOutcome, type Visit } from './visit.ts';

/**
 * The fields of a form, without its secrets, that was sent after its sender had been signed out. The sign-in page keeps
 * them.
 */
export interface KeptForm {
  /** The path of the form, below that of the desk. */
  readonly path: string;
  readonly fields: Values;
}

/** Own pages of forms whose answer leads outside this site, which the page for the others does not allow, by path. */
const OWN_PAGES: ReadonlyMap<string, (visit: Visit, fields: Values, errorMessage?: string) => PageOutcome> = new Map([
  ['/authorize', authorizeAgain],
]);

/**
 * Returns the page with the input that the user sent before signing in again, or in a form that has expired. It is only
 * sent when the user presses the button, since it might come from another site. `errorMessage`: if there was an error.
 */
export function resumePage(visit: Visit, { path, fields }: KeptForm, errorMessage?: string): PageOutcome {
  const ownPage = OWN_PAGES.get(path);
  if (ownPage) return ownPage(visit, fields, errorMessage);
  const { say } = visit.i18n;
  const html = deskPage(visit, {
    title: say('desk:resume.title'),
    notice: errorMessage === undefined ? undefined : { tone: 'wrong', text: errorMessage },
    children: (
      <>
        <p>{say('desk:resume.about')}</p>
        {'image' in fields && <p>{say('desk:resume.picture')}</p>}
        <KeptInput input={labelledInput(visit, path, fields)} />
        <form method="post" action={deskUrl(visit, path)} class="button-form">
          {flattenFields(fields).map(([name, value]) =>
            name === '_wpnonce' ? null : <input key={name} type="hidden" name={name} value={value} />,
          )}
          <Nonce nonce={visit.nonce} />
          <button type="submit" class="button-main">
            {say('desk:resume.button')}
          </button>
        </form>
      </>
    ),
  });
  return { html };
}
