import type { Command } from 'commander';
import { createApplicationPassword, listApplicationPasswords, revokeApplicationPassword } from '../accounts/application-passwords.ts';
import { createUser, deleteUser, listUsers, setRole } from '../accounts/users.ts';
import { shapeOf, withExamples, withShape } from './options.ts';
import { print, printedList } from './print.ts';
import { type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, string | undefined>> & { readonly porcelain?: boolean };

const COLUMNS = ['id', 'login', 'displayName', 'email', 'registered', 'roles'];
const PASSWORD_COLUMNS = ['uuid', 'name', 'created', 'lastUsed', 'lastAddress'];

/** Adds `user create|list|delete|set-role` and `user application-password create|list|revoke`. */
export function addUserCommands(program: Command, session: Session): void {
  const { say } = session;
  const user = program.command('user').helpCommand(false).description(say('user.group'));
  for (const add of [addCreate, addList, addDelete, addSetRole]) add(user, session);
  const passwords = user.command('application-password').helpCommand(false).description(say('password.group'));
  for (const add of [addPasswordCreate, addPasswordList, addPasswordRevoke]) add(passwords, session);
}

/** What a command has done, as a sentence of `done` or in short. */
interface Done {
  readonly key: string;
  readonly values: Readonly<Record<string, string | number>>;
  readonly short: string | number;
}

const report = ({ say, io }: Session, { key, values, short }: Done, given: Options = {}): void =>
  print(io, given.porcelain ? `${short}\n` : `${say(`done.${key}`, values)}\n`);

function addCreate(user: Command, session: Session): void {
  const { say } = session;
  withExamples(user.command('create <login> <email>').description(say('user.create')), say, [
    'fasti user create anna anna@example.org --role=editor',
    "fasti user create bruno bruno@example.org --role=author --display_name='Bruno Rossi' --porcelain",
  ])
    .option('--role <role>', say('user.role'), 'subscriber')
    .option('--password <password>', say('user.password'))
    .option('--display_name <name>', say('user.display_name'))
    .option('--porcelain', say('options.porcelain'))
    .action((login: string, email: string, given: Options) =>
      withSite(session, 'write', async (site) => {
        const { role = 'subscriber', password, display_name: displayName } = given;
        const { id } = await createUser(site, { login, email, role, password, displayName });
        report(session, { key: 'user-created', values: { login, id }, short: id }, given);
      }),
    );
}

function addList(user: Command, session: Session): void {
  const { say, io } = session;
  const examples = ['fasti user list', 'fasti user list --role=administrator --format=json'];
  withShape(withExamples(user.command('list').description(say('user.list')), say, examples), say)
    .option('--role <role>', say('user.only-role'))
    .action((given: Options) =>
      withSite(session, 'read', async (site) => {
        const users = (await listUsers(site)).filter(({ roles }) => given.role === undefined || roles.includes(given.role));
        const rows = users.map((account) => ({ ...account }));
        print(io, printedList(rows, shapeOf(given, COLUMNS), io.terminal));
      }),
    );
}

function addDelete(user: Command, session: Session): void {
  const { say } = session;
  withExamples(user.command('delete <user...>').description(say('user.delete')), say, ['fasti user delete bruno --reassign=anna'])
    .option('--reassign <user>', say('user.reassign'))
    .option('--porcelain', say('options.porcelain'))
    .action((users: string[], given: Options) =>
      withSite(session, 'write', async (site) => {
        for (const reference of users) {
          const { id, login } = await deleteUser(site, reference, { reassign: given.reassign });
          report(session, { key: 'user-deleted', values: { login, id }, short: id }, given);
        }
      }),
    );
}

function addSetRole(user: Command, session: Session): void {
  const { say } = session;
  withExamples(user.command('set-role <user> <role>').description(say('user.set-role')), say, [
    'fasti user set-role anna administrator',
  ]).action((reference: string, role: string) =>
    withSite(session, 'write', async (site) => {
      const { login } = await setRole(site, reference, role);
      report(session, { key: 'role-set', values: { login, role }, short: login });
    }),
  );
}

function addPasswordCreate(passwords: Command, session: Session): void {
  const { say } = session;
  withExamples(passwords.command('create <user> <name>').description(say('password.create')), say, [
    "fasti user application-password create anna 'Newsletter script'",
    'fasti user application-password create anna backup --porcelain > password.txt',
  ])
    .option('--porcelain', say('password.porcelain'))
    .action((reference: string, name: string, given: Options) =>
      withSite(session, 'write', async (site) => {
        const { uuid, password } = await createApplicationPassword(site, reference, name);
        const values = { user: reference, uuid, password: inGroups(password) };
        report(session, { key: 'password-created', values, short: password }, given);
      }),
    );
}

function addPasswordList(passwords: Command, session: Session): void {
  const { say, io } = session;
  const examples = ['fasti user application-password list anna'];
  withShape(withExamples(passwords.command('list <user>').description(say('password.list')), say, examples), say).action(
    (reference: string, given: Options) =>
      withSite(session, 'read', async (site) => {
        const rows = (await listApplicationPasswords(site, reference)).map((entry) => ({ id: entry.uuid, ...entry }));
        print(io, printedList(rows, shapeOf(given, PASSWORD_COLUMNS), io.terminal));
      }),
  );
}

function addPasswordRevoke(passwords: Command, session: Session): void {
  const { say } = session;
  withExamples(passwords.command('revoke <user> <uuid-or-name>').description(say('password.revoke')), say, [
    "fasti user application-password revoke anna 'Newsletter script'",
  ]).action((reference: string, password: string) =>
    withSite(session, 'write', async (site) => {
      await revokeApplicationPassword(site, reference, password);
      report(session, { key: 'password-revoked', values: { user: reference, password }, short: password });
    }),
  );
}

/** In groups of four, as WordPress shows it; the spaces don't count when it is used. */
export const inGroups = (password: string): string => password.replace(/(.{4})(?=.)/g, '$1 ');
