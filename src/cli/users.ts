import type { Command } from 'commander';
import { createApplicationPassword, listApplicationPasswords, revokeApplicationPassword } from '../accounts/application-passwords.ts';
import { createPasswordLink, LINK_LIFETIME_SECONDS } from '../accounts/password-links.ts';
import { createUser, deleteUser, listUsers, setEmail, setRole, type UserReference, userReference } from '../accounts/users.ts';
import { passwordLinkUrl } from '../desk/visit.ts';
import type { Site } from '../site.ts';
import { groupedPassword } from '../wordpress/passwords.ts';
import { withEach } from './each-record.ts';
import { outputShape, withExamples, withOutputOptions } from './options.ts';
import { formatList, print } from './print.ts';
import { type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, string | undefined>> & { readonly porcelain?: boolean; readonly invite?: boolean };

const COLUMNS = ['id', 'login', 'displayName', 'email', 'registered', 'roles'];
const PASSWORD_COLUMNS = ['uuid', 'name', 'created', 'lastUsed', 'lastAddress'];

/** Adds `user create|list|delete|set-role|set-email|link` and `user application-password create|list|revoke`. */
export function addUserCommands(program: Command, session: Session): void {
  const { say } = session;
  const user = program.command('user').helpCommand(false).description(say('user.group'));
  for (const add of [addCreate, addList, addDelete, addSetRole, addSetEmail, addLink]) add(user, session);
  const passwords = user.command('application-password').helpCommand(false).description(say('password.group'));
  for (const add of [addPasswordCreate, addPasswordList, addPasswordRevoke]) add(passwords, session);
}

type Outcome = Readonly<Record<string, string | number>>;

/** Prints what was done; with `--porcelain`, only the part that scripts need. */
const printDone = ({ io, say }: Session, { porcelain }: Options, key: string, outcome: Outcome, value: string | number): void =>
  print(io, porcelain ? `${value}\n` : `${say(`done.${key}`, outcome)}\n`);

/** Returns a link with which a user can set a password; it works once and expires after a day. */
async function makeInvitation(site: Site, reference: UserReference): Promise<{ readonly login: string; readonly url: string }> {
  const link = await createPasswordLink(site, reference, LINK_LIFETIME_SECONDS.invitation);
  return { login: link.login, url: passwordLinkUrl((await site.settings()).home, link) };
}

// ------------------------------------------------------------------------------------------------- people
const addCreate = (user: Command, session: Session): void => {
  const { say } = session;
  withExamples(user.command('create <login> <email>').description(say('user.create')), say, [
    'fasti user create anna anna@example.org --role=editor --invite',
    "fasti user create bruno bruno@example.org --role=author --display_name='Bruno Rossi' --porcelain",
  ])
    .option('--role <role>', say('user.role'), 'subscriber')
    .option('--password <password>', say('user.password'))
    .option('--display_name <name>', say('user.display_name'))
    .option('--invite', say('user.invite'))
    .option('--porcelain', say('user.porcelain'))
    .action((login: string, email: string, options: Options) =>
      withSite(session, 'write', async (site) => {
        const { id } = await createUser(site, {
          login,
          email,
          role: options.role ?? 'subscriber',
          password: options.password,
          displayName: options.display_name,
        });
        printDone(session, options, 'user-created', { login, id }, id);
        if (options.invite) print(session.io, `${(await makeInvitation(site, id)).url}\n`);
      }),
    );
};

const addList = (user: Command, session: Session): void => {
  const { say, io } = session;
  const examples = ['fasti user list', 'fasti user list --role=administrator --format=json'];
  withOutputOptions(withExamples(user.command('list').description(say('user.list')), say, examples), say)
    .option('--role <role>', say('user.only-role'))
    .action((options: Options) =>
      withSite(session, 'read', async (site) => {
        const rows = (await listUsers(site, { role: options.role })).map((account) => ({ ...account }));
        // WordPress stores display names as HTML.
        print(io, formatList(rows, { ...outputShape(options, COLUMNS), html: true }, io.isTerminal));
      }),
    );
};

const addDelete = (user: Command, session: Session): void => {
  const { say } = session;
  withExamples(user.command('delete <user...>').description(say('user.delete')), say, ['fasti user delete bruno --reassign=anna'])
    .option('--reassign <user>', say('user.reassign'))
    .option('--porcelain', say('options.porcelain'))
    .action((users: string[], options: Options) =>
      withSite(session, 'write', async (site) => {
        const reassign = options.reassign === undefined ? undefined : userReference(options.reassign);
        await withEach(users, async (reference) => {
          const { id, login } = await deleteUser(site, userReference(reference), { reassign });
          printDone(session, options, 'user-deleted', { login, id }, id);
        });
      }),
    );
};

const addSetRole = (user: Command, session: Session): void => {
  const { say } = session;
  const examples = ['fasti user set-role anna administrator'];
  withExamples(user.command('set-role <user> <role>').description(say('user.set-role')), say, examples).action(
    (reference: string, role: string) =>
      withSite(session, 'write', async (site) => {
        const { login } = await setRole(site, userReference(reference), role);
        printDone(session, {}, 'role-set', { login, role }, login);
      }),
  );
};

const addSetEmail = (user: Command, session: Session): void => {
  const { say } = session;
  const examples = ['fasti user set-email anna anna@example.org'];
  withExamples(user.command('set-email <user> <email>').description(say('user.set-email')), say, examples).action(
    (reference: string, email: string) =>
      withSite(session, 'write', async (site) => {
        const { login } = await setEmail(site, userReference(reference), email);
        printDone(session, {}, 'email-set', { login, email }, login);
      }),
  );
};

const addLink = (user: Command, session: Session): void => {
  const { say } = session;
  withExamples(user.command('link <user>').description(say('user.link')), say, ['fasti user link anna', 'fasti user link anna --porcelain'])
    .option('--porcelain', say('user.only-link'))
    .action((reference: string, options: Options) =>
      withSite(session, 'write', async (site) => {
        const { login, url } = await makeInvitation(site, userReference(reference));
        printDone(session, options, 'link-made', { login, url }, url);
      }),
    );
};

// ----------------------------------------------------------------------------------------------- application passwords
const addPasswordCreate = (passwords: Command, session: Session): void => {
  const { say } = session;
  withExamples(passwords.command('create <user> <name>').description(say('password.create')), say, [
    "fasti user application-password create anna 'Newsletter script'",
    'fasti user application-password create anna backup --porcelain > password.txt',
  ])
    .option('--porcelain', say('password.porcelain'))
    .action((reference: string, name: string, options: Options) =>
      withSite(session, 'write', async (site) => {
        const { uuid, password } = await createApplicationPassword(site, userReference(reference), name);
        printDone(session, options, 'password-created', { user: reference, uuid, password: groupedPassword(password) }, password);
      }),
    );
};

const addPasswordList = (passwords: Command, session: Session): void => {
  const { say, io } = session;
  const examples = ['fasti user application-password list anna'];
  withOutputOptions(withExamples(passwords.command('list <user>').description(say('password.list')), say, examples), say).action(
    (reference: string, options: Options) =>
      withSite(session, 'read', async (site) => {
        const rows = (await listApplicationPasswords(site, userReference(reference))).map((entry) => ({
          id: entry.uuid,
          ...entry,
          lastUsed: entry.lastUsed ?? null,
          lastAddress: entry.lastAddress ?? null,
        }));
        print(io, formatList(rows, outputShape(options, PASSWORD_COLUMNS), io.isTerminal));
      }),
  );
};

const addPasswordRevoke = (passwords: Command, session: Session): void => {
  const { say } = session;
  const examples = ["fasti user application-password revoke anna 'Newsletter script'"];
  withExamples(passwords.command('revoke <user> <uuid-or-name>').description(say('password.revoke')), say, examples).action(
    (reference: string, password: string) =>
      withSite(session, 'write', async (site) => {
        await revokeApplicationPassword(site, userReference(reference), password);
        printDone(session, {}, 'password-revoked', { user: reference, password }, password);
      }),
  );
};
