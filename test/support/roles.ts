import type { Database } from '../../src/storage/engine/database.ts';
import { addPerson } from './people.ts';

/*
 * Who asks in the tests of rights, and a small model of WordPress's capabilities that shares nothing with the
 * service. What a role may do it may do with events, venues and organizers alike.
 */

/**
 * The roles of WordPress, and two odd ones: who reads private records, and who edits others' records but no published
 * ones.
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

/** A record as the model sees it. `status`: as stored; in the trash, `was` says what it was before. */
export interface Owned {
  readonly own: boolean;
  readonly status: string;
  readonly was?: string;
}

const isOut = (status: string) => status === 'publish' || status === 'future';

export function edits(role: Role, { own, status, was = 'publish' }: Owned): boolean {
  if (own) return can(role, isOut(status === 'trash' ? was : status) ? 'edit_published' : 'edit');
  if (!can(role, 'edit_others') || (isOut(status) && !can(role, 'edit_published'))) return false;
  return status !== 'private' || can(role, 'edit_private');
}

export function reads(role: Role, record: Owned): boolean {
  if (record.status === 'publish') return true;
  if (record.own) return role !== 'nobody';
  return record.status === 'private' ? can(role, 'read_private') : edits(role, record);
}

/** What a request must carry to come from a role. */
export interface Signed {
  readonly as?: string;
  readonly headers?: Record<string, string>;
}

/** Adds the odd roles to the sample site; gives what requests of each role carry. */
export async function addRoles(db: Database): Promise<(role: Role) => Signed> {
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
