import type { JSX } from 'preact';
import { AccountError } from '../accounts/account-error.ts';
import { listApplicationPasswords, revokeApplicationPassword } from '../accounts/application-passwords.ts';
import { createPasswordLink, LINK_LIFETIME_SECONDS } from '../accounts/password-links.ts';
import { hasNoMoreCapabilities, mayActFor } from '../accounts/people.ts';
import { type Account, createUser, deleteUser, idOfName, pageOfUsers, selectableWriters, setRole, usersById } from '../accounts/users.ts';
import { fail } from '../errors.ts';
import { idIn, searchIn, textIn } from '../forms/form-values.ts';
import { Input, Select } from '../html/form-fields.tsx';
import { Link } from '../html/links.tsx';
import { Paging } from '../html/paging.tsx';
import type { Values } from '../kinds/param.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { accountErrors, accountSentence } from './account-sentences.ts';
import { ApplicationPasswords } from './application-passwords.tsx';
import { roleName } from './choice-words.ts';
import { ButtonForm, deskPage, Nonce, type Notice, Question } from './layout.tsx';
import type { FieldErrors } from './new-password.tsx';
import { SearchForm } from './search-form.tsx';
import { deskUrl, type Outcome, passwordLinkUrl, type Submission, type Visit } from './visit.ts';

/*
 * Users: their roles, and invitations.
 */

interface PeopleForm {
  readonly input?: Values;
  readonly notice?: Notice;
  /** Messages about an invalid invitation, by field. */
  readonly errors?: FieldErrors;
  /** A link to pass on, which is only shown once. */
  readonly link?: { readonly login: string; readonly address: string };
}

/** Returns a page of the list of users, with a form for inviting one. */
export async function peoplePage(visit: Visit, { input = {}, notice, errors, link }: PeopleForm = {}): Promise<Outcome> {
  const { say } = visit.i18n;
  const { query } = visit.request;
  const search = searchIn(query, 'search');
  const { accounts, total, page, pages } = await pageOfUsers(visit.site, { search, page: idIn(textIn(query, 'page')) || 1 });
  const pageLink = (number: number, key: string) =>
    number < 1 || number > pages ? undefined : { href: deskUrl(visit, '/people', { search, page: number }), text: say(key) };
  const html = deskPage(visit, {
    title: say('desk:parts.people'),
    section: 'people',
    notice,
    children: (
      <>
        {link && <PasswordLinkNotice visit={visit} link={link} />}
        <SearchForm visit={visit} path="/people" search={search} />
        <p class="quiet">{say('desk:people.found', { count: total })}</p>
        <PeopleTable visit={visit} people={accounts} />
        <Paging
          label={say('desk:list.pages')}
          previous={pageLink(page - 1, 'desk:list.previous')}
          next={pageLink(page + 1, 'desk:list.next')}
          here={say('desk:list.page', { page, pages })}
        />
        {visit.caller.viewer.can('create_users') && <Invitation visit={visit} input={input} errors={errors} />}
      </>
    ),
  });
  return { html, ...(notice?.tone === 'wrong' ? { status: 422 } : {}) };
}

function PeopleTable({ visit, people }: { readonly visit: Visit; readonly people: readonly Account[] }): JSX.Element {
  const { say } = visit.i18n;
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

/** The form for inviting a user. */
function Invitation(props: { readonly visit: Visit; readonly input: Values; readonly errors: FieldErrors | undefined }): JSX.Element {
  const { visit, input, errors } = props;
  const { say } = visit.i18n;
  const field = (name: string) => ({ name, value: textIn(input, name), error: errors?.get(name), autocomplete: 'off' });
  return (
    <>
      <h2>{say('desk:people.invite')}</h2>
      <form method="post" action={deskUrl(visit, '/people')} class="narrow">
        <Nonce nonce={visit.nonce} />
        <Input {...field('login')} label={say('desk:people.login')} required />
        <Input {...field('email')} type="email" label={say('desk:fields.email')} required />
        <Input {...field('name')} label={say('desk:people.name')} />
        <Select
          name="role"
          label={say('desk:people.role')}
          value={textIn(input, 'role') || suggestedRole(visit)}
          options={roleOptions(visit).filter(({ value }) => mayInviteAs(visit, value))}
        />
        <button type="submit" class="button-main">
          {say('desk:people.invite-button')}
        </button>
      </form>
    </>
  );
}

function PasswordLinkNotice({ visit, link }: { readonly visit: Visit; readonly link: NonNullable<PeopleForm['link']> }): JSX.Element {
  return (
    <p class="notice notice-good">
      {visit.i18n.say('desk:people.link', { login: link.login })}
      <br />
      <code class="shown-once">{link.address}</code>
    </p>
  );
}

/** The role of new users, according to the options. The plugin that defined it may be gone. */
function defaultRole({ settings: { raw, roles } }: Visit): string {
  const role = raw.get('default_role') ?? '';
  return roles.has(role) ? role : 'subscriber';
}

/** The role preselected for invited users. */
const suggestedRole = (visit: Visit): string =>
  visit.settings.roles.has('contributor') && mayInviteAs(visit, 'contributor') ? 'contributor' : defaultRole(visit);

/**
 * Whether the viewer may invite users with a role: without the capability to assign roles, only with the default role
 * of new users.
 */
const mayInviteAs = (visit: Visit, role: string): boolean => visit.caller.viewer.can('promote_users') || role === defaultRole(visit);

const roleOptions = (visit: Visit) => [...visit.settings.roles.keys()].map((role) => ({ value: role, text: roleName(visit, role) }));

/** Creates an account for a user, and shows the link by which the user chooses a password. */
export async function invite(visit: Submission): Promise<Outcome> {
  const { site, fields } = visit;
  try {
    const login = textIn(fields, 'login').trim();
    const role = textIn(fields, 'role');
    if (!mayInviteAs(visit, role)) fail('rest_forbidden');
    const email = textIn(fields, 'email').trim();
    // By id, since the login could be the same as the id of another user.
    const { id } = await createUser(site, { login, email, role, displayName: textIn(fields, 'name').trim() || undefined });
    const link = await createPasswordLink(site, id, LINK_LIFETIME_SECONDS.invitation);
    return peoplePage(visit, {
      notice: { tone: 'good', text: visit.i18n.say('desk:done.invited') },
      link: { login, address: passwordLinkUrl(visit.settings.home, link) },
    });
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    const notice = { tone: 'wrong', text: accountSentence(visit, error) } as const;
    return peoplePage(visit, { input: fields, notice, errors: accountErrors(visit, error) });
  }
}

/** Returns the page of one user: role, link, application passwords, and deletion. */
export async function personPage(visit: Visit, id: number, { input = {}, notice, link }: PeopleForm = {}): Promise<Outcome> {
  const { say } = visit.i18n;
  const { viewer } = visit.caller;
  const [person = fail('rest_user_invalid_id')] = await usersById(visit.site, [id]);
  const mayDelete = viewer.can('delete_users') && id !== viewer.id && (await mayDeleteAccount(visit, id));
  const newAuthors = mayDelete ? await selectableWriters(visit.site) : undefined;
  const mayEdit = viewer.can('edit_users') && (await mayEditAccount(visit, id));
  const passwords = mayEdit ? await listApplicationPasswords(visit.site, id) : [];
  const path = `/people/${id}`;
  const html = deskPage(visit, {
    title: person.displayName || person.login,
    section: 'people',
    notice,
    children: (
      <>
        {link && <PasswordLinkNotice visit={visit} link={link} />}
        <p class="quiet">
          {[person.login, person.email, ...person.roles.slice(0, 1).map((role) => roleName(visit, role))].filter(Boolean).join(' · ')}
        </p>
        {viewer.can('promote_users') && id !== viewer.id && (
          <form method="post" action={deskUrl(visit, path)} class="narrow">
            <Nonce nonce={visit.nonce} />
            <input type="hidden" name={SHOWN_ROLE} value={person.roles[0] ?? ''} />
            <Select
              name="role"
              label={say('desk:people.role')}
              value={person.roles[0] ?? ''}
              // If the user has no role here, the first option is selected, which must not make anybody an
              // administrator by accident.
              options={[...(person.roles.length > 0 ? [] : [{ value: '', text: say('desk:people.no-role') }]), ...roleOptions(visit)]}
            />
            <button type="submit">{say('desk:form.save')}</button>
          </form>
        )}
        {mayEdit && (
          <>
            <ButtonForm visit={visit} path={`${path}/link`} text={say('desk:people.new-link')} />
            <ApplicationPasswords visit={visit} passwords={passwords} path={`${path}/passwords`} />
          </>
        )}
        {mayDelete && <DeletePersonForm visit={visit} person={person} newAuthors={newAuthors} input={input} />}
      </>
    ),
  });
  return { html, ...(notice?.tone === 'wrong' ? { status: 422 } : {}) };
}

function DeletePersonForm({
  visit,
  person,
  newAuthors,
  input,
}: {
  readonly visit: Visit;
  readonly person: Account;
  /** Users who can get the records; undefined: too many for a select input. */
  readonly newAuthors: readonly Account[] | undefined;
  readonly input: Values;
}): JSX.Element {
  const { say } = visit.i18n;
  return (
    <form
      method="post"
      action={deskUrl(visit, `/people/${person.id}/delete`)}
      class="narrow"
      data-confirm={say('desk:actions.delete-sure')}
    >
      <h2>{say('desk:people.remove')}</h2>
      <Nonce nonce={visit.nonce} />
      <Question text={say('desk:actions.delete-sure')} />
      {newAuthors ? (
        <Select
          name="reassign"
          label={say('desk:people.reassign')}
          value={textIn(input, 'reassign')}
          options={[
            { value: '', text: say('desk:people.nobody') },
            ...newAuthors.flatMap(({ id, displayName, login }) =>
              id === person.id ? [] : [{ value: String(id), text: displayName || login }],
            ),
          ]}
        />
      ) : (
        <Input
          name="heir"
          label={say('desk:people.heir')}
          hint={say('desk:people.heir-hint')}
          value={textIn(input, 'heir')}
          autocomplete="off"
        />
      )}
      <button type="submit" class="button-danger">
        {say('desk:people.remove')}
      </button>
    </form>
  );
}

const mayEditAccount = ({ site, settings, caller }: Visit, id: number): Promise<boolean> =>
  mayActFor(lookUpOnce(site.db), settings, caller.viewer, id);

/** Returns whether a user belongs to this site: a network of sites has accounts of other sites too. */
const isOfSite = async ({ site }: Visit, id: number): Promise<boolean> => (await usersById(site, [id])).length > 0;

/**
 * Returns whether the viewer may delete an account, which is the case if it has no more capabilities than the viewer.
 */
const mayDeleteAccount = ({ site, settings, caller }: Visit, id: number): Promise<boolean> =>
  hasNoMoreCapabilities(lookUpOnce(site.db), settings, caller.viewer, id);

/** Runs a change of an account of this site. An error is shown on the page of the user. */
async function changePerson(visit: Submission, id: number, work: () => Promise<Outcome>): Promise<Outcome> {
  if (!(await isOfSite(visit, id))) fail('rest_user_invalid_id');
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return personPage(visit, id, { input: visit.fields, notice: { tone: 'wrong', text: accountSentence(visit, error) } });
  }
}

/** Name of the form field with the role that the form began with. */
const SHOWN_ROLE = 'shown_role';

/** Changes the role of another user. Users cannot change their own role, since the last administrator might be lost. */
export const changeRole = (visit: Submission, id: number): Promise<Outcome> =>
  changePerson(visit, id, async () => {
    if (id === visit.caller.viewer.id) fail('rest_forbidden');
    const role = textIn(visit.fields, 'role');
    // Another administrator may have changed it since, or the user may have several.
    if (role === '' || role === textIn(visit.fields, SHOWN_ROLE)) return { to: deskUrl(visit, `/people/${id}`) };
    await setRole(visit.site, id, role);
    return { to: deskUrl(visit, '/people', { done: 'saved' }) };
  });

/** Shows a link by which the user chooses a new password. */
export const showNewLink = (visit: Submission, id: number): Promise<Outcome> =>
  changePerson(visit, id, async () => {
    if (!(await mayEditAccount(visit, id))) fail('rest_forbidden');
    const link = await createPasswordLink(visit.site, id, LINK_LIFETIME_SECONDS.invitation);
    return personPage(visit, id, { link: { login: link.login, address: passwordLinkUrl(visit.settings.home, link) } });
  });

/** Deletes another user. Posts of the user go to the one that the form names. */
export const removePerson = (visit: Submission, id: number): Promise<Outcome> =>
  changePerson(visit, id, async () => {
    if (id === visit.caller.viewer.id || !(await mayDeleteAccount(visit, id))) fail('rest_forbidden');
    const newAuthor = textIn(visit.fields, 'heir').trim();
    const reassign = newAuthor === '' ? idIn(textIn(visit.fields, 'reassign')) : await idOfName(visit.site, newAuthor);
    if (reassign > 0 && !(await isOfSite(visit, reassign))) throw new AccountError('user-unknown', { user: newAuthor || String(reassign) });
    await deleteUser(visit.site, id, reassign > 0 ? { reassign } : {});
    return { to: deskUrl(visit, '/people', { done: 'removed' }) };
  });

/** Revokes an application password of another user. */
export const revokePersonPassword = (visit: Submission, id: number, uuid: string): Promise<Outcome> =>
  changePerson(visit, id, async () => {
    if (!(await mayEditAccount(visit, id))) fail('rest_forbidden');
    await revokeApplicationPassword(visit.site, id, uuid);
    return { to: deskUrl(visit, `/people/${id}`, { done: 'revoked' }) };
  });
