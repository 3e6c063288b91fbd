/**
 * What all callers of a process share, memory or places, so that nobody keeps out the others: those who have not signed
 * in take a part of it together, and everybody who has takes a part alone.
 */
export interface Room {
  /** Whether a user can have so much more. */
  readonly has: (user: User, more: number) => boolean;
  /** Counts what a user takes, or gives back where it is less than 0. */
  readonly count: (user: User, more: number) => void;
  /** How much is taken, and how much of it by callers who have not signed in, for the log. */
  readonly state: () => { readonly size: number; readonly taken: number; readonly byStrangers: number };
}

/** The id of a user, 0 for all callers who have not signed in. */
type User = number;
const STRANGERS: User = 0;

/** How much everybody takes together, callers who have not signed in together, and one user who has. */
export interface RoomSizes {
  readonly all: number;
  readonly strangers: number;
  readonly each: number;
}

export function createRoom({ all, strangers, each }: RoomSizes): Room {
  /** What nobody takes is not in it. */
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
