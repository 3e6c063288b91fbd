/** Clients that report the result of each request, for tests and scripts that stop the service while clients use it. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Pause before another attempt after a refused connection. */
const PAUSE_MS = 20;

/**
 * Sends a request to this machine, on a new connection unless an agent is given. Resolves with the status of the
 * response, with `refused` if there was no connection, or with `reset` if a connection ended without a response.
 */
export function sendRequest({ port, path = '/', agent, method = 'GET', headers = {}, body }) {
  return new Promise((resolve) => {
    let connected = false;
    const sent = request({ host: '127.0.0.1', port, path, method, agent: agent ?? false, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
      answer.on('error', () => resolve('reset'));
    });
    sent.on('socket', (socket) => {
      connected = !socket.connecting;
      if (connected) return;
      socket.once('connect', () => {
        connected = true;
      });
    });
    sent.on('error', () => resolve(connected ? 'reset' : 'refused'));
    sent.end(body);
  });
}

/**
 * Lets this many clients send one request after the other, every second client on a kept connection. `next` returns the
 * request for a turn of a client, without the port; a client waits `pauseMs` before its next turn. Returns a function
 * that stops them and resolves with the number of requests per result, by the number of the client.
 */
export function requestContinuously({ port, clients, next, pauseMs = 0 }) {
  let going = true;
  const counts = Array.from({ length: clients }, () => new Map());
  const client = async (results, number) => {
    const agent = number % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
    for (let turn = 0; going; turn += 1) {
      const result = await sendRequest({ port, agent, ...next(number, turn) });
      results.set(result, (results.get(result) ?? 0) + 1);
      const pause = result === 'refused' ? PAUSE_MS : pauseMs;
      if (pause > 0) await sleep(pause);
    }
    agent?.destroy();
  };
  const all = counts.map(client);
  return async () => {
    going = false;
    await Promise.all(all);
    return counts;
  };
}
