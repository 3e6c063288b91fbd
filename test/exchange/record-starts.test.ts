import { expect, it } from '@jest/globals';
import { createStartIndex } from '../../src/exchange/items/record-starts.ts';
import { describeDatabases } from '../support/databases.ts';

describeDatabases('the index of starts', (open) => {
  it('is read again if reading it failed', async () => {
    const db = await open();
    let count = 0;
    const { find } = createStartIndex(async () => {
      count += 1;
      if (count === 1) throw new Error('busy');
      return [{ id: 7, startUtc: '2027-03-04 10:00:00' }];
    });
    await expect(find(db, '2027-03-04 10:00:00')).rejects.toThrow('busy');
    expect(await find(db, '2027-03-04 10:00:00')).toEqual([7]);
    expect([await find(db, '2027-03-05 10:00:00'), count]).toEqual([[], 2]);
  });
});
