import { AccountError } from '../accounts/account-error.ts';
import { listApplicationPasswords, revokeApplicationPassword } from '../accounts/application-passwords.ts';
import { beginSession, isRemembered } from '../accounts/logins.ts';
import { cleanPasswordName, createPassword } from '../accounts/own-passwords.ts';
import { changePassword } from '../accounts/password-links.ts';
import { setLocale } from '../accounts/users.ts';
import { ApiError } from '../errors.ts';
import { errorSentence } from '../forms/error-sentences.ts';
import { textIn } from '../forms/form-values.ts';
import { Input, Select } from '../html/form-fields.tsx';
import { groupedPassword } from '../wordpress/passwords.ts';
import { accountErrors } from './account-sentences.ts';
import { ApplicationPasswords } from './application-passwords.tsx';
import { languageName } from './choice-words.ts';
import { deskPage, Nonce } from './layout.tsx';
import { type FieldErrors, NewPassword } from './new-password.tsx';
import { setCookie } from './sign-in.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * The user's own account: password, language of the desk, application passwords.
 */

interface OwnAccountForm {
  /** Messages about invalid fields, by field name. */
  readonly errors?: FieldErrors;
  /** The name that was entered for a new application password. */
  readonly name?: string;
  /** A new application password, which is only shown once. */
  readonly newPassword?: string;
}

/** Returns the page of the user's own account: password, language, application passwords. */
export async function ownAccountPage(visit: Visit, { errors, name, newPassword }: OwnAccountForm = {}): Promise<Outcome> {
  const [wrong] = errors?.values() ?? [];
  const { i18n, site, caller } = visit;
  const { say } = i18n;
  const passwords = await listApplicationPasswords(site, caller.viewer.id);
  const html = deskPage(visit, {
    title: say('desk:me.title'),
    section: 'me',
    notice: wrong === undefined ? undefined : { tone: 'wrong', text: wrong },
    children: (
      <>
        <form method="post" action={deskUrl(visit, '/me/language')} class="narrow">
          <Nonce nonce={visit.nonce} />
          <Select
            name="language"
            label={say('desk:me.language')}
            value={i18n.language}
            options={site.texts.languages.map((language) => ({ value: language, text: languageName(i18n, language) }))}
          />
          <button type="submit">{say('desk:form.save')}</button>
        </form>
        <h2>{say('desk:me.password')}</h2>
        <form method="post" action={deskUrl(visit, '/me/password')} class="narrow">
          <Nonce nonce={visit.nonce} />
          <Input
            name="before"
            type="password"
            label={say('desk:me.before')}
            error={errors?.get('before')}
            autocomplete="current-password"
            required
          />
          <NewPassword i18n={i18n} errors={errors} />
          <button type="submit">{say('desk:me.change')}</button>
        </form>
        {newPassword !== undefined && (
          <p class="notice notice-good">
            {say('desk:me.made')} <code class="shown-once">{newPassword}</code>
          </p>
        )}
        <ApplicationPasswords visit={visit} passwords={passwords} path="/me/passwords" />
        <form method="post" action={deskUrl(visit, '/me/passwords')} class="narrow">
          <Nonce nonce={visit.nonce} />
          <Input name="name" label={say('desk:me.password-for')} value={name} error={errors?.get('name')} required autocomplete="off" />
          <button type="submit">{say('desk:me.make')}</button>
        </form>
      </>
    ),
  });
  return { html, ...(errors ? { status: 422 } : {}) };
}

/**
 * Runs a change of the user's own account. An error is shown on the page. `field`: the field that an error of the API
 * refers to.
 */
async function changeOwnAccount(visit: Submission, field: string, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const name = textIn(visit.fields, 'name');
    if (error instanceof AccountError) return ownAccountPage(visit, { name, errors: accountErrors(visit, error) });
    if (error instanceof ApiError && error.status < 500)
      return ownAccountPage(visit, { name, errors: new Map([[field, ownSentence(visit, error)]]) });
    throw error;
  }
}

/** Returns the sentence about an error. Signed-in users are not asked for their name, only for their password. */
const ownSentence = (visit: Visit, error: ApiError): string =>
  error.problem === 'incorrect_password' ? visit.i18n.say('desk:me.before-wrong') : errorSentence(visit, error);

/** Changes the user's own password. All other sessions end; the present one continues. */
export const changeOwnPassword = (visit: Submission): Promise<Outcome> =>
  changeOwnAccount(visit, 'before', async () => {
    const { site, settings, fields, caller, request, i18n, login } = visit;
    const password = textIn(fields, 'password');
    if (password !== textIn(fields, 'again'))
      return ownAccountPage(visit, { errors: new Map([['again', i18n.say('desk:welcome.differ')]]) });
    const user = await changePassword(site, caller.viewer.id, {
      currentPassword: textIn(fields, 'before'),
      password,
      address: request.address,
    });
    const remember = login !== undefined && isRemembered(login);
    const { cookie } = await beginSession(site, settings, user, { remember, address: request.address, agent: request.agent });
    return { to: deskUrl(visit, '/me', { done: 'password' }), cookies: setCookie(visit, cookie) };
  });

/** Creates an application password of the user, and shows it once. */
export const createOwnPassword = (visit: Submission): Promise<Outcome> =>
  changeOwnAccount(visit, 'name', async () => {
    const { password } = await createPassword(visit.site, visit.caller.viewer.id, {
      name: cleanPasswordName(textIn(visit.fields, 'name')),
    });
    return ownAccountPage(visit, { newPassword: groupedPassword(password) });
  });

/** Revokes an application password of the user. */
export const revokeOwnPassword = (visit: Submission, uuid: string): Promise<Outcome> =>
  changeOwnAccount(visit, '', async () => {
    await revokeApplicationPassword(visit.site, visit.caller.viewer.id, uuid);
    return { to: deskUrl(visit, '/me', { done: 'revoked' }) };
  });

/** Sets the language of the desk, stored in the meta of WordPress's admin language. */
export async function chooseLanguage(visit: Submission): Promise<Outcome> {
  const { site, caller, fields } = visit;
  const language = site.texts.languages.find((one) => one === textIn(fields, 'language'));
  if (language !== undefined) await setLocale(site, caller.viewer.id, language);
  return { to: deskUrl(visit, '/me', { done: 'saved' }) };
}
