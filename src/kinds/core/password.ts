import { storedTextField } from '../../wordpress/content/plain-text.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { groupedPassword } from '../../wordpress/passwords.ts';
import { textFromUnix } from '../../wordpress/time.ts';
import { type Grammar, MAX_BYTES } from '../grammars/grammar.ts';
import { anyString } from '../grammars/schema.ts';
import type { Params, ValuesOf } from '../param.ts';
import type { RenderContext } from '../rendering.ts';
import { CONTEXT } from './params.ts';
import { isoDate, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

/** An application password as shown to its owner. Times are Unix seconds. */
export interface ShownPassword {
  readonly uuid: string;
  readonly app_id: string;
  readonly name: string;
  readonly created: number;
  readonly last_used: number | null;
  readonly last_ip: string | null;
}

const schemaFault = (code: string, reason: string) => ({ schemaFault: { stage: 'schema', code, reason } as const });

/** The name of a password: a text with at least one visible character. */
const label: Grammar<string> = {
  maxBytes: MAX_BYTES.name,
  hint: { reason: 'text-needed', example: 'Calendar app' },
  json: { type: 'string', minLength: 1, pattern: '.*\\S.*' },
  read: (raw) => {
    const reading = anyString(MAX_BYTES.name).read(raw, () => false);
    if (reading.value === undefined) return reading;
    if (reading.value === '') return schemaFault('rest_too_short', 'name-needed');
    const value = storedTextField(reading.value);
    return value === '' ? schemaFault('rest_invalid_pattern', 'name-needed') : { value };
  },
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns whether a text is a valid id of the application that a password is for: a UUID, or the empty text. */
export const isAppId = (text: string): boolean => text === '' || UUID.test(text.toLowerCase());

const appId: Grammar<string> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-a-uuid', example: 'c3f0a1de-0d3b-4f0e-9a63-0f6ac4d1b2aa' },
  json: { type: 'string' },
  read: (raw) => {
    if (typeof raw !== 'string') return { schemaFault: { stage: 'type', type: 'string' } };
    return isAppId(raw) ? { value: raw } : schemaFault('rest_no_matching_schema', 'uuid-needed');
  },
};

const USER = { user_id: { grammar: anyString(MAX_BYTES.word), required: true } } satisfies Params;
const UUID_PATH = { uuid: { grammar: anyString(MAX_BYTES.word), required: true } } satisfies Params;
const FIELDS = { app_id: { grammar: appId }, name: { grammar: label } } satisfies Params;

/** Parameters of the routes of application passwords (`WP_REST_Application_Passwords_Controller`). */
export const PASSWORD_PARAMS = {
  list: { ...CONTEXT, ...USER },
  create: { ...USER, ...FIELDS, name: { grammar: label, required: true } },
  remove: USER,
  one: { ...CONTEXT, ...USER, ...UUID_PATH },
  change: { ...USER, ...UUID_PATH, ...FIELDS },
  removeOne: { ...USER, ...UUID_PATH },
} satisfies Readonly<Record<string, Params>>;

export type PasswordOwnerValues = ValuesOf<typeof USER>;
export type PasswordFieldValues = ValuesOf<typeof PASSWORD_PARAMS.create>;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Returns an application password as WordPress's own routes show it. `plainPassword`: the password itself, which is
 * only shown in the answer to its creation.
 */
export function corePassword(
  user: number,
  password: ShownPassword,
  { context, view, plainPassword }: { context: Pick<RenderContext, 'home' | 'settings'>; view: View; plainPassword?: string },
): Record<string, unknown> {
  const { uuid, app_id, name, created, last_used: lastUsed, last_ip: address } = password;
  const toIso = (unix: number) => isoDate(textFromUnix(unix));
  const record = {
    uuid,
    // Plugins may have stored other values than texts.
    app_id: app_id === undefined ? undefined : String(app_id),
    name: String(name),
    created: toIso(Number(created) || 0),
    last_used: lastUsed ? toIso(Number(lastUsed)) : null,
    last_ip: address ? String(address) : null,
    ...(plainPassword === undefined ? {} : { password: groupedPassword(plainPassword) }),
  };
  const href = coreUrl(context, `users/${user}/application-passwords/${uuid}`);
  return {
    ...membersInView(record, view, { last_used: VIEW_AND_EDIT, last_ip: VIEW_AND_EDIT }),
    _links: { self: [{ href, targetHints: { allow: METHODS } }] },
  };
}
