import { activePlugins, NETWORK_PLUGINS, SITE_PLUGINS } from '../../wordpress/plugins.ts';
import type { Database } from '../engine/database.ts';
import { readOptions } from '../rows/options.ts';

/** What is seen of the WordPress plugin (`wordpress-plugin/fasti.php`). */
export interface PluginState {
  /** Whether it is among the active plugins of the site. One in `mu-plugins` is not. */
  readonly active: boolean;
  /** How many of its notes nobody has taken over yet. */
  readonly waiting: number;
  /** When the oldest of them was made, UTC. */
  readonly oldest: string | null;
  /** When a note was taken over last, UTC; null: not among the latest changes. */
  readonly latest: string | null;
}

/** How many of the latest changes are looked through. */
const LATEST = 10_000;

/** Undefined: there is no sign of the plugin. */
export async function pluginState(db: Database): Promise<PluginState | undefined> {
  const plugins = activePlugins(await readOptions(db, [SITE_PLUGINS, NETWORK_PLUGINS]));
  const active = /"(?:[\w-]{1,100}\/)?fasti\.php"/.test(plugins);
  const [inbox] = await db.rows<{ waiting: number | string; oldest: string | null }>`
    SELECT COUNT(*) AS waiting, MIN(at) AS oldest FROM {fasti_journal_inbox}`;
  const [taken] = await db.rows<{ latest: string | null }>`
    SELECT MAX(j.at) AS latest FROM (SELECT writer, at FROM {fasti_journal} ORDER BY number DESC LIMIT ${LATEST}) j
    WHERE j.writer = ${'wordpress'}`;
  const state = { active, waiting: Number(inbox?.waiting ?? 0), oldest: inbox?.oldest ?? null, latest: taken?.latest ?? null };
  return active || state.waiting > 0 || state.latest !== null ? state : undefined;
}
