/** Clients that say what became of each request, for tests and scripts that take the service away under them. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Before another try where there was no connection. */
const PAUSE_MS = 20;

/**
 * Sends a request to this machine, on a connection of its own unless there is an agent. Gives the status of the answer;
 * `refused` where there was no connection; `reset` where there was one, and no answer came.
 */
export function ask({ port, path = '/', agent, method = 'GET', headers = {}, body }) {
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
 * Has so many clients send one request after the other, every second of them on a connection that it keeps. `next`
 * gives the request of a client's turn, without the port. Gives a function that ends them and gives how often a client
 * met which fate, by the client's number.
 */
export function keepAsking({ port, clients, next }) {
  let going = true;
  const fates = Array.from({ length: clients }, () => new Map());
  const client = async (met, number) => {
    const agent = number % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
    for (let turn = 0; going; turn += 1) {
      const fate = await ask({ port, agent, ...next(number, turn) });
      met.set(fate, (met.get(fate) ?? 0) + 1);
      if (fate === 'refused') await sleep(PAUSE_MS);
    }
    agent?.destroy();
  };
  const all = fates.map(client);
  return async () => {
    going = false;
    await Promise.all(all);
    return fates;
  };
}
