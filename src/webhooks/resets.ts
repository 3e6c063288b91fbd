import { createHash } from 'node:crypto';
import { shownSettings } from '../records/shown-settings.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import { joinWriters } from '../storage/journal/reported-changes.ts';
import { insertResets, lockHooks } from '../storage/rows/hooks.ts';
import { lockOption, writeOption } from '../storage/rows/options.ts';
import { storedText } from '../wordpress/php/serialized.ts';
import { resetMessage } from './messages.ts';

/*
 * Resets after changes of settings that records show: such changes affect all records, but have no entry in the
 * journal.
 */

/** Option with a digest of the settings that were last sent to webhooks. */
const OPTION = 'fasti_webhook_settings';

/**
 * Returns a function that sends a reset to all webhooks if such settings have changed since the last call. Processes
 * may call it concurrently; each change is sent once.
 */
export function createResetSender(site: Site): () => Promise<void> {
  let lastDigest: string | undefined;
  return async () => {
    const digest = createHash('sha256')
      .update(JSON.stringify(shownSettings(await site.settings())))
      .digest('base64url');
    if (digest === lastDigest) return;
    await site.db.transaction(async (db) => {
      joinWriters(db);
      const storedDigest = await lockOption(db, OPTION);
      if (storedDigest === digest) return;
      await writeOption(db, OPTION, storedText(digest), 'off');
      // The first call has nothing to compare with.
      if (storedDigest === '') return;
      const hooks = await lockHooks(db);
      const number = await lastNumber(db);
      await insertResets(
        db,
        hooks.map((hook) => resetMessage(hook, number, site.clock())),
      );
    });
    lastDigest = digest;
  };
}
