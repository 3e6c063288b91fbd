/**
 * A resource that all callers of a process share, such as memory or connections, divided so that no caller locks out
 * the others: anonymous callers share one part, and every signed-in user has a part.
 */
export interface Room {
  /** Whether a user can take this much more. */
  readonly has: (user: User, more: number) => boolean;
  /** Counts an amount that a user takes, or returns if it is negative. */
  readonly count: (user: User, more: number) => void;
  /** Returns the amount taken in total and by anonymous callers, for the log. */
  readonly state: () => { readonly size: number; readonly taken: number; readonly byStrangers: number };
}

/** The id of a user, 0 for all anonymous callers. */
type User = number;
const STRANGERS: User = 0;

/** Limits for all callers together, for all anonymous callers together, and for one signed-in user. */
export interface RoomSizes {
  readonly all: number;
  readonly strangers: number;
  readonly each: number;
}

export function createRoom({ all, strangers, each }: RoomSizes): Room {
  /** Amount taken by user; users who hold nothing are removed. */
  const takers = new Map<User, number>();
  const takenBy = (user: User): number => takers.get(user) ?? 0;
  let taken = 0;
  return {
    has: (user, more) => taken + more <= all && takenBy(user) + more <= (user === STRANGERS ? strangers : each),
    count: (user, more) => {
      taken += more;
      const own = takenBy(user) + more;
      if (own > 0) takers.set(user, own);
      else takers.delete(user);
    },
    state: () => ({ size: all, taken, byStrangers: takenBy(STRANGERS) }),
  };
}
