import type { Database } from '../../src/storage/engine/database.ts';
import { addPerson } from './people.ts';

/*
 * Roles for the tests of permissions, and a small model of WordPress's capabilities that shares no code with the
 * service. A role has the same capabilities for events, venues and organizers.
 */

/**
 * The roles of WordPress, and two unusual ones: one that reads private records, and one that edits records of others
 * but no published ones.
 */
export const ROLES = ['nobody', 'sub', 'contrib', 'auth', 'ed', 'admin', 'reader', 'fixer'] as const;
export type Role = (typeof ROLES)[number];

const EVERYTHING = ['edit', 'edit_others', 'edit_published', 'edit_private', 'read_private', 'publish'];
const CAN: Readonly<Record<Role, readonly string[]>> = {
  nobody: [],
  sub: [],
  contrib: ['edit'],
  auth: ['edit', 'edit_published', 'publish'],
  ed: EVERYTHING,
  admin: EVERYTHING,
  reader: ['edit', 'read_private'],
  fixer: ['edit', 'edit_others'],
};
export const IDS: Readonly<Record<Role, number>> = { nobody: 0, admin: 1, ed: 2, auth: 3, contrib: 4, sub: 5, reader: 60, fixer: 61 };
export const can = (role: Role, verb: string): boolean => CAN[role].includes(verb);

/** A record in the model. `status` is the stored one; `was` is the status before it was moved to the trash. */
export interface ModelRecord {
  readonly own: boolean;
  readonly status: string;
  readonly was?: string;
}

const isOut = (status: string) => status === 'publish' || status === 'future';

export function mayEdit(role: Role, { own, status, was = 'publish' }: ModelRecord): boolean {
  if (own) return can(role, isOut(status === 'trash' ? was : status) ? 'edit_published' : 'edit');
  if (!can(role, 'edit_others') || (isOut(status) && !can(role, 'edit_published'))) return false;
  return status !== 'private' || can(role, 'edit_private');
}

export function mayRead(role: Role, record: ModelRecord): boolean {
  if (record.status === 'publish') return true;
  if (record.own) return role !== 'nobody';
  return record.status === 'private' ? can(role, 'read_private') : mayEdit(role, record);
}

/** Options that make a request come from a role. */
export interface RoleRequestOptions {
  readonly as?: string;
  readonly headers?: Record<string, string>;
}

/** Adds the unusual roles to the sample site. Resolves with a function that returns the request options of a role. */
export async function addRoles(db: Database): Promise<(role: Role) => RoleRequestOptions> {
  const odd = new Map<Role, string>();
  for (const role of ['reader', 'fixer'] as const) {
    const capabilities = ['tribe_events', 'tribe_venues', 'tribe_organizers'].flatMap((type) => CAN[role].map((verb) => `${verb}_${type}`));
    odd.set(role, await addPerson(db, { id: IDS[role], login: role, capabilities: ['read', 'edit_posts', ...capabilities] }));
  }
  return (role) => {
    const authorization = odd.get(role);
    if (authorization !== undefined) return { headers: { Authorization: authorization } };
    return role === 'nobody' ? {} : { as: role };
  };
}
