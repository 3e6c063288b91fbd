/** For this long after the last probe, in milliseconds, a load balancer is assumed to rely on readiness. */
const MAX_PROBE_GAP_MS = 30_000;
/** Probes that all lie within this time, in milliseconds, come from a client that waits for the start. */
const MIN_SERIES_MS = 1000;

/** Tracks readiness probes. A load balancer keeps probing, each time over a separate connection. */
export interface Probes {
  /** Records a probe. */
  readonly record: () => void;
  /** Whether a load balancer keeps probing, and will notice when the process is not ready any more. */
  readonly isProbedRegularly: () => boolean;
}

/** Records the times of readiness probes. `clock`: milliseconds of a monotonic clock. */
export function createProbes(clock: () => number = () => performance.now()): Probes {
  let series: { readonly firstAt: number; readonly lastAt: number } | undefined;
  const currentSeries = (now: number) => (series && now - series.lastAt <= MAX_PROBE_GAP_MS ? series : undefined);
  return {
    record: () => {
      const now = clock();
      series = { firstAt: currentSeries(now)?.firstAt ?? now, lastAt: now };
    },
    isProbedRegularly: () => {
      const activeSeries = currentSeries(clock());
      return activeSeries !== undefined && activeSeries.lastAt - activeSeries.firstAt >= MIN_SERIES_MS;
    },
  };
}
