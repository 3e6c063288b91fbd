import { expect, it } from '@jest/globals';
import { insertPost } from '../../src/storage/rows/posts.ts';
import { describeRequests, type Json, type UserName } from '../support/site-client.ts';

const SEARCH = '/wp-json/wp/v2/search';

describeRequests('wp/v2/search', (ask) => {
  const hits = async (query: string, as?: UserName): Promise<Json[]> =>
    (await ask.send('GET', `${SEARCH}?${query}`, as ? { as } : {})).body;
  const ids = async (query: string, as?: UserName) => (await hits(query, as)).map(({ id }) => id);

  it('finds events, posts and pages together', async () => {
    const found = await hits('per_page=100');
    expect(new Set(found.map(({ subtype }) => subtype))).toEqual(new Set(['tribe_events', 'post', 'page']));
    expect(found.find(({ id }) => id === 2)).toMatchObject({ url: 'http://127.0.0.1:8081/sample-page/', title: 'A page' });
  });
  it('lists title matches first', async () => {
    await ask.writeRows((db) => db.from('posts').where('ID', 81).update({ post_content: 'a concert', post_date: '2040-01-01 00:00:00' }));
    expect(await ids('search=concert')).toEqual([44, 39, 33, 81]);
  });
  it('never finds unpublished records for any caller', async () => {
    const { ID }: Json = (await ask.db().from('posts').where('post_status', 'draft').where('post_type', 'tribe_events').first()) ?? {};
    for (const as of [undefined, 'contrib', 'admin'] as const) expect(await ids(`include=${ID}`, as)).toEqual([]);
  });
  it.each(['', '&subtype=tribe_events', '&subtype=tribe_events,page'])(
    'hides texts of protected records from users who may not edit them%s',
    async (types) => {
      for (const words of ['secret+body', 'secret+excerpt']) {
        for (const as of [undefined, 'sub', 'contrib', 'auth'] as const) expect(await ids(`search=${words}${types}`, as)).toEqual([]);
        for (const as of ['ed', 'admin'] as const) expect(await ids(`search=${words}${types}`, as)).toEqual([73]);
      }
      // Excluding a hidden word must not reveal it either.
      expect(await ids(`search=protected+-secret${types}`, 'sub')).toEqual([73]);
      for (const words of ['opensesame', 'venuepass']) expect(await ids(`search=${words}${types}`, 'admin')).toEqual([]);
    },
  );
  it('does not order by texts of protected records', async () => {
    await ask.writeRows((db) =>
      db.from('posts').where('ID', 73).update({ post_title: 'run secret', post_content: 'zz', post_date: '1990-01-01 00:00:00' }),
    );
    const before = await ids('search=run+secret+zz', 'sub');
    await ask.writeRows((db) => db.from('posts').where('ID', 73).update({ post_content: 'run secret zz' }));
    expect(await ids('search=run+secret+zz', 'sub')).toEqual(before);
  });
  it('lists protected records if no words are searched for', async () => {
    for (const types of ['', '&subtype=tribe_events', '&subtype=tribe_events,page'])
      expect([types, (await ids(`per_page=100${types}`)).includes(73)]).toEqual([types, true]);
    expect((await ask.send('GET', SEARCH)).headers['x-wp-total']).toBe('48');
  });
  it.each([
    ['subtype=category', [1]],
    ['subtype=category,page', [2]],
    ['subtype=any,page&per_page=2', [2, 1]],
    ['type=term&subtype=post&search=jazz', [4]],
  ])('with %s finds %j', async (query, found) => expect(await ids(query)).toEqual(found));
  it('finds terms by name and slug', async () => {
    expect(await hits('type=term&subtype=tribe_events_cat&search=jazz')).toMatchObject([
      { id: 4, type: 'tribe_events_cat', url: 'http://127.0.0.1:8081/events/category/music/concerts/jazz/' },
    ]);
    expect((await hits('type=term&subtype=category')).map(({ url }) => url)).toEqual(['http://127.0.0.1:8081/category/uncategorized/']);
  });
  it('embeds the found records', async () => {
    const [event] = await hits('search=gala&subtype=tribe_events&_embed=1');
    expect(event._embedded.self).toMatchObject([{ id: 81, title: { rendered: '2031 gala' } }]);
    const [term] = await hits('type=term&search=jazz&_embed=self');
    expect(term._embedded.self).toMatchObject([{ id: 4, name: 'Jazz' }]);
  });
  it('has pages without gaps up to the last one', async () => {
    const all = await ids('per_page=100');
    const paged = (await Promise.all([1, 2, 3, 4, 5].map((page) => ids(`page=${page}`)))).flat();
    expect(paged).toEqual(all.slice(0, 50));
    expect(await ask.send('GET', `${SEARCH}?page=99`)).toMatchObject({ status: 400, body: { code: 'rest_search_invalid_page_number' } });
  });
});

describeRequests('order by relevance in wp/v2', (ask) => {
  const found = async (base: string, search: string, as?: UserName, order = 'desc'): Promise<string[]> => {
    const path = `/wp-json/wp/v2/${base}?search=${encodeURIComponent(search)}&orderby=relevance&order=${order}`;
    const { body } = await ask.send('GET', path, as ? { as } : {});
    return body.map(({ title }: Json) => title.rendered);
  };
  const TYPES = { posts: 'post', pages: 'page', media: 'attachment', tribe_venue: 'tribe_venue', tribe_organizer: 'tribe_organizer' };
  /** Adds records of a type, each a day newer than the one before. */
  const add = (type: string, texts: readonly (readonly [title: string, content: string, columns?: object])[]) =>
    ask.writeRows(async (db) => {
      for (const [place, [post_title, post_content, columns = {}]] of texts.entries()) {
        const date = `2025-01-0${place + 1} 10:00:00`;
        await insertPost(db, {
          post_author: 1, post_type: type, post_status: type === 'attachment' ? 'inherit' : 'publish', post_title, post_content,
          post_name: `${type}-${place}`, post_mime_type: type === 'attachment' ? 'image/png' : '', post_date: date, post_date_gmt: date, ...columns,
        }); // biome-ignore format: columns
      }
    });

  it.each(Object.entries(TYPES))('puts titles with the words before other texts: %s', async (base, type) => {
    await add(type, [
      ['Zither viola', ''],
      ['Zither', ''],
      ['Other', 'for zither viola'],
      ['The zither', 'and the viola'],
      ['Other two', 'viola and zither'],
      ['A viola with zither', ''],
    ]);
    expect(await found(base, 'zither')).toEqual(['A viola with zither', 'The zither', 'Zither', 'Zither viola', 'Other two', 'Other']);
    expect(await found(base, 'zither', undefined, 'asc')).toEqual([
      'Zither viola', 'Zither', 'The zither', 'A viola with zither', 'Other', 'Other two',
    ]); // biome-ignore format: one list
    // The phrase in a title, all words in it, one of them, and the phrase elsewhere.
    expect(await found(base, 'zither viola')).toEqual(['Zither viola', 'A viola with zither', 'The zither', 'Other', 'Other two']);
    expect(await found(base, 'zither -viola')).toEqual(['Zither']);
  });

  it('puts revisions with the words in their titles before others', async () => {
    const columns = { post_parent: 38, post_status: 'inherit' };
    await add('revision', [
      ['Zither', '', columns],
      ['Other', 'for zither', columns],
    ]);
    expect(await found('tribe_events/38/revisions', 'zither', 'admin')).toEqual(['Zither', 'Other']);
  });

  it('does not depend on texts that a password hides', async () => {
    // Of more than six words, only the whole phrase ranks, in whatever text it is.
    const phrase = 'alto bass cello drum flute harp lute';
    const turned = phrase.split(' ').toReversed().join(' ');
    await add('tribe_venue', [
      [`One ${turned}`, ''],
      [`Two ${turned}`, '', { post_password: 'x' }],
      [`Three ${turned}`, ''],
    ]);
    const write = (place: number, post_content: string) =>
      ask.writeRows((db) => db.from('posts').where('post_name', `tribe_venue-${place}`).update({ post_content }));
    const order = async () => (await found('tribe_venue', phrase, 'sub')).map((title) => /One|Two|Three/.exec(title)?.[0]);
    await write(1, phrase);
    expect(await order()).toEqual(['Three', 'Two', 'One']);
    await write(0, phrase);
    expect(await order()).toEqual(['One', 'Three', 'Two']);
  });
});
