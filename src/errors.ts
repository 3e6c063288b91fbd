/**
 * All errors of requests, by name: the code that WordPress clients know and the HTTP status. The message of each is in
 * `locales/<language>/problems.json` under the same name.
 */
export const problems = {
  rest_no_route: { status: 404 },
  rest_invalid_json: { status: 400 },
  rest_missing_callback_param: { status: 400 },
  rest_invalid_param: { status: 400 },
  rest_invalid_type: { status: 400 },
  rest_not_in_enum: { status: 400 },
  rest_callback_invalid: { status: 400, shape: 'bare' },
  rest_forbidden: { status: 403 },
  rest_cookie_invalid_nonce: { status: 403 },
  parse_path_failed: { status: 400 },
  'batch-not-allowed': { code: 'rest_batch_not_allowed', status: 400 },
  rest_invalid_namespace: { status: 404 },
  rest_taxonomy_not_hierarchical: { status: 400 },
  incorrect_password: { status: 401 },
  spammer_account: { status: 403 },
  'password-link-invalid': { code: 'rest_invalid_key', status: 403 },

  'rest-event-not-found': { status: 404 },
  'rest-invalid-event-id': { status: 400 },
  'event-no-longer-available': { status: 403 },
  'event-not-accessible': { status: 403 },
  'event-password-protected': { status: 403 },
  'event-is-in-trash': { status: 410 },
  'not-in-trash': { status: 409 },
  'status-changed': { status: 409 },
  'event-archive-page-not-found': { status: 404 },
  'venue-not-accessible': { status: 403 },
  'venue-is-in-trash': { status: 410 },
  'venue-archive-page-not-found': { status: 404 },
  'could-not-create-venue': { status: 400 },
  'organizer-not-accessible': { status: 403 },
  'organizer-is-in-trash': { status: 410 },
  'organizer-archive-page-not-found': { status: 404 },
  'could-not-create-organizer': { status: 400 },
  empty_content: { status: 400 },
  'title-without-text': { code: 'rest_invalid_param', status: 400 },
  empty_term_name: { status: 400 },
  invalid_term_name: { status: 400 },
  term_exists: { status: 400 },
  duplicate_term_slug: { status: 400 },

  // WordPress's own routes
  rest_not_logged_in: { status: 401 },
  rest_post_invalid_id: { status: 404 },
  rest_post_invalid_page_number: { status: 400 },
  rest_search_invalid_page_number: { status: 400 },
  rest_post_incorrect_password: { status: 403 },
  rest_post_exists: { status: 400 },
  rest_already_trashed: { status: 410 },
  rest_trash_not_supported: { status: 501 },
  rest_forbidden_context: { status: 403 },
  rest_forbidden_orderby: { status: 403 },
  rest_no_search_term_defined: { status: 400 },
  rest_orderby_include_missing_include: { status: 400 },
  rest_cannot_view: { status: 403 },
  rest_cannot_create: { status: 403 },
  rest_cannot_edit: { status: 403 },
  rest_cannot_edit_others: { status: 403 },
  rest_cannot_update: { status: 403 },
  rest_cannot_delete: { status: 403 },
  rest_cannot_publish: { status: 403 },
  rest_cannot_assign_term: { status: 403 },
  rest_cannot_read: { status: 403 },
  rest_post_invalid_parent: { status: 404 },
  rest_revision_parent_id_mismatch: { status: 404 },
  rest_revision_invalid_page_number: { status: 400 },
  rest_revision_invalid_offset_number: { status: 400 },
  rest_invalid_author: { status: 400 },
  rest_invalid_featured_media: { status: 400 },
  rest_term_invalid: { status: 404 },
  rest_type_invalid: { status: 404 },
  rest_taxonomy_invalid: { status: 404 },
  rest_user_invalid_id: { status: 404 },
  rest_user_cannot_view: { status: 403 },
  rest_forbidden_who: { status: 403 },
  rest_cannot_list_application_passwords: { status: 403 },
  rest_cannot_read_application_password: { status: 403 },
  rest_cannot_create_application_passwords: { status: 403 },
  rest_cannot_edit_application_password: { status: 403 },
  rest_cannot_delete_application_password: { status: 403 },
  rest_cannot_delete_application_passwords: { status: 403 },
  rest_cannot_introspect_app_password_for_non_authenticated_user: { status: 403 },
  rest_no_authenticated_app_password: { status: 404 },
  rest_application_password_not_found: { status: 404 },
  application_password_duplicate_name: { status: 409 },
  'too-many-passwords': { code: 'rest_too_many_application_passwords', status: 400 },
  rest_upload_no_data: { status: 400 },
  rest_upload_no_content_type: { status: 400 },
  rest_upload_no_content_disposition: { status: 400 },
  rest_upload_invalid_disposition: { status: 400 },
  rest_upload_hash_mismatch: { status: 412 },
  'people-are-read-only': { code: 'rest_not_implemented', status: 501 },

  // The calendar's newer routes
  missing_experimental_endpoint_acknowledgement: { status: 400 },
  'tec-page-not-found': { code: 'tec_rest_organizers_page_not_found', status: 404, shape: 'bare' },
  'tec-record-unreadable': { code: 'tec_rest_entity_not_found', status: 404, shape: 'error' },
  'tec-record-in-trash': { code: 'tec_rest_entity_trashed', status: 410, shape: 'error' },

  // Sites of a network that WordPress serves no longer, or not yet
  'site-deleted': { code: 'wp_die', status: 410 },
  'site-suspended': { code: 'wp_die', status: 410 },
  'site-inactive': { code: 'wp_die', status: 500 },

  'edit-conflict': { code: 'rest_precondition_failed', status: 412 },
  'idempotency-key-invalid': { code: 'rest_idempotency_key_invalid', status: 400 },
  'idempotency-key-reused': { code: 'rest_idempotency_key_reused', status: 422 },
  'recurring-event-dates': { code: 'rest_recurring_event_dates', status: 409 },
  'event-takes-place-once': { code: 'rest_recurring_event_dates', status: 409 },
  'recurring-event-date-kept': { code: 'rest_recurring_event_date', status: 409 },
  'webhook-not-found': { code: 'rest_webhook_not_found', status: 404 },
  'changes-token-expired': { code: 'rest_changes_token_expired', status: 410 },
  'language-taken': { status: 400 },
  'translation-conflict': { status: 409 },
  'text-too-long': { code: 'rest_text_too_long', status: 413 },
  'term-shared': { status: 409 },
  'text-not-storable': { code: 'rest_text_not_storable', status: 400 },
  'form-not-utf8': { code: 'rest_invalid_encoding', status: 400 },
  'address-not-encoded': { code: 'rest_invalid_encoding', status: 400 },
  'request-under-way': { code: 'rest_request_under_way', status: 409, retryAfter: 1 },
  'request-aborted': { code: 'rest_request_aborted', status: 400 },
  'several-hosts': { code: 'rest_invalid_host', status: 400 },
  'body-too-large': { code: 'rest_request_too_large', status: 413 },
  'body-too-complex': { code: 'rest_request_too_large', status: 413 },
  'upload-refused': { code: 'rest_upload_unknown_error', status: 500 },
  'raw-upload-refused': { code: 'rest_upload_sideload_error', status: 500 },
  'too-many-requests': { code: 'rest_too_many_requests', status: 429, retryAfter: 30 },
  // An editor has to look at the suggestions first.
  'suggestions-full': { code: 'rest_suggestions_full', status: 429, retryAfter: 86_400 },
  'server-busy': { code: 'rest_server_busy', status: 503, retryAfter: 2 },
  'database-unavailable': { code: 'rest_database_unavailable', status: 503, retryAfter: 2 },
  'uploads-unavailable': { code: 'rest_uploads_unavailable', status: 503, retryAfter: 2 },
  // A write that may have succeeded must not be repeated.
  'write-uncertain': { code: 'rest_write_uncertain', status: 503 },
  'disk-full': { code: 'rest_insufficient_storage', status: 507 },
  internal_server_error: { status: 500 },
} as const satisfies Record<string, Problem>;

/**
 * `shape`: the form of the answer if it is not WordPress's usual one; `bare`: without `data`; `error`: only the
 * message, as `{error}`. `retryAfter`: seconds after which the same request may succeed; absent if repeating it does
 * not help.
 */
interface Problem {
  readonly code?: string;
  readonly status: number;
  readonly shape?: 'bare' | 'error';
  readonly retryAfter?: number;
}

export type ProblemName = keyof typeof problems;

/**
 * A fault of one parameter. `value`: the value itself (a WordPress `validate_callback`); `type` and `enum`: the
 * declared type or set (`rest_validate_value_from_schema`). `reason` names a sentence in
 * `locales/<language>/reasons.json`.
 */
export type Fault =
  | { stage: 'value'; reason?: string; values?: Readonly<Record<string, string>> }
  | { stage: 'type'; type: string }
  | { stage: 'enum'; values: readonly string[] }
  | SchemaFault;

/**
 * A violated rule of the parameter's schema, with its code (`rest_out_of_bounds`). `answerData`: the additional data in
 * the answer: none, the parameter's name, the position of a member of a list, the position of one of several
 * alternatives, a status, or the status with the name, as on the calendar's newer routes.
 */
export interface SchemaFault {
  readonly stage: 'schema';
  readonly code: string;
  readonly reason: string;
  /** Values for the sentence; a list is written out in words. */
  readonly values?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly answerData?: 'param' | 'argument' | { readonly item: number } | { readonly position: number } | { readonly status: number };
}

/** A refused value, as it may be shown to its sender. */
export interface SentValue {
  /** The value, shortened; undefined if it is a secret. */
  readonly text: string | undefined;
  /** The reason for refusing a value by the parameter's grammar: a sentence in `reasons.json`, and values for it. */
  readonly reason: string;
  readonly values: Readonly<Record<string, string>>;
  /** A value that would be accepted. */
  readonly example: string;
}

/** Details of a failure, for the log. It contains no secrets, and no text from the caller. */
export type LogDetail = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ProblemDetails {
  /** Values for the sentence. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Faults by parameter, in the order of their declaration. */
  readonly faults?: ReadonlyMap<string, Fault>;
  /** The values sent for these parameters. */
  readonly sentValues?: ReadonlyMap<string, SentValue>;
  /** Additional members of the answer's `data`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Additional members of the answer itself. */
  readonly extraMembers?: Readonly<Record<string, unknown>>;
  /** A status that replaces that of the table: 401 instead of 403 for an anonymous caller. */
  readonly status?: number;
  /** Set if the caller lacks the permission. The method is then missing in `Allow`. */
  readonly notAllowed?: boolean;
  readonly cause?: unknown;
  /** Details for the log only. */
  readonly detail?: LogDetail;
}

/**
 * An error that is sent to the caller. Thrown by `fail`, `refuse` and `failParam`; some errors are created to be sent
 * without being thrown.
 */
export class ApiError extends Error {
  readonly problem: ProblemName;
  readonly code: string;
  readonly status: number;
  readonly shape: 'bare' | 'error' | undefined;
  readonly retryAfter: number | undefined;
  readonly details: ProblemDetails;

  constructor(problem: ProblemName, details: ProblemDetails = {}) {
    super(problem, { cause: details.cause });
    const row: Problem = problems[problem];
    this.problem = problem;
    this.code = row.code ?? problem;
    this.status = details.status ?? row.status;
    this.shape = row.shape;
    this.retryAfter = row.retryAfter;
    this.details = details;
  }
}

/** Throws an error by name. */
export function fail(problem: ProblemName, details: ProblemDetails = {}): never {
  throw new ApiError(problem, details);
}

/** Whether something is allowed; a refusal may name the error. */
export type Verdict = boolean | ProblemName;

/**
 * Returns the status of a refusal for lack of permission: an anonymous viewer (id 0) gets 401, as a request to sign in.
 */
export const forbiddenStatus = ({ id }: { readonly id: number }): 401 | 403 => (id === 0 ? 401 : 403);

/** Throws an error by name if a viewer lacks permission, or may not know of the record. */
export function refuse(viewer: { readonly id: number }, problem: ProblemName = 'rest_forbidden', details: ProblemDetails = {}): never {
  return fail(problem, problems[problem].status === 403 ? { status: forbiddenStatus(viewer), ...details } : details);
}

/** Throws `rest_invalid_param` for one parameter, with the name of a reason or a violated rule of a schema. */
export function failParam(name: string, reason: string | SchemaFault): never {
  return fail('rest_invalid_param', { faults: new Map([[name, typeof reason === 'string' ? { stage: 'value', reason } : reason]]) });
}
