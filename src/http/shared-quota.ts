/**
 * A resource that all callers of a process share, such as memory or connections, divided so that no caller locks out
 * the others: anonymous callers share one part, and every signed-in user has a part.
 */
export interface SharedQuota {
  /** Whether a user can take this much more. */
  readonly hasRoom: (user: User, amount: number) => boolean;
  /** Counts an amount that a user takes, or returns if it is negative. */
  readonly add: (user: User, amount: number) => void;
  /** Returns the amount taken in total and by anonymous callers, for the log. */
  readonly usage: () => { readonly size: number; readonly taken: number; readonly byStrangers: number };
}

/** The id of a user, 0 for all anonymous callers. */
type User = number;
const ANONYMOUS_USER: User = 0;

/** Limits for all callers together, for all anonymous callers together, and for one signed-in user. */
export interface QuotaLimits {
  readonly total: number;
  readonly anonymousTotal: number;
  readonly perUser: number;
}

/** Creates a quota of which nothing is taken. */
export function createSharedQuota({ total, anonymousTotal, perUser }: QuotaLimits): SharedQuota {
  /** Amount taken by user; users who hold nothing are removed. */
  const takenByUser = new Map<User, number>();
  const takenBy = (user: User): number => takenByUser.get(user) ?? 0;
  let totalTaken = 0;
  return {
    hasRoom: (user, amount) =>
      totalTaken + amount <= total && takenBy(user) + amount <= (user === ANONYMOUS_USER ? anonymousTotal : perUser),
    add: (user, amount) => {
      totalTaken += amount;
      const userTotal = takenBy(user) + amount;
      if (userTotal > 0) takenByUser.set(user, userTotal);
      else takenByUser.delete(user);
    },
    usage: () => ({ size: total, taken: totalTaken, byStrangers: takenBy(ANONYMOUS_USER) }),
  };
}
