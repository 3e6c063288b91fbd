import { AccountError } from '../accounts/account-error.ts';
import { cleanPasswordName, createPassword } from '../accounts/own-passwords.ts';
import { ApiError } from '../errors.ts';
import { errorSentence } from '../forms/error-sentences.ts';
import { textIn } from '../forms/form-values.ts';
import { Input } from '../html/form-fields.tsx';
import { siteNameOf } from '../html/site-name.ts';
import { isAppId } from '../kinds/core/password.ts';
import type { Values } from '../kinds/param.ts';
import { applicationAddress } from '../wordpress/application-address.ts';
import { groupedPassword } from '../wordpress/passwords.ts';
import { accountSentence } from './account-sentences.ts';
import { deskPage, Nonce, type Notice } from './layout.tsx';
import { deskUrl, type Outcome, type PageOutcome, type Submission, type Visit } from './visit.ts';

/*
 * An application requests an application password by sending its user to this page
 * (`wp-admin/authorize-application.php`). A user who approves is redirected to the application with a new password.
 */

/** An application that requests access. */
interface Application {
  readonly name: string;
  /** A UUID, or empty. */
  readonly appId: string;
  /** URLs to which users are redirected after approval and after rejection. */
  readonly successUrl: URL | undefined;
  readonly rejectUrl: URL | undefined;
}

/** Returns the application named in a request; undefined if one of the URLs or the id is invalid. */
function parseApplication(values: Values): Application | undefined {
  const text = (name: string) => textIn(values, name).trim();
  const [givenSuccess, givenReject] = [text('success_url'), text('reject_url')];
  const application = {
    name: cleanPasswordName(text('app_name')),
    appId: text('app_id'),
    successUrl: applicationAddress(givenSuccess),
    rejectUrl: applicationAddress(givenReject),
  };
  const isUsable =
    (givenSuccess === '' || application.successUrl !== undefined) &&
    (givenReject === '' || application.rejectUrl !== undefined) &&
    isAppId(application.appId);
  return isUsable ? application : undefined;
}

/** Returns the page on which the user decides whether an application may use the account. */
export const authorizePage = async (visit: Visit): Promise<Outcome> => decisionPage(visit, parseApplication(visit.request.query));

/** Creates the password for the application, or does not if the user rejects, and redirects to the application. */
export async function authorizeByForm(visit: Submission): Promise<Outcome> {
  const application = parseApplication(visit.fields);
  if (!application) return decisionPage(visit, undefined);
  const { successUrl, rejectUrl } = application;
  if (textIn(visit.fields, 'decision') !== 'approve')
    return { to: rejectUrl?.href ?? (successUrl && withQuery(successUrl, { success: 'false' })) ?? deskUrl(visit, '/me') };
  const { site, settings, caller, login } = visit;
  try {
    const { password } = await createPassword(site, caller.viewer.id, { name: application.name, app_id: application.appId });
    if (!successUrl) return newPasswordPage(visit, password);
    return { to: withQuery(successUrl, { site_url: settings.siteUrl, user_login: login?.user.row.user_login ?? '', password }) };
  } catch (error) {
    if (error instanceof AccountError) return decisionPage(visit, application, accountSentence(visit, error));
    if (error instanceof ApiError && error.status < 500) return decisionPage(visit, application, errorSentence(visit, error));
    throw error;
  }
}

/** Returns the same page for a decision that could not be carried out, with what the user had entered. */
export const authorizeAgain = (visit: Visit, fields: Values, errorMessage?: string): PageOutcome =>
  decisionPage(visit, parseApplication(fields), errorMessage);

function decisionPage(visit: Visit, application: Application | undefined, errorMessage?: string): PageOutcome {
  const { say } = visit.i18n;
  if (!application) {
    const notice: Notice = { tone: 'wrong', text: say('desk:authorize.unusable') };
    return { html: deskPage(visit, { title: say('desk:authorize.title'), section: 'me', notice, children: null }), status: 400 };
  }
  const { name, appId, successUrl, rejectUrl } = application;
  const { user_login: login = '' } = visit.login?.user.row ?? {};
  const html = deskPage(visit, {
    title: say('desk:authorize.title'),
    section: 'me',
    notice: errorMessage === undefined ? undefined : { tone: 'wrong', text: errorMessage },
    children: (
      <form method="post" action={deskUrl(visit, '/authorize')} class="narrow">
        <Nonce nonce={visit.nonce} />
        <p>{say('desk:authorize.about', { site: siteNameOf(visit.settings, visit.i18n), login })}</p>
        <p>
          {successUrl ? say('desk:authorize.leads-to', { place: destinationName(successUrl) }) : say('desk:authorize.shown')}{' '}
          {say('desk:authorize.revoke')}
        </p>
        <Input name="app_name" label={say('desk:authorize.name')} value={name} required autocomplete="off" />
        <input type="hidden" name="app_id" value={appId} />
        <input type="hidden" name="success_url" value={successUrl?.href ?? ''} />
        <input type="hidden" name="reject_url" value={rejectUrl?.href ?? ''} />
        <button type="submit" name="decision" value="approve" class="button-main">
          {say('desk:authorize.approve')}
        </button>{' '}
        <button type="submit" name="decision" value="reject" formNoValidate>
          {say('desk:authorize.reject')}
        </button>
      </form>
    ),
  });
  const leadsTo = [successUrl, rejectUrl].filter((url) => url !== undefined);
  return { html, leadsTo, ...(errorMessage === undefined ? {} : { status: 422 }) };
}

/**
 * Returns the page with the new password, which is only shown once, for an application without a URL to redirect to.
 */
function newPasswordPage(visit: Visit, password: string): Outcome {
  const { say } = visit.i18n;
  const html = deskPage(visit, {
    title: say('desk:authorize.title'),
    section: 'me',
    children: (
      <p class="notice notice-good">
        {say('desk:me.made')} <code class="shown-once">{groupedPassword(password)}</code>
      </p>
    ),
  });
  return { html };
}

/** Returns a readable name of a URL: its host, or the scheme of an app. */
const destinationName = ({ protocol, host }: URL): string => (/^https?:$/.test(protocol) ? host : `${protocol}//${host}`);

/** Returns the URL with these parameters in addition to its own. */
function withQuery(address: URL, query: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
