/** For so long after the last probe somebody still counts on readiness. */
const FOLLOWED_MS = 30_000;
/** A few probes within less than this are somebody who waits for the start. */
const REPEATED_MS = 1000;

/** Who asks for readiness: a load balancer goes on asking, each time over a connection of its own. */
export interface Probes {
  /** To be called at each probe. */
  readonly note: () => void;
  /** Whether somebody asks again and again, and will see that readiness goes off. */
  readonly isFollowed: () => boolean;
}

/** Keeps in mind when readiness was asked for. `clock`: milliseconds of a clock that only goes forward. */
export function createProbes(clock: () => number = () => performance.now()): Probes {
  let series: { readonly first: number; readonly last: number } | undefined;
  const current = (now: number) => (series && now - series.last <= FOLLOWED_MS ? series : undefined);
  return {
    note: () => {
      const now = clock();
      series = { first: current(now)?.first ?? now, last: now };
    },
    isFollowed: () => {
      const known = current(clock());
      return known !== undefined && known.last - known.first >= REPEATED_MS;
    },
  };
}
