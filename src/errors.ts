/**
 * Every way a request can be refused, by name: the code that WordPress clients know and the HTTP status.
 * The sentence of each stands in `locales/<language>/problems.json` under the same name.
 */
export const problems = {
  rest_no_route: { status: 404 },
  rest_invalid_json: { status: 400 },
  rest_missing_callback_param: { status: 400 },
  rest_invalid_param: { status: 400 },
  rest_invalid_type: { status: 400 },
  rest_not_in_enum: { status: 400 },
  rest_callback_invalid: { status: 400 },
  rest_forbidden: { status: 403 },
  rest_cookie_invalid_nonce: { status: 403 },
  rest_disabled: { code: 'rest_no_route', status: 404 },
  rest_invalid_namespace: { code: 'rest_invalid_namespace', status: 404 },
  rest_taxonomy_not_hierarchical: { status: 400 },
  incorrect_password: { status: 401 },

  'rest-event-not-found': { status: 404 },
  'rest-invalid-event-id': { status: 400 },
  'event-no-longer-available': { status: 403 },
  'event-not-accessible': { status: 403 },
  'event-password-protected': { status: 403 },
  'event-is-in-trash': { status: 410 },
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
  term_exists: { status: 400 },
  duplicate_term_slug: { status: 400 },

  'edit-conflict': { code: 'rest_precondition_failed', status: 412 },
  'body-too-large': { code: 'rest_request_too_large', status: 413 },
  'upload-refused': { code: 'rest_upload_sideload_error', status: 400 },
  'upload-too-large': { code: 'rest_upload_file_too_big', status: 400 },
  'too-many-requests': { code: 'rest_too_many_requests', status: 429 },
  'database-unavailable': { code: 'rest_database_unavailable', status: 503 },
  'disk-full': { code: 'rest_insufficient_storage', status: 507 },
  internal_server_error: { status: 500 },
} as const satisfies Record<string, { code?: string; status: number }>;

export type ProblemName = keyof typeof problems;

/**
 * What is wrong with one parameter. `value`: the value itself (a WordPress `validate_callback`); `type` and `enum`: the declared
 * type or set (`rest_validate_value_from_schema`). `reason` names a sentence in `locales/<language>/reasons.json`.
 */
export type Fault = { stage: 'value'; reason?: string } | { stage: 'type'; type: string } | { stage: 'enum'; values: readonly string[] };

export interface ProblemDetails {
  /** Values for the sentence. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Faults by parameter, in the order of their declaration. */
  readonly faults?: ReadonlyMap<string, Fault>;
  /** Further members of the answer's `data`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Further members of the answer itself. */
  readonly besides?: Readonly<Record<string, unknown>>;
  /** A status other than the table's: 401 instead of 403 for an anonymous caller. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** A refusal that the caller is told about. Thrown by `fail` only. */
export class ApiError extends Error {
  readonly problem: ProblemName;
  readonly code: string;
  readonly status: number;
  readonly details: ProblemDetails;

  constructor(problem: ProblemName, details: ProblemDetails = {}) {
    super(problem, { cause: details.cause });
    const row: { code?: string; status: number } = problems[problem];
    this.problem = problem;
    this.code = row.code ?? problem;
    this.status = details.status ?? row.status;
    this.details = details;
  }
}

/** Refuses by name. Throws always. */
export function fail(problem: ProblemName, details: ProblemDetails = {}): never {
  throw new ApiError(problem, details);
}

/** Refuses one parameter: `rest_invalid_param` naming it. Throws always. */
export function failParam(name: string, fault: Fault = { stage: 'value' }): never {
  return fail('rest_invalid_param', { faults: new Map([[name, fault]]) });
}
