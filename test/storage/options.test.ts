import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { joinWriters } from '../../src/storage/journal/reported-changes.ts';
import { deleteOption, lockOption, readOptions, writeOption } from '../../src/storage/rows/options.ts';
import { asStored } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';

describeDatabases('options', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  it('are read in one query, without those that do not exist', async () => {
    await writeOption(db, 'home', asStored('https://example.org'));
    await writeOption(db, 'blogname', asStored(''));
    const before = db.queries();
    expect(await readOptions(db, ['home', 'blogname', 'none'])).toEqual(
      new Map([
        ['home', 'https://example.org'],
        ['blogname', ''],
      ]),
    );
    expect(await readOptions(db, [])).toEqual(new Map());
    expect(db.queries() - before).toBe(1);
  });

  it('keep their text unchanged, serialized or not', async () => {
    const text = 'a:1:{s:3:"caf";s:5:"café";}\n\\ \' "';
    await writeOption(db, 'raw', asStored(text));
    expect((await readOptions(db, ['raw'])).get('raw')).toBe(text);
  });

  it('keep the autoload of an existing option unless another is given', async () => {
    await writeOption(db, 'loaded', asStored('1'), 'off');
    await writeOption(db, 'loaded', asStored('2'));
    expect(await db.from('options').where('option_name', 'loaded').select('option_value', 'autoload')).toEqual([
      { option_value: '2', autoload: 'off' },
    ]);
    await writeOption(db, 'loaded', asStored('3'), 'on');
    expect(await db.from('options').where('option_name', 'loaded').pluck('autoload')).toEqual(['on']);
    await writeOption(db, 'unsaid', asStored('1'));
    expect(await db.from('options').where('option_name', 'unsaid').pluck('autoload')).toEqual(['auto']);
  });

  it('use up an id only for a new option', async () => {
    await writeOption(db, 'first', asStored('1'));
    for (const value of ['2', '3', '3', '4']) await writeOption(db, 'first', asStored(value), 'off');
    await writeOption(db, 'second', asStored('1'));
    const [first, second] = await db.from('options').whereIn('option_name', ['first', 'second']).orderBy('option_id').pluck('option_id');
    expect(second).toBe(first! + 1);
  });

  it.each(['there', 'absent'])('lose no concurrent change if the option is %s', async (name) => {
    if (name === 'there') await writeOption(db, name, asStored('x'));
    const members = Array.from({ length: 6 }, (_, at) => `m${at}`);
    const add = (member: string) =>
      db.transaction(async (tx) => {
        const stored = await lockOption(tx, name);
        await sleep(20);
        await writeOption(tx, name, asStored(`${stored} ${member}`));
        joinWriters(tx);
      });
    await Promise.all(members.map(add));
    expect((await readOptions(db, [name])).get(name)?.split(' ').sort()).toEqual([name === 'there' ? 'x' : '', ...members].sort());
  });

  it('can be deleted, even if they are absent', async () => {
    await writeOption(db, 'gone', asStored('1'));
    await deleteOption(db, 'gone');
    await deleteOption(db, 'gone');
    expect(await readOptions(db, ['gone'])).toEqual(new Map());
  });
});
