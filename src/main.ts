import { fork } from 'node:child_process';
import { on } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { failureCountsOf } from './accounts/attempts.ts';
import { type Config, readConfig } from './config/config.ts';
import { settingVariables } from './config/settings.ts';
import { exitWhenIdle, killSelf } from './host/ending.ts';
import { entryPointUrl } from './host/entry-point.ts';
import { readEnvironment, type Variables, variablesToPass } from './host/environment.ts';
import { standardOutput } from './host/output.ts';
import { closePort, handlePortErrors, listenAddressOf } from './host/port.ts';
import { SettingError } from './host/setting-error.ts';
import { startTracing, type Tracing } from './host/tracing.ts';
import { type MetricValues, metricsPage } from './http/metrics.ts';
import { metricsListener, openMetricsPort } from './http/metrics-server.ts';
import { type Service, type ServiceHost, startService } from './http/service.ts';
import { type FromWorker, manageWorkers, type ToWorker, WORKER_VARIABLE } from './http/workers.ts';
import { createLog, lostConnections } from './log.ts';
import { openLibrary } from './media/library.ts';
import { isObject } from './objects.ts';
import { type LoadedTheme, loadTheme } from './pages/theme.ts';
import { settingSentence } from './refusals.ts';
import { openSite, type Site } from './site.ts';
import { loadTexts, sayIn } from './texts.ts';

/**
 * Time for which connections are still accepted after the service was asked to end, in milliseconds, so that load
 * balancers notice.
 */
const NOTICE_MS = 2000;
/** Time for the last spans to be sent even if the time for answers is over, in milliseconds. */
const SPAN_FLUSH_MS = 1000;
/** Time for the last log lines to be read, in milliseconds. */
const LOG_FLUSH_MS = 1000;
/** Timeout of a worker's request for the metrics of all workers, in milliseconds. */
const METRICS_TIMEOUT_MS = 5000;

// By default, V8 lets the heap grow to four times its live size before a collection, which would keep a hundred
// megabytes of old answers. Twice the size costs little time.
setFlagsFromString('--heap-growing-percent=100');
// The date library works correctly only in this time zone.
process.env.TZ = 'UTC';
const isWorker = process.env[WORKER_VARIABLE] !== undefined && process.send !== undefined;
const { config, variables } = await readSettings();
const logOutput = standardOutput(config.logFormat);
const log = createLog(config, logOutput);
const shutdownMs = config.shutdownSeconds * 1000;
const tracing = await startTracingIfConfigured();
const noticeMs = Math.min(NOTICE_MS, shutdownMs / 2);
if (isWorker) await serveAsWorker(process.env[WORKER_VARIABLE] ?? '');
else {
  await checkUploads(config);
  if (config.workers > 1) serveByWorkers();
  else await serveAlone();
}

/** Serves from a single process that owns the port. */
async function serveAlone(): Promise<void> {
  const place = listenAddressOf(config, process.env);
  const open = (server: Server): void => {
    if (server.listening) return;
    handlePortErrors(server, { onRefused: reportPortError, onLost: lostConnections(log) });
    server.listen(place, () => log.info({ address: server.address() }, 'listening'));
  };
  const service = startService(
    await openConfiguredSite(config),
    await loadConfiguredTheme(config),
    { open, close: (server, deadline) => closePort(server, place, deadline), serviceLog: log, processLog: log, ...tracingObservers() },
    exitWithError,
  );
  const { metrics } = service;
  if (metrics) serveMetrics(async () => metricsPage([await metrics.collect()]));
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) killSelf(signal);
    stopping = true;
    service.announceShutdown();
    if (service.isWatched()) await sleep(noticeMs);
    const deadline = performance.now() + shutdownMs;
    await service.stop();
    await finish(signal, { deadline });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));
}

/**
 * Runs the first of several processes, which manages the workers. SIGHUP replaces them, except in a terminal, where it
 * means that the terminal was closed and ends them.
 */
function serveByWorkers(): void {
  let endSignal: NodeJS.Signals = 'SIGTERM';
  const onEnd = (code: number): void => void finish(endSignal, { code });
  const workerVariables = variablesToPass(process.env, variables, settingVariables);
  const workers = manageWorkers({
    count: config.workers,
    address: listenAddressOf(config, process.env),
    noticeMs,
    timeoutMs: shutdownMs,
    log,
    launch: (number) => fork(entryPointUrl('main'), { env: { ...workerVariables, [WORKER_VARIABLE]: String(number) } }),
    onEnd,
    onPortError: reportPortError,
  });
  serveMetrics(workers.metrics);
  const stop = (signal: NodeJS.Signals): void => {
    endSignal = signal;
    workers.stop();
  };
  const watched = process.stdin.isTTY || process.stdout.isTTY;
  process.on('SIGTERM', stop).on('SIGINT', stop);
  process.on('SIGHUP', watched ? stop : () => void workers.replace());
}

/** Runs a worker, which gets its connections from the first process. It ends when the first process does. */
async function serveAsWorker(number: string): Promise<void> {
  let end = async (): Promise<void> => killSelf('SIGTERM');
  process.once('disconnect', () => void end());
  // The first process may have ended while this one was loading.
  if (!process.connected) killSelf('SIGTERM');
  const silent = log.child({}, { level: 'silent' });
  const sendToPrimary = (word: FromWorker): Promise<void> =>
    new Promise((resolve) => {
      if (process.connected && process.send) process.send(word, undefined, undefined, () => resolve());
      else resolve();
    });
  const metrics = async (): Promise<string> => {
    void sendToPrimary('asks for metrics');
    for await (const [word] of on(process, 'message', { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) }))
      if (isObject(word) && 'metrics' in word) return String(word.metrics);
    throw new Error('the first process does not answer');
  };
  const logs = { serviceLog: number === '0' ? log : silent, processLog: silent };
  const host: ServiceHost = {
    open: receiveConnections(sendToPrimary),
    close: async () => undefined,
    ...logs,
    metrics,
    ...tracingObservers(),
  };
  const site = await openConfiguredSite(config);
  const failures = failureCountsOf(site);
  failures.onFailure((failed) => void sendToPrimary({ failed }));
  const service = startService(site, await loadConfiguredTheme(config), host, exitWithError);
  let ending: Promise<void> | undefined;
  // If the first process dies meanwhile, this one still answers its requests.
  end = () => {
    ending ??= endService(service, (measured) => sendToPrimary({ measured }));
    return ending;
  };
  process.on('message', (word: ToWorker) => {
    if (word === 'stopping') service.announceShutdown();
    if (word === 'end') void end();
    if (typeof word === 'object' && 'failed' in word) failures.addFailure(word.failed, site.clock());
    if (typeof word === 'object' && 'knownFailures' in word) failures.loadWindows(word.knownFailures);
    if (word === 'measure')
      void service.metrics?.collect().then(
        (measured) => sendToPrimary({ measured }),
        (err: unknown) => log.warn({ err }, 'the metrics could not be read'),
      );
  });
  // A terminal sends signals to the whole process group. The first process decides what to do.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void sendToPrimary('leaving'));
  process.on('SIGHUP', () => undefined);
}

/** Ends a worker. `report` gets the last counts of its metrics. */
async function endService(service: Service, report: (measured: MetricValues) => Promise<void>): Promise<void> {
  const deadline = performance.now() + shutdownMs;
  await service.stop();
  if (service.metrics) await report(await service.metrics.collectCounts());
  await finish('SIGTERM', { deadline });
}

/** Takes the connections that the first process sends, as if this process listened. */
function receiveConnections(sendToPrimary: (word: FromWorker) => Promise<void>): ServiceHost['open'] {
  let opened = false;
  return (server, state) => {
    if (!opened) {
      opened = true;
      // On this event, Node starts to enforce its request timeouts.
      server.emit('listening');
      process.on('message', (word: ToWorker, socket?: Socket) => {
        if (word !== 'connection') return;
        void sendToPrimary('taken');
        if (socket) server.emit('connection', socket);
      });
    }
    void sendToPrimary(state);
  };
}

/**
 * Starts tracing if it is configured. The first of several processes answers no requests, so it has nothing to trace.
 */
async function startTracingIfConfigured(): Promise<Tracing | undefined> {
  const answers = config.workers === 1 || isWorker;
  return answers ? startTracing(process.env).catch((error: unknown) => exitWithError(messageOf(error))) : undefined;
}

function tracingObservers(): Pick<ServiceHost, 'observers'> {
  return tracing ? { observers: [tracing.record] } : {};
}

/** Opens the port for metrics, if one is configured. */
function serveMetrics(read: () => Promise<string>): void {
  const { metricsPort: port, metricsToken: token, host } = config;
  if (port === undefined) return;
  const onRefused = (error: Error): never => exitWithError(`The metrics cannot be served on ${host}, port ${port}: ${error.message}`);
  openMetricsPort({ host, port }, metricsListener(token, read), {
    onOpen: (opened) => log.info({ port: opened }, 'serving metrics'),
    onRefused,
    onLost: lostConnections(log),
  });
}

/** Returns the settings, with the variables that they come from. */
async function readSettings(): Promise<{ readonly config: Config; readonly variables: Variables }> {
  try {
    const folder = process.env.FASTI_FOLDER || process.cwd();
    const { variables } = readEnvironment(process.env, folder, settingVariables);
    return { config: readConfig(variables), variables };
  } catch (error) {
    return exitWithError(await explained(error));
  }
}

/** Checks the uploads folder once for all workers, so that its faults are reported once. */
async function checkUploads({ uploadsDir }: Config): Promise<void> {
  try {
    await openLibrary(uploadsDir);
  } catch (error) {
    exitWithError(`UPLOADS_DIR is ${JSON.stringify(uploadsDir)}, where no files can be stored: ${messageOf(error)}`);
  }
}

async function openConfiguredSite(config: Config): Promise<Site> {
  try {
    return await openSite(config, { log });
  } catch (error) {
    return exitWithError(`The site cannot be opened: ${await explained(error)}`);
  }
}

async function loadConfiguredTheme({ themeDir }: Config): Promise<LoadedTheme> {
  try {
    return await loadTheme(themeDir);
  } catch (error) {
    return exitWithError(`THEME_DIR is ${JSON.stringify(themeDir)}, which cannot be used: ${messageOf(error)}`);
  }
}

/** Returns the message of an error; for a setting that cannot be used its sentence, in English like the log. */
async function explained(error: unknown): Promise<string> {
  return error instanceof SettingError ? settingSentence(sayIn(await loadTexts(['en']), 'en'), error) : messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Ends the process after all work is done, and leaves some time for its last spans to be sent and its log to be read.
 * `deadline`: the time of `performance.now()` until which it may serve.
 */
async function finish(signal: NodeJS.Signals, { code = 0, deadline = 0 }): Promise<void> {
  const timeoutMs = Math.max(SPAN_FLUSH_MS, deadline - performance.now());
  await tracing?.stop(timeoutMs).catch((err: unknown) => log.warn({ err }, 'the last spans could not be sent'));
  await logOutput.waitUntilWritten(LOG_FLUSH_MS);
  exitWhenIdle(signal, code);
}

function reportPortError(error: Error): never {
  return exitWithError(`The server cannot listen on ${config.host}, port ${config.port}: ${error.message}`);
}

function exitWithError(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
