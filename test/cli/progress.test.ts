import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import { askYesNo } from '../../src/cli/progress.ts';

const { exit } = process;
afterEach(() => {
  process.exit = exit;
});

/** Returns the answer to a question after a key is pressed. */
function answered(key: string, output = new PassThrough()): Promise<boolean> {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const answer = askYesNo('Lo ripariamo?', { yes: 'Sì', no: 'Preferisco di no' }, { input, output });
  input.write(key);
  return answer;
}

it.each([
  ['y', true],
  ['n', false],
  ['\r', false],
])('the key %j answers a question with %j', async (key, wanted) => {
  expect(await answered(key)).toBe(wanted);
});

it('a question offers its answers in the language of the question', async () => {
  const output = new PassThrough();
  await answered('n', output);
  const shown = String(output.read());
  expect([/\bSì/.test(shown), /Preferisco di no/.test(shown), /Yes/.test(shown)]).toEqual([true, true, false]);
});

it('Ctrl+C ends the command instead of answering the question', async () => {
  process.exit = ((code: number) => {
    throw new RangeError(`ended with ${code}`);
  }) as typeof process.exit;
  await expect(answered('\u0003')).rejects.toThrow('ended with 130');
});
