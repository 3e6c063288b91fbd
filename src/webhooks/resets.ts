import { createHash } from 'node:crypto';
import { shownSettings } from '../records/shown-settings.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import { joinWriters } from '../storage/journal/touched.ts';
import { insertMessages, loadHooks } from '../storage/rows/hooks.ts';
import { lockOption, writeOption } from '../storage/rows/options.ts';
import { message } from './messages.ts';

/*
 * When settings change that records show, all records are other ones, and no entry of the journal says so.
 */

/** The option with a digest of the settings as webhooks know them. */
const OPTION = 'fasti_webhook_settings';

/**
 * Gives what tells all webhooks that they have to read everything again, where such settings have changed since they
 * were told last. Several processes may call it at once: each change is told once.
 */
export function createResets(site: Site): () => Promise<void> {
  let told: string | undefined;
  return async () => {
    const digest = createHash('sha256')
      .update(JSON.stringify(shownSettings(await site.settings())))
      .digest('base64url');
    if (digest === told) return;
    await site.db.transaction(async (db) => {
      joinWriters(db);
      const before = await lockOption(db, OPTION);
      if (before === digest) return;
      await writeOption(db, OPTION, digest, 'off');
      // Nobody knew any others.
      if (before === '') return;
      const content = { number: await lastNumber(db), type: 'calendar.reset', data: {} };
      await insertMessages(
        db,
        (await loadHooks(db)).map((hook) => message(hook, content, site.clock())),
      );
    });
    told = digest;
  };
}
