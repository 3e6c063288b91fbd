import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { loadViewer } from '../src/accounts/viewer.ts';
import { newRecord } from '../src/kinds/grammars/links.ts';
import { postKind } from '../src/kinds/index.ts';
import { prepareUpload } from '../src/media/images.ts';
import { callerFor } from '../src/records/caller.ts';
import { changePost, createPost } from '../src/records/writes/post-writes.ts';
import { withImageCleanup } from '../src/records/writes/prepared-images.ts';
import { DatabaseUnavailable } from '../src/storage/engine/database.ts';
import { runScript } from './support/databases.ts';
import type { Answer } from './support/running-site.ts';
import { describeRequests, describeTwoInstances, expectBody, type Json, ROOT } from './support/site-client.ts';

/*
 * A request is one transaction: it is carried out completely or not at all, even if the database fails in the middle;
 * and concurrent requests, through the connections of two processes, never create duplicates.
 */

const EVENT = { title: 'Whole', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const FULL = {
  ...EVENT,
  venue: [{ venue: 'New venue', city: 'Asti' }],
  organizer: [{ organizer: 'New organizer' }],
  categories: ['New category'],
  tags: ['New tag', 13],
  image: 10,
  cost: '5',
  featured: true,
};

/** SQL of a trigger that makes the database refuse the next write of a kind to a table. */
const trigger = (engine: string, operation: string, table: string) =>
  engine === 'MySQL'
    ? `CREATE TRIGGER failing BEFORE ${operation} ON wp_${table} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'`
    : `CREATE TRIGGER failing BEFORE ${operation} ON wp_${table} BEGIN SELECT RAISE(ABORT, 'no'); END`;

describeRequests('a request that fails in the middle', (ask, engine) => {
  /** Sends a request while the database refuses a write; checks that no row has changed. */
  async function expectNothing(operation: string, table: string, work: () => Promise<Answer>): Promise<void> {
    const before = await ask.allRows();
    await runScript(ask.db(), trigger(engine, operation, table));
    try {
      const answer = await work();
      expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 500, code: 'internal_server_error' });
      expect(answer.text).not.toMatch(/trigger|failing|SQL|wp_/i);
    } finally {
      await runScript(ask.db(), 'DROP TRIGGER failing');
    }
    expect(await ask.allRows()).toEqual(before);
  }

  it.each([
    ['INSERT', 'posts'],
    ['INSERT', 'postmeta'],
    ['INSERT', 'terms'],
    ['INSERT', 'term_taxonomy'],
    ['UPDATE', 'term_taxonomy'],
    ['INSERT', 'term_relationships'],
    ['INSERT', 'tec_events'],
    ['INSERT', 'tec_occurrences'],
    ['UPDATE', 'fasti_changes'],
  ])('leaves no rows of a new event when %s on %s fails', (operation, table) =>
    expectNothing(operation, table, () => ask.post('/events', FULL)),
  );
  it.each([
    ['UPDATE', 'posts'],
    ['INSERT', 'postmeta'],
    ['UPDATE', 'postmeta'],
    ['INSERT', 'terms'],
    ['DELETE', 'term_relationships'],
    ['INSERT', 'term_relationships'],
    ['UPDATE', 'term_taxonomy'],
    ['UPDATE', 'tec_events'],
    ['UPDATE', 'tec_occurrences'],
    ['UPDATE', 'fasti_changes'],
  ])('leaves an event as it was when %s on %s fails', (operation, table) =>
    expectNothing(operation, table, () => ask.patch('/events/38', { ...FULL, title: 'Changed' })),
  );
  it.each([
    ['UPDATE', 'posts'],
    ['INSERT', 'postmeta'],
    ['UPDATE', 'term_taxonomy'],
    ['UPDATE', 'fasti_changes'],
  ])('does not put an event into the trash when %s on %s fails', (operation, table) =>
    expectNothing(operation, table, () => ask.del('/events/38')),
  );
  it.each([
    ['INSERT', 'postmeta'],
    ['UPDATE', 'fasti_changes'],
  ])('leaves no rows of a new venue or organizer when %s on %s fails', async (operation, table) => {
    await expectNothing(operation, table, () => ask.post('/venues', { venue: 'New', city: 'Asti' }));
    await expectNothing(operation, table, () => ask.post('/organizers', { organizer: 'New', phone: '1' }));
  });
  it.each([
    ['DELETE', 'term_relationships'],
    ['DELETE', 'term_taxonomy'],
    ['DELETE', 'terms'],
    ['UPDATE', 'fasti_changes'],
  ])('leaves a term as it was when %s on %s fails', (operation, table) => expectNothing(operation, table, () => ask.del('/categories/3')));
  it('leaves no rows of a term that gets no place in a taxonomy', () =>
    expectNothing('INSERT', 'term_taxonomy', () => ask.post('/tags', { name: 'Half' })));

  const event = postKind('event');
  const writing = async () => {
    const { site } = ask.running();
    const settings = await site.settings();
    const caller = callerFor(site, settings, (await loadViewer(site.db, settings, 1))!, { language: 'en' });
    const bytes = await readFile(new URL('fixtures/uploads/2026/11/wide.png', import.meta.url));
    const files = () => readdirSync(site.config.uploadsDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.png'));
    return { site, caller, bytes, files };
  };

  it('removes the files of an image', async () => {
    const { site, caller, bytes, files } = await writing();
    const before = await ask.allRows();

    for (const write of [
      (image: unknown) => withImageCleanup(site, { image }, (own) => createPost(own, caller, event, { ...EVENT, image })),
      (image: unknown) => {
        const venue = [newRecord(postKind('venue'), { venue: 'With a picture', image })];
        return withImageCleanup(site, { venue }, (own) => createPost(own, caller, event, { ...EVENT, venue }));
      },
      (image: unknown) => withImageCleanup(site, { image }, (own) => changePost(own, caller, event, 38, { image })),
    ]) {
      const image = await prepareUpload(site, caller, { bytes, name: 'picture.png' });
      expect(files().length).toBeGreaterThan(1);
      await runScript(ask.db(), trigger(engine, 'UPDATE', 'fasti_changes'));
      const outcome = await write(image).then(
        () => 'written',
        () => 'failed',
      );
      await runScript(ask.db(), 'DROP TRIGGER failing');
      expect(outcome).toBe('failed');
      expect(files()).toEqual([]);
      expect(await ask.allRows()).toEqual(before);
    }
    const image = await prepareUpload(site, caller, { bytes, name: 'picture.png' });
    const { record } = await createPost(site, caller, event, { ...EVENT, image });
    expect(record.image).toMatchObject({ extension: 'png', width: 1200 });
    expect(files().length).toBeGreaterThan(1);
  });

  it.each([
    ['nobody knows whether they were', new DatabaseUnavailable('uncertain')],
    ['what comes after them fails', new Error('afterwards')],
  ])('keeps the files of an image whose rows were written, if %s', async (_, error) => {
    const { site, caller, bytes, files } = await writing();
    const before = files().length;
    const image = await prepareUpload(site, caller, { bytes, name: 'kept.png' });
    const work = withImageCleanup(site, { image }, async (own) => {
      await createPost(own, caller, event, { ...EVENT, image });
      throw error;
    });
    await expect(work).rejects.toThrow(error.message);
    expect(files().length).toBe(before + image!.files.length);
  });
});

const CLIENTS = 32;

describeTwoInstances('concurrent requests to two instances', ({ db, sites }) => {
  /** Sends this many requests at once, alternating between the instances. */
  const atOnce = (request: (index: number) => readonly [method: string, path: string, body: object | null]): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: CLIENTS }, (_, index) => {
        const [method, path, body] = request(index);
        return sites()[index % sites().length]!.send(method, ROOT + path, { as: 'admin', body });
      }),
    );
  const made = (answers: Answer[]): Json[] => answers.map((answer) => expectBody(answer, 201));
  const suffixed = (slug: string) => Array.from({ length: CLIENTS }, (_, index) => (index === 0 ? slug : `${slug}-${index + 1}`)).sort();
  /** Compares the stored counts of all terms with the correct ones. */
  async function expectCountsExact(): Promise<void> {
    const stored = await db().from('term_taxonomy').whereIn('taxonomy', ['tribe_events_cat', 'post_tag']).orderBy('term_taxonomy_id');
    const links = await db()
      .knex({ r: db().table('term_relationships') })
      .join({ p: db().table('posts') }, 'p.ID', 'r.object_id')
      .where('p.post_status', 'publish')
      .select('r.term_taxonomy_id as id');
    const counts = stored.map(({ term_taxonomy_id: id, count }) => ({ id, count }));
    expect(counts).toEqual(counts.map(({ id }) => ({ id, count: links.filter((link: { id: number }) => link.id === id).length })));
  }

  it('give events of the same title different slugs', async () => {
    const events = made(await atOnce(() => ['POST', '/events', { ...EVENT, title: 'Everybody at once' }]));
    expect(events.map(({ slug }) => slug).sort()).toEqual(suffixed('everybody-at-once'));
    expect(new Set(events.map(({ id }) => id)).size).toBe(CLIENTS);
    const occurrences = await db().from('tec_occurrences').where('post_id', '>', 92);
    expect(new Set(occurrences.map((row) => row.post_id)).size).toBe(CLIENTS);
    expect(occurrences).toHaveLength(CLIENTS);
  });
  it('give events that ask for the same slug different ones', async () => {
    const events = made(await atOnce((index) => ['POST', '/events', { ...EVENT, title: `Number ${index}`, slug: 'wanted' }]));
    expect(events.map(({ slug }) => slug).sort()).toEqual(suffixed('wanted'));
  });
  it('give events that change to the same slug different ones', async () => {
    const events = made(await atOnce((index) => ['POST', '/events', { ...EVENT, title: `Number ${index}` }]));
    const changed = (await atOnce((index) => ['PATCH', `/events/${events[index].id}`, { slug: 'wanted' }])).map((answer) =>
      expectBody(answer),
    );
    expect(changed.map(({ slug }) => slug).sort()).toEqual(suffixed('wanted'));
  });

  it.each([
    ['/venues', { venue: 'One hall' }, 'tribe_venue'],
    ['/organizers', { organizer: 'One club' }, 'tribe_organizer'],
  ])('create one record of %s', async (path, body, post_type) => {
    const records = made(await atOnce((index) => ['POST', path, { ...body, phone: String(index) }]));
    expect(new Set(records.map(({ id }) => id)).size).toBe(1);
    expect(
      await db()
        .from('posts')
        .where({ post_type, post_title: String(Object.values(body)[0]) }),
    ).toHaveLength(1);
    expect(
      await db()
        .from('postmeta')
        .where({ post_id: records[0].id, meta_key: post_type === 'tribe_venue' ? '_VenuePhone' : '_OrganizerPhone' }),
    ).toHaveLength(1);
  });
  it('create one venue and one organizer for all events that contain them', async () => {
    const events = made(
      await atOnce((index) => [
        'POST',
        '/events',
        { ...EVENT, title: `Number ${index}`, venue: { venue: 'One hall' }, organizer: [{ organizer: 'One club' }] },
      ]),
    );
    expect(new Set(events.map(({ venue }) => venue.id)).size).toBe(1);
    expect(new Set(events.map(({ organizer }) => organizer[0].id)).size).toBe(1);
    expect(await db().from('posts').where('post_title', 'One hall')).toHaveLength(1);
    expect(await db().from('posts').where('post_title', 'One club')).toHaveLength(1);
  });

  it.each(['/categories', '/tags'])('create one term of %s and refuse the others', async (path) => {
    const answers = await atOnce((index) => ['POST', path, { name: index % 3 === 0 ? 'AT ONCE' : 'At once' }]);
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(created).toHaveLength(1);
    expect(refused.map(({ status, body }) => `${status} ${body.code} ${body.data.term_id}`)).toEqual(
      Array(CLIENTS - 1).fill(`400 term_exists ${created[0]!.body.id}`),
    );
    expect(await db().from('terms').where('slug', 'like', 'at-once%')).toHaveLength(1);
  });
  it('give terms of different names and the same slug different slugs', async () => {
    const terms = made(await atOnce((index) => ['POST', '/tags', { name: `C${'+'.repeat(index)}` }]));
    expect(new Set(terms.map(({ slug }) => slug)).size).toBe(CLIENTS);
  });
  it('create one term for all events that contain it', async () => {
    const events = made(
      await atOnce((index) => [
        'POST',
        '/events',
        { ...EVENT, title: `Number ${index}`, tags: [index % 2 ? 'At once' : 'at ONCE', 'Second'], categories: ['Second', 'At once'] },
      ]),
    );
    expect(await db().from('terms').where('slug', 'like', 'at-once%')).toHaveLength(2);
    expect(await db().from('terms').where('slug', 'like', 'second%')).toHaveLength(2);
    expect(new Set(events.map(({ tags }) => tags.map((tag: Json) => tag.id).join())).size).toBe(1);
    const counts = await db()
      .knex({ t: db().table('terms') })
      .join({ tt: db().table('term_taxonomy') }, 'tt.term_id', 't.term_id')
      .where('t.slug', 'like', 'at-once%')
      .pluck('tt.count');
    expect(counts).toEqual([CLIENTS, CLIENTS]);
    await expectCountsExact();
  });

  it('keep the counts of terms exact', async () => {
    const events = [38, 39, 40, 41, 42, 44, 49, 54];
    const wishes: ((index: number) => object)[] = [
      (index) => ({ tags: [11, 12, 13].slice(index % 3), categories: [2, 5].slice(index % 2) }),
      (index) => ({ status: index % 3 === 0 ? 'draft' : 'publish' }),
      () => ({ tags: [], categories: 'sport,music' }),
      () => ({ status: 'trash' }),
    ];
    for (let round = 0; round < 3; round++) {
      const answers = await atOnce((index) => [
        'PATCH',
        `/events/${events[(index + round) % events.length]}`,
        wishes[(index >> 2) % wishes.length]!(index + round),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(Array(CLIENTS).fill(200));
      await expectCountsExact();
    }
  });
  it('keep the counts exact while terms are deleted and events are created and deleted', async () => {
    const answers = await atOnce((index) => {
      if (index === 7) return ['DELETE', '/tags/13', null];
      if (index === 19) return ['DELETE', '/categories/5', null];
      if (index % 4 === 0) return ['DELETE', `/events/${38 + index / 4}`, null];
      return ['POST', '/events', { ...EVENT, title: `Number ${index}`, tags: [11, 13], categories: [5, 4] }];
    });
    expect(answers.filter(({ status }) => status >= 400).map(({ status, body }) => `${status} ${body?.code}`)).toEqual([]);
    await expectCountsExact();
    const orphans = await db()
      .knex({ r: db().table('term_relationships') })
      .leftJoin({ tt: db().table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
      .whereNull('tt.term_id');
    expect(orphans).toEqual([]);
  });
  it('lose no change to different fields of one event', async () => {
    const fields = ['title', 'description', 'excerpt', 'website', 'cost', 'sticky', 'featured', 'show_map'];
    const values: Record<string, unknown> = {
      title: 'New title',
      description: 'New text',
      excerpt: 'New excerpt',
      website: 'https://new.example/',
      cost: '77',
      sticky: true,
      featured: true,
      show_map: true,
    };
    const answers = await atOnce((index) => [
      'PATCH',
      '/events/38',
      { [fields[index % fields.length]!]: values[fields[index % fields.length]!] },
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(CLIENTS).fill(200));
    expect(expectBody(await sites()[0]!.send('GET', `${ROOT}/events/38`))).toMatchObject({
      ...values,
      description: '<p>New text</p>',
      excerpt: '<p>New excerpt</p>',
      cost: '$77',
    });
    const metas = await db()
      .from('postmeta')
      .where('post_id', 38)
      .whereIn('meta_key', ['_EventURL', '_EventCost', '_tribe_featured', '_EventShowMap']);
    expect(metas).toHaveLength(4);
  });
});
