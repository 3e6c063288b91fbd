import type { Database } from '../../src/storage/engine/database.ts';
import { writeUserMeta } from '../../src/storage/rows/users.ts';
import { fastHash } from '../../src/wordpress/passwords.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';

/** A user to add to the sample site, with individual capabilities instead of a role. */
export interface NewPerson {
  readonly id: number;
  readonly login: string;
  readonly capabilities: readonly string[];
}

/** Adds a user who can sign in. Resolves with the Authorization header of the user. */
export async function addPerson(db: Database, { id, login, capabilities }: NewPerson): Promise<string> {
  const password = `${login}`.padEnd(24, 'x');
  await db.from('users').insert({
    ID: id,
    user_login: login,
    user_pass: '',
    user_nicename: login,
    user_email: `${login}@example.org`,
    user_url: '',
    user_registered: '2026-01-01 00:00:00',
    user_activation_key: '',
    user_status: 0,
    display_name: login,
  });
  await writeUserMeta(
    db,
    id,
    `${db.prefix}capabilities`,
    toSerialized(Object.fromEntries(capabilities.map((capability) => [capability, true]))),
  );
  const entry = {
    uuid: `person-${id}`,
    app_id: '',
    name: 'tests',
    password: fastHash(password),
    created: 1,
    last_used: 4_000_000_000,
    last_ip: null,
  };
  await writeUserMeta(db, id, '_application_passwords', toSerialized([entry]));
  return `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
}
