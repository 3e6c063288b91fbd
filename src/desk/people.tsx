import type { JSX } from 'preact';
import { AccountError } from '../accounts/account-error.ts';
import {
  type ApplicationPassword,
  createApplicationPassword,
  listApplicationPasswords,
  revokeApplicationPassword,
} from '../accounts/application-passwords.ts';
import { beginSession } from '../accounts/logins.ts';
import { changePassword, LINK_SECONDS, linkQuery, makePasswordLink, type PasswordLink } from '../accounts/password-links.ts';
import { type Account, createUser, deleteUser, listUsers, setLocale, setRole } from '../accounts/users.ts';
import { ApiError, fail } from '../errors.ts';
import { idIn, textIn } from '../forms/form-values.ts';
import { sentenceOf } from '../forms/refused.ts';
import { Input, Select } from '../html/form-fields.tsx';
import { Link } from '../html/links.tsx';
import type { Values } from '../kinds/param.ts';
import { ButtonForm, deskPage, Nonce, type Notice } from './layout.tsx';
import { NewPassword } from './new-password.tsx';
import { accountSentence, setCookie } from './sign-in.tsx';
import { DESK_PATH, deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * People: who may do what, who is invited; and one's own password and application passwords.
 */

interface PeopleForm {
  readonly typed?: Values;
  readonly notice?: Notice;
  /** A link to be handed over, shown this once. */
  readonly link?: { readonly login: string; readonly address: string };
}

/** All people, and a form to invite somebody. */
export async function peoplePage(visit: Visit, { typed = {}, notice, link }: PeopleForm = {}): Promise<Outcome> {
  const { say } = visit.speech;
  const people = await listUsers(visit.site);
  const html = deskPage(visit, {
    title: say('desk:parts.people'),
    part: 'people',
    notice,
    children: (
      <>
        {link && <ShownLink visit={visit} link={link} />}
        <PeopleTable visit={visit} people={people} />
        {visit.caller.viewer.can('create_users') && <Invitation visit={visit} typed={typed} />}
      </>
    ),
  });
  return { html, ...(notice?.tone === 'wrong' ? { status: 422 } : {}) };
}

function PeopleTable({ visit, people }: { readonly visit: Visit; readonly people: readonly Account[] }): JSX.Element {
  const { say } = visit.speech;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">{say('desk:people.name')}</th>
          <th scope="col">{say('desk:fields.email')}</th>
          <th scope="col">{say('desk:people.role')}</th>
        </tr>
      </thead>
      <tbody>
        {people.map(({ id, login, displayName, email, roles }) => (
          <tr key={id}>
            <th scope="row">
              <Link href={deskUrl(visit, `/people/${id}`)}>{displayName || login}</Link> <span class="quiet">{login}</span>
            </th>
            <td data-label={say('desk:fields.email')}>{email}</td>
            <td data-label={say('desk:people.role')}>{roles.map((role) => roleName(visit, role)).join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The form to invite somebody. */
function Invitation({ visit, typed }: { readonly visit: Visit; readonly typed: Values }): JSX.Element {
  const { say } = visit.speech;
  return (
    <>
      <h2>{say('desk:people.invite')}</h2>
      <form method="post" action={deskUrl(visit, '/people')} class="narrow">
        <Nonce nonce={visit.nonce} />
        <Input name="login" label={say('desk:people.login')} value={textIn(typed, 'login')} required autocomplete="off" />
        <Input name="email" type="email" label={say('desk:fields.email')} value={textIn(typed, 'email')} required autocomplete="off" />
        <Input name="name" label={say('desk:people.name')} value={textIn(typed, 'name')} autocomplete="off" />
        <Select name="role" label={say('desk:people.role')} value={textIn(typed, 'role') || 'contributor'} options={roleOptions(visit)} />
        <button type="submit" class="button-main">
          {say('desk:people.invite-button')}
        </button>
      </form>
    </>
  );
}

function ShownLink({ visit, link }: { readonly visit: Visit; readonly link: NonNullable<PeopleForm['link']> }): JSX.Element {
  return (
    <p class="notice notice-good">
      {visit.speech.say('desk:people.link', { login: link.login })}
      <br />
      <code class="shown-once">{link.address}</code>
    </p>
  );
}

const roleName = ({ speech, settings }: Visit, role: string): string =>
  speech.has(`desk:roles.${role}`) ? speech.say(`desk:roles.${role}`) : (settings.roles.get(role)?.name ?? role);

const roleOptions = (visit: Visit) => [...visit.settings.roles.keys()].map((role) => ({ value: role, text: roleName(visit, role) }));

/** The whole address of a link by which somebody chooses a password. */
const addressOf = ({ settings }: Visit, link: PasswordLink): string => `${settings.home}${DESK_PATH}/welcome?${linkQuery(link)}`;

/** Makes an account for somebody, and shows the link by which they choose their password. */
export async function invite(visit: Submission): Promise<Outcome> {
  const { site, fields } = visit;
  try {
    const login = textIn(fields, 'login').trim();
    const role = textIn(fields, 'role');
    requireGrantable(visit, role);
    await createUser(site, { login, email: textIn(fields, 'email').trim(), role, displayName: textIn(fields, 'name').trim() || undefined });
    const link = await makePasswordLink(site, login, LINK_SECONDS.invitation);
    return peoplePage(visit, {
      notice: { tone: 'good', text: visit.speech.say('desk:done.invited') },
      link: { login, address: addressOf(visit, link) },
    });
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return peoplePage(visit, { typed: fields, notice: { tone: 'wrong', text: accountSentence(visit, error) } });
  }
}

/** Whoever invites without the right to give roles gives the one that new people have anyway. */
function requireGrantable({ caller: { viewer }, settings }: Visit, role: string): void {
  if (!viewer.can('promote_users') && role !== (settings.raw.get('default_role') ?? 'subscriber')) fail('rest_forbidden');
}

/** One person: role, link, passwords, and leaving. */
export async function personPage(visit: Visit, id: number, { notice, link }: PeopleForm = {}): Promise<Outcome> {
  const { say } = visit.speech;
  const { viewer } = visit.caller;
  const people = await listUsers(visit.site);
  const person = people.find((one) => one.id === id) ?? fail('rest_user_invalid_id');
  const passwords = viewer.can('edit_users') ? await listApplicationPasswords(visit.site, id) : [];
  const path = `/people/${id}`;
  const html = deskPage(visit, {
    title: person.displayName || person.login,
    part: 'people',
    notice,
    children: (
      <>
        {link && <ShownLink visit={visit} link={link} />}
        <p class="quiet">
          {person.login} · {person.email} · {roleName(visit, person.roles[0] ?? '')}
        </p>
        {viewer.can('promote_users') && id !== viewer.id && (
          <form method="post" action={deskUrl(visit, path)} class="narrow">
            <Nonce nonce={visit.nonce} />
            <Select name="role" label={say('desk:people.role')} value={person.roles[0] ?? ''} options={roleOptions(visit)} />
            <button type="submit">{say('desk:form.save')}</button>
          </form>
        )}
        {viewer.can('edit_users') && (
          <>
            <ButtonForm visit={visit} path={`${path}/link`} text={say('desk:people.new-link')} />
            <Passwords visit={visit} passwords={passwords} path={`${path}/passwords`} />
          </>
        )}
        {viewer.can('delete_users') && id !== viewer.id && <Leaving visit={visit} person={person} people={people} />}
      </>
    ),
  });
  return { html, ...(notice?.tone === 'wrong' ? { status: 422 } : {}) };
}

function Leaving({
  visit,
  person,
  people,
}: {
  readonly visit: Visit;
  readonly person: Account;
  readonly people: readonly Account[];
}): JSX.Element {
  const { say } = visit.speech;
  return (
    <form
      method="post"
      action={deskUrl(visit, `/people/${person.id}/delete`)}
      class="narrow"
      data-confirm={say('desk:actions.delete-sure')}
    >
      <h2>{say('desk:people.remove')}</h2>
      <Nonce nonce={visit.nonce} />
      <Select
        name="reassign"
        label={say('desk:people.reassign')}
        options={[
          { value: '', text: say('desk:people.nobody') },
          ...people.flatMap(({ id, displayName, login }) => (id === person.id ? [] : [{ value: String(id), text: displayName || login }])),
        ]}
      />
      <button type="submit" class="button-danger">
        {say('desk:people.remove')}
      </button>
    </form>
  );
}

/** Does something with an account; what stops it is shown on the page of the person. */
async function withPerson(visit: Submission, id: number, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return personPage(visit, id, { notice: { tone: 'wrong', text: accountSentence(visit, error) } });
  }
}

/** Gives somebody else another role. Nobody changes their own: the last administrator could be gone. */
export const changeRole = (visit: Submission, id: number): Promise<Outcome> =>
  withPerson(visit, id, async () => {
    if (id === visit.caller.viewer.id) fail('rest_forbidden');
    await setRole(visit.site, id, textIn(visit.fields, 'role'));
    return { to: deskUrl(visit, '/people', { done: 'saved' }) };
  });

/** Shows a link by which somebody chooses a new password. */
export const newLink = (visit: Submission, id: number): Promise<Outcome> =>
  withPerson(visit, id, async () => {
    const link = await makePasswordLink(visit.site, id, LINK_SECONDS.invitation);
    return personPage(visit, id, { link: { login: link.login, address: addressOf(visit, link) } });
  });

export const removePerson = (visit: Submission, id: number): Promise<Outcome> =>
  withPerson(visit, id, async () => {
    if (id === visit.caller.viewer.id) fail('rest_forbidden');
    const heir = idIn(textIn(visit.fields, 'reassign'));
    await deleteUser(visit.site, id, heir > 0 ? { reassign: heir } : {});
    return { to: deskUrl(visit, '/people', { done: 'removed' }) };
  });

/** Takes back an application password of somebody else. */
export const revokeOf = (visit: Submission, id: number, uuid: string): Promise<Outcome> =>
  withPerson(visit, id, async () => {
    await revokeApplicationPassword(visit.site, id, uuid);
    return { to: deskUrl(visit, `/people/${id}`, { done: 'revoked' }) };
  });

// ------------------------------------------------------------------------------------------------- oneself
interface OwnForm {
  readonly notice?: Notice;
  /** A new application password, shown this once. */
  readonly made?: string;
}

/** One's own page: password, language, application passwords. */
export async function ownPage(visit: Visit, { notice, made }: OwnForm = {}): Promise<Outcome> {
  const { speech, site, caller } = visit;
  const { say } = speech;
  const passwords = await listApplicationPasswords(site, caller.viewer.id);
  const names = new Intl.DisplayNames([speech.locale], { type: 'language' });
  const html = deskPage(visit, {
    title: say('desk:me.title'),
    part: 'me',
    notice,
    children: (
      <>
        <form method="post" action={deskUrl(visit, '/me/language')} class="narrow">
          <Nonce nonce={visit.nonce} />
          <Select
            name="language"
            label={say('desk:me.language')}
            value={speech.language}
            options={site.texts.languages.map((language) => ({ value: language, text: names.of(language) ?? language }))}
          />
          <button type="submit">{say('desk:form.save')}</button>
        </form>
        <h2>{say('desk:me.password')}</h2>
        <form method="post" action={deskUrl(visit, '/me/password')} class="narrow">
          <Nonce nonce={visit.nonce} />
          <Input name="before" type="password" label={say('desk:me.before')} autocomplete="current-password" required />
          <NewPassword speech={speech} />
          <button type="submit">{say('desk:me.change')}</button>
        </form>
        {made !== undefined && (
          <p class="notice notice-good">
            {say('desk:me.made')} <code class="shown-once">{made}</code>
          </p>
        )}
        <Passwords visit={visit} passwords={passwords} path="/me/passwords" />
        <form method="post" action={deskUrl(visit, '/me/passwords')} class="narrow">
          <Nonce nonce={visit.nonce} />
          <Input name="name" label={say('desk:me.password-for')} required autocomplete="off" />
          <button type="submit">{say('desk:me.make')}</button>
        </form>
      </>
    ),
  });
  return { html, ...(notice?.tone === 'wrong' ? { status: 422 } : {}) };
}

function Passwords({
  visit,
  passwords,
  path,
}: {
  readonly visit: Visit;
  readonly passwords: readonly ApplicationPassword[];
  readonly path: string;
}): JSX.Element {
  const { say } = visit.speech;
  return (
    <>
      <h2>{say('desk:me.passwords')}</h2>
      <p class="quiet">{say('desk:me.passwords-about')}</p>
      {passwords.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">{say('desk:people.name')}</th>
              <th scope="col">{say('desk:me.created')}</th>
              <th scope="col">{say('desk:me.used')}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {passwords.map(({ uuid, name, created, lastUsed, lastAddress }) => (
              <tr key={uuid}>
                <th scope="row">{name}</th>
                <td data-label={say('desk:me.created')}>{created.slice(0, 10)}</td>
                <td data-label={say('desk:me.used')}>
                  {lastUsed === undefined ? say('desk:me.never') : `${lastUsed.slice(0, 10)} ${lastAddress ?? ''}`}
                </td>
                <td>
                  <ButtonForm
                    visit={visit}
                    path={`${path}/${uuid}/revoke`}
                    text={say('desk:me.revoke')}
                    label={`${say('desk:me.revoke')}: ${name}`}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** Does something with one's own account; what stops it is shown on the page. */
async function withOwn(visit: Submission, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AccountError) return ownPage(visit, { notice: { tone: 'wrong', text: accountSentence(visit, error) } });
    if (error instanceof ApiError && error.status < 500)
      return ownPage(visit, { notice: { tone: 'wrong', text: sentenceOf(visit, error) } });
    throw error;
  }
}

/** Changes one's own password. All other sessions end; this one goes on. */
export const changeOwnPassword = (visit: Submission): Promise<Outcome> =>
  withOwn(visit, async () => {
    const { site, settings, fields, caller, request, speech } = visit;
    const password = textIn(fields, 'password');
    if (password !== textIn(fields, 'again')) return ownPage(visit, { notice: { tone: 'wrong', text: speech.say('desk:welcome.differ') } });
    const user = await changePassword(site, caller.viewer.id, { before: textIn(fields, 'before'), password, address: request.address });
    const { cookie } = await beginSession(site, settings, user, { remember: false, address: request.address, agent: request.agent });
    return { to: deskUrl(visit, '/me', { done: 'password' }), cookie: setCookie(visit, cookie) };
  });

export const makeOwnPassword = (visit: Submission): Promise<Outcome> =>
  withOwn(visit, async () => {
    const { password } = await createApplicationPassword(visit.site, visit.caller.viewer.id, textIn(visit.fields, 'name'));
    return ownPage(visit, { made: password.replace(/(.{4})(?=.)/g, '$1 ') });
  });

export const revokeOwn = (visit: Submission, uuid: string): Promise<Outcome> =>
  withOwn(visit, async () => {
    await revokeApplicationPassword(visit.site, visit.caller.viewer.id, uuid);
    return { to: deskUrl(visit, '/me', { done: 'revoked' }) };
  });

/** The language of the desk, kept as WordPress keeps that of a person's own pages. */
export async function chooseLanguage(visit: Submission): Promise<Outcome> {
  const { site, caller, fields } = visit;
  const language = site.texts.languages.find((one) => one === textIn(fields, 'language'));
  if (language !== undefined) await setLocale(site, caller.viewer.id, language);
  return { to: deskUrl(visit, '/me', { done: 'saved' }) };
}
