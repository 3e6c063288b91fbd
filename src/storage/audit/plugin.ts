import { activePlugins, NETWORK_PLUGINS, SITE_PLUGINS } from '../../wordpress/plugins.ts';
import type { Database } from '../engine/database.ts';
import { latestWriteBy } from '../journal/entries.ts';
import { readOptions } from '../rows/options.ts';

/** The observed state of the WordPress plugin (`wordpress-plugin/fasti.php`). */
export interface PluginState {
  /** Whether it is among the active plugins of the site. Plugins in `mu-plugins` are not listed there. */
  readonly active: boolean;
  /** Number of its notes that have not been taken over yet. */
  readonly waiting: number;
  /** When the oldest of these notes was made, UTC. */
  readonly oldest: string | null;
  /** When a note was last taken over, UTC; null if none is among the latest changes. */
  readonly latest: string | null;
}

/** Returns the state of the plugin; undefined if there is no trace of it. */
export async function pluginState(db: Database): Promise<PluginState | undefined> {
  const plugins = activePlugins(await readOptions(db, [SITE_PLUGINS, NETWORK_PLUGINS]));
  const active = /"(?:[\w-]{1,100}\/)?fasti\.php"/.test(plugins);
  const [inbox] = await db.rows<{ waiting: number | string; oldest: string | null }>`
    SELECT COUNT(*) AS waiting, MIN(at) AS oldest FROM {fasti_journal_inbox}`;
  const latest = await latestWriteBy(db, ['wordpress']);
  const state = { active, waiting: Number(inbox?.waiting ?? 0), oldest: inbox?.oldest ?? null, latest };
  return active || state.waiting > 0 || state.latest !== null ? state : undefined;
}
