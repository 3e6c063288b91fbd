import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { withTimeout } from '../host/timeout.ts';
import { canUseIndex } from '../records/list-index.ts';
import type { Site } from '../site.ts';
import { dateFromUtc } from '../wordpress/time.ts';
import { checkHealth, type Lifecycle } from './health.ts';
import type { FinishedRequest, Observer } from './request-notes.ts';

/*
 * Metrics of the service, for Prometheus. Each process keeps its own; they are merged on request.
 */

/** The metrics of one process, as a worker sends them to the first process. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

export interface Metrics {
  /** Counts a finished request. */
  readonly observe: Observer;
  /** Returns all current metrics. */
  readonly collect: () => Promise<MetricValues>;
  /** Returns those that need no database, among them all that only grow. */
  readonly collectCounts: () => Promise<MetricValues>;
}

/** Creates the metrics of a site in this process. */
export function createMetrics(site: Site, lifecycle: Lifecycle, version: string): Metrics {
  const [counts, state] = [new Registry(), new Registry()];
  collectDefaultMetrics({ register: counts });
  measureDatabase(counts, site);
  measureState(state, site, lifecycle);
  new Gauge({
    name: 'fasti_build_info',
    help: 'The version that runs, as a label.',
    labelNames: ['version', 'node'],
    registers: [state],
    aggregator: 'first',
  }).set({ version, node: process.versions.node }, 1);
  new Gauge({ name: 'fasti_processes', help: 'How many processes serve.', registers: [state] }).set(1);
  return {
    observe: measureRequests(counts),
    collect: async () => {
      // Measuring the state may take seconds. Counts from before would replace later ones.
      const stateValues = await valuesIn(state);
      return [...(await valuesIn(counts)), ...stateValues];
    },
    collectCounts: () => valuesIn(counts),
  };
}

const valuesIn = async (registry: Registry): Promise<MetricValues> => (await registry.getMetricsAsJSON()) as unknown as MetricValues;

/** Renders the metrics of all processes in Prometheus's format. */
export const metricsPage = (parts: readonly MetricValues[]): Promise<string> => aggregated(parts).metrics();

const aggregated = (parts: readonly MetricValues[]): Registry =>
  AggregatorRegistry.aggregate(parts as unknown as Parameters<typeof AggregatorRegistry.aggregate>[0]);

/** Metric types whose values only grow. */
const CUMULATIVE_TYPES = new Set(['counter', 'histogram']);

/**
 * Returns the metrics of a process that only grow. Their last values are kept for a process that does not answer or has
 * ended, since Prometheus takes a falling sum for a restart of the service.
 */
export const cumulativeOf = (metrics: MetricValues): MetricValues => metrics.filter(({ type }) => CUMULATIVE_TYPES.has(String(type)));

/** Merges the metrics of several processes into one set. */
export const mergeMetrics = (parts: readonly MetricValues[]): MetricValues =>
  aggregated(parts).getMetricsAsArray() as unknown as MetricValues;

/** The `Content-Type` of `metricsPage`. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

// ------------------------------------------------------------------------------------------------- requests
/** Histogram buckets in seconds, from a cached answer to a search of the whole site. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Methods with their own label. Clients may invent methods, and each would create a series. */
const LABELLED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function measureRequests(registry: Registry): Observer {
  const registers = [registry];
  const requests = new Counter({
    name: 'fasti_http_requests_total',
    help: 'Requests that are over.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'fasti_http_request_duration_seconds',
    help: 'How long requests took, until the last byte was handed to the system.',
    labelNames: ['route'],
    buckets: BUCKETS,
    registers,
  });
  const bytes = new Counter({
    name: 'fasti_http_response_bytes_total',
    help: 'Bytes of bodies that were sent.',
    labelNames: ['route'],
    registers,
  });
  const memory = new Counter({
    name: 'fasti_memory_requests_total',
    help: 'Requests that memory could answer, by whether it did.',
    labelNames: ['result'],
    registers,
  });
  const aborted = new Counter({ name: 'fasti_http_requests_aborted_total', help: 'Requests whose client hung up.', registers });
  return (request: FinishedRequest) => {
    const route = request.route ?? 'none';
    requests.inc({ method: LABELLED_METHODS.has(request.method) ? request.method : 'other', route, status: request.status });
    seconds.observe({ route }, request.ms / 1000);
    bytes.inc({ route }, request.bytes);
    if (request.memory) memory.inc({ result: request.memory });
    if (!request.isComplete) aborted.inc();
  };
}

// ------------------------------------------------------------------------------------------------- state
/** Timeout for measurements that query the database, in milliseconds. */
const QUERY_TIMEOUT_MS = 1000;

function measureState(registry: Registry, site: Site, lifecycle: Lifecycle): void {
  let lastForeignWrite: number | undefined;
  site.journal.subscribe((entries) => {
    const foreignEntry = entries.findLast(({ kind, writer }) => kind !== 'all' && writer !== 'fasti');
    if (foreignEntry) lastForeignWrite = dateFromUtc(foreignEntry.at).getTime();
  });
  new Gauge({
    name: 'fasti_ready',
    help: 'Whether everything is well with a part: 1, or 0.',
    labelNames: ['part'],
    aggregator: 'min',
    registers: [registry],
    async collect() {
      const { reading, writing, uploads } = await checkHealth(site);
      this.set({ part: 'serving' }, Number(lifecycle.phase() === 'serving'));
      this.set({ part: 'reading' }, Number(reading === undefined));
      this.set({ part: 'writing' }, Number(writing === undefined));
      this.set({ part: 'uploads' }, Number(uploads === undefined));
    },
  });
  new Gauge({
    name: 'fasti_index_in_use',
    help: 'Whether lists of events are read from the index: 1, or 0.',
    aggregator: 'min',
    registers: [registry],
    async collect() {
      // The other metrics do not wait if the database does not answer. `fasti_ready` shows its fault.
      const isInUse = await withTimeout(QUERY_TIMEOUT_MS, isIndexInUse(site)).catch(() => undefined);
      if (isInUse !== undefined) this.set(Number(isInUse));
    },
  });
  new Gauge({
    name: 'fasti_foreign_write_age_seconds',
    help: 'Time since the last change that was not made by Fasti and was noticed since the start; absent before one was.',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.reset();
      if (lastForeignWrite !== undefined) this.set(Math.max(0, (site.clock().getTime() - lastForeignWrite) / 1000));
      else this.remove();
    },
  });
  new Gauge({
    name: 'fasti_journal_position',
    help: 'The number of the last change that this process knows of; absent before it has looked for changes.',
    aggregator: 'min',
    registers: [registry],
    collect() {
      const position = site.journal.position();
      if (position !== undefined) this.set(position);
      else this.remove();
    },
  });
}

async function isIndexInUse(site: Site): Promise<boolean> {
  return canUseIndex(site, { settings: await site.settings(), receivedAt: performance.now() });
}

function measureDatabase(registry: Registry, { db }: Site): void {
  new Gauge({
    name: 'fasti_database_connections',
    help: 'Connections by state; `waiting`: work that waits for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { used, idle, waiting } = db.driver.connections();
      this.set({ state: 'used' }, used);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  const queries = new Counter({
    name: 'fasti_database_queries_total',
    help: 'Statements, BEGIN and COMMIT among them.',
    registers: [registry],
    collect() {
      queries.reset();
      queries.inc(db.queries());
    },
  });
}
