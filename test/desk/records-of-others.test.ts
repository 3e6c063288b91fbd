import { expect, it } from '@jest/globals';
import { SUGGESTION_META, storedSuggestion } from '../../src/kinds/suggestion.ts';
import { openVisitor } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

/*
 * Lists at the desk also hold published records of other people. They show no more of these than the public does.
 */

const DATES = { start_date: '2027-03-04 20:30:00', end_date: '2027-03-04 23:00:00' };

describeRequests('records of other people in the lists of the desk', (ask) => {
  /** The cells and headings of the rows of a list. */
  const rowsFor = async (login: string, path: string): Promise<string> => {
    const { text } = await (await openVisitor(ask, login)).get(`/admin${path}?search=hidden`);
    return /<tbody>.*<\/tbody>/s.exec(text)?.[0].replace(/<(details|select)\b.*?<\/\1>/gs, '') ?? '';
  };
  const update = (id: number, columns: object) => ask.writeRows((db) => db.from('posts').where('ID', id).update(columns));

  it.each([
    ['/organizers', { organizer: 'Hidden choir', phone: '0141 4711', email: 'hidden@example.org' }, ['0141 4711', 'hidden@example.org']],
    ['/venues', { venue: 'Hidden barn', address: 'Via Nascosta 9', city: 'Nascostino' }, ['Via Nascosta 9', 'Nascostino']],
    [
      '/events',
      { title: 'Hidden night', ...DATES, venue: { venue: 'Secret mill' }, categories: ['Secret sort'] },
      ['Secret mill', 'Secret sort'],
    ],
  ] as const)('keep the parts that a password protects: %s', async (path, values, parts) => {
    const { id } = await ask.create(path, values);
    await update(id, { post_password: 'secret' });
    for (const login of ['contrib', 'auth', 'admin']) {
      const rows = await rowsFor(login, path);
      expect(rows).toMatch(/Hidden (choir|barn|night)/);
      for (const part of parts) expect([login, part, rows.includes(part)]).toEqual([login, part, login === 'admin']);
    }
    // The author of a record sees all of it.
    await update(id, { post_author: 3 });
    for (const part of parts) expect(await rowsFor('auth', path)).toContain(part);
  });

  it('do not name the people who suggested them', async () => {
    const { id } = await ask.create('/events', { title: 'Hidden night', ...DATES });
    const suggestion = { name: 'Zora Visitor', email: 'zora@example.org', note: '', venue: '', organizer: '' };
    await ask.writeRows((db) =>
      db.from('postmeta').insert({ post_id: id, meta_key: SUGGESTION_META, meta_value: storedSuggestion(suggestion) }),
    );
    for (const login of ['contrib', 'auth', 'admin']) {
      const rows = await rowsFor(login, '/events');
      expect(rows).toContain('Hidden night');
      expect([login, rows.includes('Zora Visitor')]).toEqual([login, login === 'admin']);
    }
  });
});
