import { beforeAll, describe, expect, it } from '@jest/globals';
import { commandIn, embedded, temporaryFolder } from './command.ts';

const fasti = commandIn(embedded(temporaryFolder()));
const json = async (...args: string[]) => JSON.parse((await fasti(...args, '--format=json')).out);

beforeAll(async () => {
  expect((await fasti('init')).code).toBe(0);
});

describe('fasti user', () => {
  it('creates a user, changes the role and deletes the user', async () => {
    expect(await fasti('user', 'create', 'anna', 'anna@example.org', '--role=author', '--display_name=Anna R.')).toMatchObject({
      code: 0,
      out: 'Done: user anna created with the id 2.\n',
    });
    expect(await json('user', 'list', '--role=author', '--fields=login,displayName,email')).toEqual([
      { login: 'anna', displayName: 'Anna R.', email: 'anna@example.org' },
    ]);
    expect((await fasti('user', 'set-email', 'anna', 'anna@new.example')).out).toBe(
      'Done: anna now has the e-mail address anna@new.example.\n',
    );
    expect((await fasti('user', 'set-role', 'anna', 'editor')).out).toBe('Done: anna now has the role editor.\n');
    expect(await json('user', 'list', '--role=author')).toEqual([]);
    expect((await fasti('user', 'delete', 'anna')).out).toBe('Done: user anna deleted.\n');
  });

  it('creates an invitation link', async () => {
    const { code, out } = await fasti('user', 'create', 'ivo', 'ivo@example.org', '--invite');
    expect(code).toBe(0);
    expect(out).toMatch(/^Done: user ivo created with the id \d+\.\nhttp:\S+\/welcome\?login=ivo&token=\w{24}\n$/);
  });

  it('prints ID and invitation link for scripts', async () => {
    const { out } = await fasti('user', 'create', 'iris', 'iris@example.org', '--invite', '--porcelain');
    expect(out).toMatch(/^\d+\nhttp:\S+\/welcome\?login=iris&token=\w{24}\n$/);
  });

  it('creates an invitation link for a user whose name is the ID of another user', async () => {
    const { out } = await fasti('user', 'create', '1', 'one@example.org', '--invite');
    expect(out).toMatch(/\/welcome\?login=1&token=\w{24}\n$/);
  });

  it('means no user whose name is the ID of a deleted user', async () => {
    const carla = (await fasti('user', 'create', 'carla', 'carla@example.org', '--porcelain')).out.trim();
    await fasti('user', 'create', carla, 'digits@example.org');
    expect((await fasti('user', 'delete', carla)).out).toBe('Done: user carla deleted.\n');
    for (const command of [
      ['user', 'delete', carla],
      ['user', 'delete', 'ivo', `--reassign=${carla}`],
      ['user', 'set-role', carla, 'author'],
      ['user', 'set-email', carla, 'other@example.org'],
      ['user', 'link', carla],
      ['user', 'application-password', 'create', carla, 'Script'],
      ['user', 'application-password', 'list', carla],
      ['user', 'application-password', 'revoke', carla, 'Script'],
      ['venue', 'create', '--venue=Castle', `--user=${carla}`],
      ['webhook', 'add', 'https://example.org/hook', `--rights-of=${carla}`],
    ])
      expect(await fasti(...command)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining(`there is no user ${carla}.\n`),
      });
    expect((await fasti('user', 'delete', 'digits@example.org')).out).toBe(`Done: user ${carla} deleted.\n`);
  });

  it('requires another author for the records of a deleted user', async () => {
    await fasti('user', 'create', 'bruno', 'bruno@example.org', '--role=author');
    const venue = (await fasti('venue', 'create', '--venue=Tower', '--user=bruno', '--porcelain')).out.trim();
    expect(await fasti('user', 'delete', 'bruno')).toMatchObject({
      code: 1,
      err: expect.stringContaining('bruno is the author of 1 record;'),
    });
    expect((await fasti('user', 'delete', 'bruno', '--reassign=admin')).code).toBe(0);
    expect((await fasti('venue', 'get', venue, '--field=author')).out).toBe('1\n');
  });

  it.each([
    [['create', 'admin', 'other@example.org'], 'the user name admin is already taken'],
    [['create', 'clara', 'no address'], 'no address is not an e-mail address'],
    [['create', 'clara', 'clara@example.org', '--role=king'], 'there is no role king; the roles are administrator, editor, '],
    [['list', '--role=king'], 'there is no role king; the roles are administrator, editor, '],
    [['set-role', 'nobody', 'editor'], 'there is no user nobody'],
    [['set-email', 'nobody', 'a@example.org'], 'there is no user nobody'],
    [['create', 'cleo', ''], 'e-mail'],
    [['application-password', 'revoke', 'admin', 'x'], 'there is no application password x'],
  ])('refuses %j', async (args, sentence) => {
    expect(await fasti('user', ...args)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(sentence) });
  });
});

describe('fasti user application-password', () => {
  it('shows a password once, lists it without its secret and revokes it', async () => {
    const password = (await fasti('user', 'application-password', 'create', 'admin', 'Script', '--porcelain')).out;
    expect(password).toMatch(/^[A-Za-z0-9]{24}\n$/);
    const listed = await fasti('user', 'application-password', 'list', 'admin', '--format=json');
    expect(JSON.parse(listed.out).map(({ name }: { name: string }) => name)).toEqual(['First application password', 'Script']);
    expect(listed.out).not.toContain(password.trim());
    expect(JSON.parse(listed.out)[1]).toMatchObject({ lastUsed: null, lastAddress: null });
    expect((await fasti('user', 'application-password', 'revoke', 'admin', ' script ')).code).toBe(0);
    expect(await json('user', 'application-password', 'list', 'admin', '--fields=name')).toHaveLength(1);
  });
});
