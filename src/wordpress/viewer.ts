/** The user who sends a request, or an anonymous one. */
export interface Viewer {
  /** `users.ID`; 0 for an anonymous caller. */
  readonly id: number;
  readonly login: string;
  /** Returns whether the user's roles and own grants contain this primitive capability (`WP_User::has_cap`). */
  readonly can: (capability: string) => boolean;
  /** UUID of the application password that signed the request in. */
  readonly applicationPassword?: string;
}

export const ANONYMOUS: Viewer = { id: 0, login: '', can: () => false };
