import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { describeRequests } from './support/site-client.ts';

const page = readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8');
const statements = [...page.matchAll(/```sql\n([\s\S]*?)```/g)]
  .flatMap(([, block]) => block!.split(';'))
  .map((statement) => statement.trim())
  .filter((statement) => statement.startsWith('DELETE FROM wp_'));

describeRequests('the statements of docs/operating.md that remove Fasti', (ask) => {
  it("delete its options and metas, and nothing of WordPress's", async () => {
    await ask.create('/venues', { venue: 'Barn', external_id: 'barn' });
    await ask.options({ fasti_custom_fields: '[]', fastibase: 'another plugin' });
    const rowsOf = async () => {
      // Each write of the test increments the counter of changes.
      const { fasti_changes: _, postmeta = [], ...others } = await ask.allRows();
      return { options: await ask.db().from('options').select('option_name', 'option_value'), postmeta, others };
    };
    const before = await rowsOf();
    const isOwn = (row: unknown) => /"(option_name|meta_key)":"_?fasti_/.test(JSON.stringify(row));
    expect([before.options, before.postmeta].map((rows) => rows.some(isOwn))).toEqual([true, true]);
    await ask.writeRows(async (db) => {
      for (const statement of statements) await db.knex.raw(statement.replace('wp_', db.table('posts').replace(/posts$/, '')));
    });
    expect(await rowsOf()).toEqual({
      ...before,
      options: before.options.filter((row) => !isOwn(row)),
      postmeta: before.postmeta.filter((row) => !isOwn(row)),
    });
  });
});
