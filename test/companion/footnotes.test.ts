import { expect, it } from '@jest/globals';
import { describeRequests, expectBody, type UserName } from '../support/site-client.ts';

const EVENT = { title: 'Concert', start_date: '2030-05-01 20:00:00', end_date: '2030-05-01 22:00:00' };

describeRequests('footnotes of wp/v2', (ask) => {
  const footnotesAfter = async (footnotes: string, as: NonNullable<UserName>): Promise<string> => {
    const { id } = expectBody(await ask.post('/events', { ...EVENT, status: 'publish' }, as), 201);
    const body = { meta: { footnotes } };
    expectBody(await ask.send('PATCH', `/wp-json/wp/v2/tribe_events/${id}`, { as, body }));
    return (await ask.metaValues(id, 'footnotes')).join();
  };
  const NOTE = '[{"content":"See <a href=\\"https://example.org/50%20off\\">there</a>,  <script>x</script>caf\\u00e9","id":"a-1"}]';

  it('are stored as they are sent', async () => {
    expect(await footnotesAfter(NOTE, 'admin')).toBe(NOTE);
  });

  it('lose active content from users who may not write it', async () => {
    const written = '[{"id":"a-1","content":"See <a href=\\"https:\\/\\/example.org\\/50%20off\\">there<\\/a>,  xcaf\\u00e9"}]';
    expect(await footnotesAfter(NOTE, 'auth')).toBe(written);
    expect(await footnotesAfter('[{"content":"","id":"b"},{"content":"x"},5,{"content":"Y","id":"A B_1"}]', 'auth')).toBe(
      '[{"id":"ab_1","content":"Y"}]',
    );
    for (const invalid of ['no <b>JSON</b>', '5', '"x"', 'null']) expect(await footnotesAfter(invalid, 'auth')).toBe('');
  });
});
