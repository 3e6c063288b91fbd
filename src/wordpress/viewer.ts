/** Who asks: a user of the site, or nobody in particular. */
export interface Viewer {
  /** `users.ID`; 0 for an anonymous caller. */
  readonly id: number;
  readonly login: string;
  /** Whether the user's roles and own grants hold this primitive capability (`WP_User::has_cap`). */
  readonly can: (capability: string) => boolean;
  /** UUID of the application password that the request was signed in with. */
  readonly applicationPassword?: string;
}

export const ANONYMOUS: Viewer = { id: 0, login: '', can: () => false };
