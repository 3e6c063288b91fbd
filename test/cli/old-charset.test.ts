import { expect, it } from '@jest/globals';
import { describeMysql, runScript, urlOf } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { commandIn, temporaryFolder } from './command.ts';

describeMysql('a serialized value that an old WordPress wrote as UTF-8 into a column in latin1', (open) => {
  const uploads = temporaryFolder();

  it('is reported and not changed by fasti doctor --fix', async () => {
    const db = await loadSite(await open());
    await runScript(
      db,
      `ALTER TABLE wp_usermeta CONVERT TO CHARACTER SET latin1;
       INSERT INTO wp_usermeta (user_id, meta_key, meta_value)
       VALUES (1, 'x', CONVERT(CONVERT('a:1:{s:1:"t";s:6:"Città";}' USING binary) USING latin1))`,
    );
    const bytes = async () => (await db.rows<{ hex: string }>`SELECT HEX(meta_value) AS hex FROM {usermeta} WHERE meta_key = 'x'`)[0]?.hex;
    const before = await bytes();
    expect(Buffer.from(before ?? '', 'hex').toString()).toBe('a:1:{s:1:"t";s:6:"Città";}');
    const fasti = (...args: string[]) =>
      commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: uploads, LOG_LEVEL: 'silent', SHARED_WITH_WORDPRESS: 'off' })('doctor', ...args);
    const { findings } = JSON.parse((await fasti('--format=json')).out) as { findings: { name: string; fixable: boolean }[] };
    expect(findings.find(({ name }) => name === 'values-not-in-utf8')).toMatchObject({ examples: ['usermeta 1 x'], fixable: false });
    expect(findings.map(({ name }) => name)).not.toContain('values-mendable');
    await fasti('--fix', '--yes');
    expect(await bytes()).toBe(before);
  });
});
