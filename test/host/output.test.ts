import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import { bufferOutput, fileOutput, streamOutput } from '../../src/host/output.ts';
import { smallDisk } from '../support/small-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-output-'));
const disk = smallDisk(64);
afterAll(() => {
  rmSync(folder, { recursive: true });
  disk?.remove();
});

const opened = (file: string, work: (descriptor: number) => void): void => {
  const descriptor = openSync(file, 'w');
  work(descriptor);
  closeSync(descriptor);
};

describe('log output', () => {
  it('reaches a reader in order', async () => {
    const stream = new PassThrough();
    const { write, waitUntilWritten: written } = streamOutput(stream);
    write('one\n');
    write('two\n');
    await written(1000);
    expect(String(stream.read())).toBe('one\ntwo\n');
  });

  it('drops lines if they are not read, and reports their number once reading resumes', async () => {
    const stream = new PassThrough();
    const { write, waitUntilWritten: written } = streamOutput(stream);
    const line = `${'x'.repeat(9999)}\n`;
    for (let count = 0; count < 1000; count += 1) write(line);
    // `written` does not wait forever.
    await written(10);
    let read = '';
    stream.on('data', (text: Buffer) => {
      read += text.toString();
    });
    await written(60_000);
    write('at last\n');
    await written(60_000);
    const lines = read.trimEnd().split('\n');
    const kept = lines.filter((one) => one.startsWith('x')).length;
    // About a megabyte waits for the reader.
    expect(kept).toBeGreaterThan(100);
    expect(kept).toBeLessThan(200);
    expect(JSON.parse(lines.at(-2)!)).toMatchObject({ dropped: 1000 - kept, msg: 'the log was not read' });
    expect(lines.at(-1)).toBe('at last');
  });

  it('does not fail or hang if the stream was destroyed', async () => {
    const stream = new PassThrough();
    const { write, waitUntilWritten: written } = streamOutput(stream);
    const gone = new Promise((resolve) => stream.once('close', resolve));
    stream.destroy(new Error('EPIPE'));
    await gone;
    expect(() => write('nobody\n')).not.toThrow();
    expect(await written(60_000)).toBeUndefined();
    expect(stream.read()).toBeNull();
  });

  it('gathers lines, and writes them immediately once an urgent line arrives', async () => {
    const written: string[] = [];
    const output = bufferOutput({ write: (lines) => written.push(lines), waitUntilWritten: async () => undefined });
    output.write('one\n');
    output.write('two\n');
    expect(written).toEqual([]);
    output.write('three\n', true);
    expect(written).toEqual(['one\ntwo\nthree\n']);
    output.write('four\n');
    while (written.length === 1) await new Promise((next) => setImmediate(next));
    output.write('x'.repeat(20_000));
    output.write('last\n');
    await output.waitUntilWritten(1000);
    expect(written.slice(1)).toEqual(['four\n', 'x'.repeat(20_000), 'last\n']);
  });

  it('is written to a file', async () => {
    const file = join(folder, 'log');
    opened(file, (descriptor) => fileOutput(descriptor).write('one\n'));
    expect(readFileSync(file, 'utf8')).toBe('one\n');
  });

  (disk ? it : it.skip)('says how many lines a full disk had no space for', () => {
    const file = join(disk!.folder, 'log');
    opened(file, (descriptor) => {
      const { write } = fileOutput(descriptor);
      const line = (number: number) => `${JSON.stringify({ number, text: 'è'.repeat(500) })}\n`;
      write('first\n');
      disk!.fill(4);
      for (let number = 0; number < 30; number += 3) write(line(number) + line(number + 1) + line(number + 2));
      disk!.free();
      write('second\n');
      disk!.fill();
      write('third\n');
      disk!.free();
      write('fourth\n');
    });
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const kept = lines.filter((text) => /^\{"number".*\}$/.test(text)).length;
    const [notice = ''] = lines.filter((text) => text.includes('dropped'));
    expect(kept).toBeGreaterThan(0);
    expect(JSON.parse(notice)).toMatchObject({ level: 'warn', dropped: 30 - kept, msg: 'the log could not be written' });
    expect(lines[lines.indexOf(notice) + 1]).toBe('second');
    expect(lines.at(-1)).toBe('fourth');
    // At most the line at which the disk was full is not complete.
    expect(lines.filter((text) => /^\{"number"/.test(text)).length - kept).toBeLessThanOrEqual(1);
  });

  (existsSync('/dev/full') ? it : it.skip)('does not fail if the disk is full', () =>
    opened('/dev/full', (descriptor) => {
      expect(() => writeSync(descriptor, 'one\n')).toThrow('ENOSPC');
      expect(() => fileOutput(descriptor).write('one\n')).not.toThrow();
    }),
  );
});
