/** The service under attack: a process of the build, on SQLite with the sample calendar. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startService } from '../bench/service.mjs';
import { API, seed } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';

const MEGABYTE = 2 ** 20;

/**
 * Runs an attack on a service of its own and removes the service afterwards. `attack({base, host, port, authorization,
 * uploads, cpu, memory, peak})`: the folder of the library, milliseconds of processor time so far, and megabytes in
 * memory, now and at most since `peak.reset()`. Returns the result of the attack. `events`: number of events besides
 * the sample.
 */
export async function withTarget(attack, env = {}, events = 1) {
  const folder = scratchFolder('fasti-attack');
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}`,
    UPLOADS_DIR: join(folder, 'uploads'),
    LOG_LEVEL: 'silent',
    ...env,
  };
  try {
    const { authorization } = await seed(settings, events);
    const service = await startService(settings, API);
    const { hostname: host, port } = new URL(service.base);
    try {
      return await attack({ ...service, host, port: Number(port), authorization, uploads: settings.UPLOADS_DIR, ...memoryOf(service.pid) });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Megabytes in memory as counted by the system (Linux). */
function memoryOf(pid) {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) throw new Error('Memory is measured by /proc, which this system does not have.');
  const line = (name) => (Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(status, 'utf8'))?.[1]) * 1024) / MEGABYTE;
  // Writing 5 resets the peak to the present memory use (proc(5)).
  const peak = Object.assign(() => line('VmHWM'), { reset: () => writeFileSync(`/proc/${pid}/clear_refs`, '5') });
  return { memory: () => line('VmRSS'), peak };
}

/**
 * Opens a connection, writes to it and reads the answer at any time. `answer`: the status, or 0 for a connection that
 * ends without one.
 *
 * @param {readonly (string | Buffer)[]} pieces
 */
export function talk({ host, port }, pieces) {
  const socket = connect({ host, port });
  let text = '';
  const answer = new Promise((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (status !== undefined) resolve(Number(status));
    });
    socket.on('close', () => resolve(0));
    socket.on('error', () => resolve(0));
  });
  for (const piece of pieces) socket.write(piece);
  return { socket, answer };
}

/** The head of a request. */
export const head = (method, path, headers) =>
  `${[`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;
