import { expect, it } from '@jest/globals';
import type { Io } from '../../src/cli/io.ts';
import { visitAddress } from '../../src/cli/listen-address.ts';
import { clearLine } from '../../src/cli/rate.ts';

it.each([
  ['127.0.0.1', 8080, 'http://localhost:8080'],
  ['0.0.0.0', 80, 'http://localhost'],
  ['192.168.1.5', 8080, 'http://192.168.1.5:8080'],
  ['192.168.1.5', 80, 'http://192.168.1.5'],
  ['fd00::5', 8080, 'http://[fd00::5]:8080'],
  ['192.168.1.5', 0, 'http://localhost'],
])('a server on %s and port %d is visited at %s', (host, port, address) => {
  expect(visitAddress({ host, port })).toBe(address);
});

it.each([
  [true, false, false],
  [false, true, true],
  [true, undefined, true],
])(
  'progress is shown if standard error is a terminal (standard output: %s, standard error: %s)',
  (isTerminal, isErrorTerminal, isShown) => {
    const shown: string[] = [];
    const io: Io = {
      ...{ env: {}, isTerminal, ...(isErrorTerminal === undefined ? {} : { isErrorTerminal }) },
      ...{ out: () => undefined, err: (text) => shown.push(text), serve: async () => undefined },
    };
    clearLine({ io });
    expect(shown.length > 0).toBe(isShown);
  },
);
