import { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { withTimeout } from './timeout.ts';

/** Data of a finished request for a span. */
export interface TracedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly route?: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly memory?: string | undefined;
  /** The header `traceparent` (https://www.w3.org/TR/trace-context/), which makes the span a child of the caller's. */
  readonly traceparent: string | undefined;
}

/** Sends spans of requests to a collector. */
export interface Tracing {
  readonly record: (traced: TracedRequest) => void;
  /** Sends the remaining spans. Throws TimeoutError if the collector does not take them within this time. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

/** The package that sends spans; it is an optional dependency. */
const SDK = '@opentelemetry/sdk-node';
/** OpenTelemetry's variables that enable tracing. */
const TRACING_VARIABLES = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER'];

interface Sdk {
  readonly NodeSDK: new (options: {
    readonly serviceName?: string;
    readonly instrumentations: readonly never[];
  }) => {
    readonly start: () => void;
    readonly shutdown: () => Promise<void>;
  };
}

/**
 * Starts to send a span for each request if OpenTelemetry's variables name a destination; returns undefined otherwise.
 *
 * @param load loads the package
 * @throws Error if tracing is requested and the package is not installed
 */
export async function startTracing(
  env: Readonly<Record<string, string | undefined>>,
  load: () => Promise<Sdk> = loadSdk,
): Promise<Tracing | undefined> {
  if (env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none' || !TRACING_VARIABLES.some((name) => env[name]))
    return undefined;
  const { NodeSDK } = await load();
  const sdk = new NodeSDK({ ...(env.OTEL_SERVICE_NAME ? {} : { serviceName: 'fasti' }), instrumentations: [] });
  sdk.start();
  return { record: traceRequest, stop: (timeoutMs) => withTimeout(timeoutMs, sdk.shutdown()) };
}

async function loadSdk(): Promise<Sdk> {
  try {
    return (await import(SDK)) as Sdk;
  } catch (error) {
    throw new Error(`OpenTelemetry is wanted (OTEL_…), and ${SDK} is not installed: npm install --no-save --save-prod ${SDK}`, {
      cause: error,
    });
  }
}

/** Records a request according to OpenTelemetry's conventions for HTTP servers, without its query. */
export function traceRequest({ id, method, url, route, status, ms, memory, traceparent }: TracedRequest): void {
  const end = Date.now();
  const parent = traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
  const attributes = {
    'http.request.method': method,
    'http.response.status_code': status,
    'url.path': url.replace(/\?.*/s, ''),
    'fasti.request_id': id,
    ...(route === undefined ? {} : { 'http.route': route }),
    ...(memory === undefined ? {} : { 'fasti.memory': memory }),
  };
  const name = route === undefined ? method : `${method} ${route}`;
  const span = trace.getTracer('fasti').startSpan(name, { kind: SpanKind.SERVER, startTime: end - ms, attributes }, parent);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(end);
}
