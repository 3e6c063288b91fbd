import { flattenFields, textIn } from '../forms/form-values.ts';
import { Link } from '../html/links.tsx';
import type { Values } from '../kinds/param.ts';
import { CONFIRMED_FIELD, deskPage, isConfirmed, Nonce, QUESTION_FIELD } from './layout.tsx';
import { formPagePath } from './routes.ts';
import { deskUrl, type Submission } from './visit.ts';

/*
 * The question before an action that cannot be undone easily, for browsers without the script, which asks it first.
 */

/** Fields that the page has itself, or that do not belong to the action. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['_wpnonce', QUESTION_FIELD, CONFIRMED_FIELD]);

/** Returns the question that a form asks and the user has not answered yet; undefined if there is none. */
export const openQuestion = (fields: Values): string | undefined =>
  isConfirmed(fields) ? undefined : textIn(fields, QUESTION_FIELD) || undefined;

/** Returns the page with a question, and a button that sends the same form again. */
export function confirmationPage(visit: Submission, question: string): string {
  const { say } = visit.i18n;
  const { fields, request } = visit;
  const sentFields = flattenFields(fields).filter(([name]) => !OWN_FIELDS.has(name));
  return deskPage(visit, {
    title: say('desk:confirmation.title'),
    children: (
      <>
        <p>{question}</p>
        <form method="post" action={deskUrl(visit, request.path)} class="button-form">
          {sentFields.map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <input type="hidden" name={CONFIRMED_FIELD} value="1" />
          <Nonce nonce={visit.nonce} />
          <button type="submit" class="button-danger">
            {say('desk:confirmation.button')}
          </button>
        </form>
        <p>
          <Link href={urlOfPage(visit)}>{say('desk:form.cancel')}</Link>
        </p>
      </>
    ),
  });
}

/** Returns the URL of the page with the form: the same page of the list, or that of the record. */
function urlOfPage(visit: Submission): string {
  const { request, fields } = visit;
  const [, section = ''] = request.path.split('/');
  const query = textIn(fields, 'back');
  return 'back' in fields
    ? deskUrl(visit, `/${section}`) + (query.startsWith('?') ? query : '')
    : deskUrl(visit, formPagePath(request.path));
}
