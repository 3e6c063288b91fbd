import { addressKey } from '../accounts/attempts.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { createSharedQuota, type SharedQuota } from './shared-quota.ts';

/**
 * Share of all places that anonymous callers may hold together, so that they never lock out signed-in users. A single
 * signed-in user may hold as many.
 */
const CALLER_SHARE = 0.75;

/** The holder of a place: the id of a user, 0 if anonymous, and the client's address. */
export interface Holder {
  readonly user: number;
  readonly address: string;
}

/** A limited number of places in one process, such as for open streams or for waiting requests. */
export interface Places extends Pick<SharedQuota, 'usage'> {
  /** Whether there is room for this holder or, without one, for anybody. */
  readonly hasRoom: (holder?: Holder) => boolean;
  readonly take: (holder: Holder) => void;
  /** Returns a place that the holder has taken. */
  readonly release: (holder: Holder) => void;
}

/**
 * Creates `total` places, all of which are free. `perAddress`: places that anonymous callers at one address may hold
 * together, so that none takes the places of all others.
 */
export function createPlaces({ total, perAddress }: { readonly total: number; readonly perAddress: number }): Places {
  const share = Math.ceil(total * CALLER_SHARE);
  const quota = createSharedQuota({ total, anonymousTotal: share, perUser: share });
  /** Places taken by anonymous callers, by `addressKey`; addresses that hold none are removed. */
  const takenByAddress = new Map<string, number>();
  const takenAt = (key: string): number => takenByAddress.get(key) ?? 0;
  const add = ({ user, address }: Holder, amount: number): void => {
    quota.add(user, amount);
    if (user !== ANONYMOUS.id) return;
    const key = addressKey(address);
    const taken = takenAt(key) + amount;
    if (taken > 0) takenByAddress.set(key, taken);
    else takenByAddress.delete(key);
  };
  return {
    hasRoom: (holder) => {
      if (!holder) return quota.usage().taken < total;
      const { user, address } = holder;
      return quota.hasRoom(user, 1) && (user !== ANONYMOUS.id || takenAt(addressKey(address)) < perAddress);
    },
    take: (holder) => add(holder, 1),
    release: (holder) => add(holder, -1),
    usage: quota.usage,
  };
}
