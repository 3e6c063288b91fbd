import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { TimeoutError } from '../../src/host/timeout.ts';
import { startTracing, traceRequest } from '../../src/host/tracing.ts';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  propagation.disable();
});

const REQUEST = { id: 'a', method: 'GET', url: '/wp-json/x?password=secret', status: 200, ms: 12, traceparent: undefined };

it('traceRequest adds a span to the trace of the request, without the query of its URL', () => {
  exporter.reset();
  const [traceId, parentId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  traceRequest({ ...REQUEST, route: '/x/{id}', memory: 'hit', traceparent: `00-${traceId}-${parentId}-01` });
  const [span] = exporter.getFinishedSpans();
  expect(span).toMatchObject({ name: 'GET /x/{id}', parentSpanContext: { spanId: parentId } });
  expect(span?.spanContext().traceId).toBe(traceId);
  expect(span?.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/x/{id}',
    'url.path': '/wp-json/x',
    'fasti.request_id': 'a',
    'fasti.memory': 'hit',
  });
  expect(span!.duration[1]).toBeGreaterThanOrEqual(11_000_000);
});

it('traceRequest starts a new trace without a valid traceparent and marks server errors', () => {
  exporter.reset();
  traceRequest({ ...REQUEST, status: 503, traceparent: 'nonsense' });
  const [span] = exporter.getFinishedSpans();
  expect(span).toMatchObject({ name: 'GET', status: { code: SpanStatusCode.ERROR } });
  expect(span?.parentSpanContext).toBeUndefined();
});

it('the end waits for the collector only for the given time', async () => {
  class NodeSDK {
    start(): void {}
    shutdown(): Promise<void> {
      return new Promise(() => undefined);
    }
  }
  const tracing = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }, async () => ({ NodeSDK }));
  await expect(tracing?.stop(10)).rejects.toThrow(TimeoutError);
});

it('startTracing does nothing unless configured, and names a missing package', async () => {
  expect(await startTracing({})).toBeUndefined();
  expect(await startTracing({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).toBeUndefined();
  expect(await startTracing({ OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'otlp' })).toBeUndefined();
  await expect(startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).rejects.toThrow(
    '@opentelemetry/sdk-node is not installed',
  );
});
