/** Reasons why an operation on users or application passwords is refused. */
export type AccountProblem =
  | 'login-invalid'
  | 'login-taken'
  | 'email-invalid'
  | 'email-taken'
  | 'password-empty'
  | 'password-short'
  | 'password-long'
  | 'role-unknown'
  | 'user-unknown'
  | 'user-is-spam'
  | 'user-owns-posts'
  | 'reassign-to-self'
  | 'name-empty'
  | 'name-taken'
  | 'password-unknown';

/**
 * An error for the user of the command line. `problem` names it, `values` give the details; the message is one plain
 * line.
 */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  readonly problem: AccountProblem;
  readonly values: Readonly<Record<string, string | number>>;

  constructor(problem: AccountProblem, values: Readonly<Record<string, string | number>> = {}) {
    const parts = Object.entries(values).map(([key, value]) => `${key} ${value}`);
    super([problem.replaceAll('-', ' '), ...parts].join(', '));
    this.problem = problem;
    this.values = values;
  }
}
