import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { settingNames } from '../src/calendar/settings.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { TAXONOMIES_WITH_PRINTS, TYPES_WITH_PRINTS } from '../src/storage/freshness/prints.ts';
import { EDITOR_METAS } from '../src/wordpress/rows.ts';
import { observeCache } from './support/cache-observer.ts';
import { describeDatabases, runScript } from './support/databases.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';

/*
 * The WordPress plugin. If `php` is installed, the plugin runs there, with substitutes for the functions of WordPress
 * that it calls.
 */

const PLUGIN = fileURLToPath(new URL('../wordpress-plugin/fasti.php', import.meta.url));
const FUNCTIONS = fileURLToPath(new URL('fixtures/wordpress/functions.php', import.meta.url));
const hasPhp = spawnSync('php', ['-v']).status === 0;
const withPhp = (name: string): [string, typeof it] => (hasPhp ? [name, it] : [`${name} (skipped: there is no php)`, it.skip as typeof it]);

type Event = readonly [hook: string, ...given: unknown[]];
interface Request {
  readonly table?: 'there' | 'gone' | 'full' | 'throws';
  readonly events: readonly Event[];
}
interface Outcome {
  readonly sent: readonly { readonly sql: string; readonly hidden: boolean }[];
  readonly suppressed: boolean;
}

const POSTS = { 38: 'tribe_events', 39: 'tribe_events', 12: 'tribe_venue', 900: 'revision', 901: 'shop_order' };

/** The statements that the plugin sends to the database in a request with these events. */
function sentBy({ table = 'there', events }: Request): Outcome {
  const input = JSON.stringify({ posts: POSTS, user: 3, table, events });
  const { status, stdout, stderr } = spawnSync('php', ['-d', 'display_errors=stderr', FUNCTIONS], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** The rows of an INSERT, without their time. */
const rowsOf = ({ sent }: Outcome): string[] =>
  sent.flatMap(({ sql }) =>
    [...sql.matchAll(/\('\d{4}-\d\d-\d\d \d\d:\d\d:\d\d', '(\w+)', '(\w*)', (\d+), '(\w+)', (\d+)\)/g)].map((row) =>
      row.slice(1).join(' '),
    ),
  );

describe('the WordPress plugin', () => {
  const source = readFileSync(PLUGIN, 'utf8');
  const list = (name: string): string[] => {
    const [, inside = ''] = new RegExp(`^const ${name}\\s*= array\\(([^)]*)\\);`, 'm').exec(source) ?? [];
    return [...inside.matchAll(/'([^']+)'/g)].map(([, word]) => word!);
  };

  it('notes changes to the post types and taxonomies that have prints, except editor metas', () => {
    expect(list('POST_TYPES').sort()).toEqual([...TYPES_WITH_PRINTS].sort());
    expect(list('TAXONOMIES').sort()).toEqual([...TAXONOMIES_WITH_PRINTS].sort());
    expect(list('UNSEEN_METAS')).toEqual(EDITOR_METAS);
  });

  it('notes changes only to options that Fasti reads', () => {
    expect(list('OPTIONS').length).toBeGreaterThan(5);
    const names: readonly string[] = settingNames('wp_');
    expect(list('OPTIONS').filter((name) => !names.includes(name))).toEqual([]);
  });

  const [lints, lint] = withPhp('is PHP');
  lint(lints, () => {
    const { status, stdout, stderr } = spawnSync('php', ['-d', 'error_reporting=-1', '-l', PLUGIN], { encoding: 'utf8' });
    expect({ status, stderr, stdout: stdout.trim() }).toEqual({ status: 0, stderr: '', stdout: `No syntax errors detected in ${PLUGIN}` });
  });

  const [notes, note] = withPhp('notes each object once, in one statement');
  note(notes, () => {
    const outcome = sentBy({
      events: [
        ['save_post', 38, { ID: 38, post_type: 'tribe_events' }, true],
        ['updated_post_meta', 7, 38, '_EventCost', '5'],
        ['added_post_meta', 8, 12, '_VenueCity', 'Rome'],
        ['updated_post_meta', 9, 39, '_edit_lock', '1:1'],
        ['save_post', 900, { ID: 900, post_type: 'revision' }, true],
        ['save_post', 901, { ID: 901, post_type: 'shop_order' }, true],
        ['transition_post_status', 'publish', 'future', { ID: 40, post_type: 'tribe_events' }],
        ['deleted_post', 41, { ID: 41, post_type: 'tribe_events' }],
        ['set_object_terms', 38, [3], [3], 'tribe_events_cat', false, []],
        ['created_term', 50, 50, 'tribe_events_cat'],
        ['clean_term_cache', [50, 3], 'tribe_events_cat', false],
        ['clean_term_cache', [60], 'nav_menu', false],
        ['delete_term', 12, 12, 'post_tag', {}, []],
        ['profile_update', 2, {}, {}],
        ['deleted_user', 5, null, {}],
        ['updated_option', 'timezone_string', 'UTC', 'Europe/Rome'],
        ['updated_option', '_transient_x', 1, 2],
      ],
    });
    expect(outcome.sent.map(({ hidden }) => hidden)).toEqual([true]);
    expect(outcome.suppressed).toBe(false);
    expect(rowsOf(outcome)).toEqual([
      'post tribe_events 38 changed 3',
      'post tribe_venue 12 changed 3',
      'post tribe_events 40 changed 3',
      'post tribe_events 41 removed 3',
      'term tribe_events_cat 50 made 3',
      'term tribe_events_cat 3 changed 3',
      'term post_tag 12 removed 3',
      'user  2 changed 3',
      'user  5 removed 3',
      'option timezone_string 0 changed 3',
    ]);
  });

  const [bulk, inBulk] = withPhp('writes what is changed in bulk in several statements');
  inBulk(bulk, () => {
    const events = Array.from({ length: 1200 }, (_, at): Event => ['profile_update', at + 1]);
    const outcome = sentBy({ events });
    expect(outcome.sent.map(({ sql }) => rowsOf({ sent: [{ sql, hidden: true }], suppressed: false }).length)).toEqual([500, 500, 200]);
  });

  const [nothing, never] = withPhp('writes nothing, and lets the request go on, where it can or need not');
  never(nothing, () => {
    const events: Event[] = [['save_post', 38], ['save_post'], ['save_post', {}], ['updated_post_meta', 1]];
    for (const table of ['gone', 'full', 'throws'] as const) expect(sentBy({ table, events })).toEqual({ sent: [], suppressed: false });
    expect(sentBy({ events: [] })).toEqual({ sent: [], suppressed: false });
  });

  const [leaves, leave] = withPhp('leaves nothing behind');
  leave(leaves, () => {
    expect(sentBy({ events: [['uninstall']] })).toEqual({
      sent: [{ sql: 'DELETE FROM `wp_fasti_journal_inbox`', hidden: true }],
      suppressed: false,
    });
  });
});

describeDatabases('a server beside the WordPress plugin', (open) => {
  const PATH = '/wp-json/calendar/events/v1/events/38';
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await loadSite(db);
    await db.from('fasti_journal_inbox').delete();
    running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'on', CACHE_FRESHNESS_MS: '100' } });
    running.site.startFollowing();
  });
  afterEach(() => running.close());

  const insert =
    "INSERT INTO `wp_fasti_journal_inbox` (at, kind, type, object, what, user) VALUES ('2026-11-20 11:59:59', 'post', 'tribe_events', 38, 'changed', 3)";
  const serves = async (statement: string) => {
    const memory = observeCache(running);
    await memory.warm(PATH);
    await runScript(db, `UPDATE wp_posts SET post_title = 'Noted' WHERE ID = 38;\n${statement}`);
    // One look may have begun before the note was written.
    expect(await memory.waitFor(PATH, ({ title }) => title === 'Noted')).toBeLessThanOrEqual(3);
    while ((await db.from('fasti_journal_inbox').select('id')).length > 0) {
      await memory.request(PATH);
      await sleep(20);
    }
    await memory.warm(PATH);
    expect((await memory.request(PATH)).answer.body.title).toBe('Noted');
  };

  it('shows the noted changes, and removes the notes', () => serves(insert));

  const [own, ownStatement] = withPhp('understands the statement that the plugin sends');
  ownStatement(own, async () => {
    await serves(
      sentBy({ events: [['save_post', 38]] })
        .sent.map(({ sql }) => sql)
        .join(';\n'),
    );
  });
});
