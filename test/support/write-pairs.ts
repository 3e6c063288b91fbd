import { writeSync } from 'node:fs';
import { openDatabase } from '../../src/storage/engine/database.ts';

/*
 * A program that writes pairs of rows until it is killed, eight at a time, each pair in one transaction. It prints the
 * number of a pair once its transaction is acknowledged. Every fifth pair fails after its first row.
 */

const db = await openDatabase({ url: process.argv[2] ?? '', prefix: 'wp_' });
let lastPair = 0;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (;;) {
      lastPair += 1;
      const pair = String(lastPair);
      const fails = lastPair % 5 === 0;
      const row = { user_id: 77, meta_key: 'pair', meta_value: pair };
      const done = db.transaction(async (tx) => {
        await tx.from('usermeta').insert(row);
        if (fails) throw new RangeError(pair);
        await tx.from('usermeta').insert(row);
      });
      if (
        await done.then(
          () => true,
          () => false,
        )
      )
        writeSync(1, `${pair}\n`);
    }
  }),
);
