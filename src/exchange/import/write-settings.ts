import { CUSTOM_FIELDS_OPTION } from '../../calendar/custom-fields.ts';
import { CALENDAR_OPTION } from '../../calendar/settings.ts';
import { lockOption, readOptions, writeOption } from '../../storage/rows/options.ts';
import { serializedMembers, toSerialized, withMembers } from '../../wordpress/php/serialized.ts';
import type { SettingsItem } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import type { Work } from './run.ts';

/** Options that affect what the calendar shows. Addresses, users and values derived from events are never imported. */
export const IMPORTED_OPTIONS = [
  'blogname', 'blogdescription', 'timezone_string', 'gmt_offset', 'permalink_structure', 'category_base', 'tag_base', 'posts_per_page', 'use_smilies',
  'thumbnail_size_w', 'thumbnail_size_h', 'thumbnail_crop', 'medium_size_w', 'medium_size_h', 'medium_large_size_w', 'medium_large_size_h',
  'large_size_w', 'large_size_h', CALENDAR_OPTION, CUSTOM_FIELDS_OPTION,
] as const; // biome-ignore format: a list of names

/**
 * Members of the calendar's option that affect what the calendar shows. Other members are derived from its events, or
 * are keys for third-party services.
 */
const IMPORTED_MEMBERS = [
  'posts_per_page', 'multiDayCutoff', 'tribe_events_timezone_mode', 'defaultCurrencySymbol', 'defaultCurrencyCode', 'reverseCurrencyPosition', 'eventsSlug',
  'singleEventSlug', 'custom-fields',
]; // biome-ignore format: a list of names

/** Returns the settings among a site's options as an item. */
export function settingsItem(options: ReadonlyMap<string, string>): SettingsItem {
  const entries = IMPORTED_OPTIONS.flatMap((name): [string, string][] => {
    const value = options.get(name);
    if (value === undefined) return [];
    return [[name, name === CALENDAR_OPTION ? toSerialized(membersOf(value)) : value]];
  });
  return { kind: 'settings', sourceId: 'settings', options: Object.fromEntries(entries) };
}

/** Imports the settings of the source if that was requested; otherwise reports those that differ. */
export async function writeSettings({ run, db, tally, touched }: Work, items: readonly SettingsItem[]): Promise<void> {
  for (const item of items) {
    // Serializes this with other changes to the members of the calendar's option.
    if (run.settings && !run.isDryRun) await lockOption(db, CALENDAR_OPTION);
    const ownOptions = await readOptions(db, [...IMPORTED_OPTIONS]);
    for (const name of IMPORTED_OPTIONS) {
      const sourceValue = item.options[name];
      if (sourceValue === undefined) continue;
      const value = name === CALENDAR_OPTION ? mergeOptions(ownOptions.get(name) ?? '', sourceValue) : sourceValue;
      if (value === undefined || value === (ownOptions.get(name) ?? '')) continue;
      if (!run.settings) {
        addLoss(tally, {
          reason: 'setting-differs',
          kind: 'settings',
          of: name,
          detail: name === CALENDAR_OPTION ? undefined : `${sourceValue} / ${ownOptions.get(name) ?? ''}`,
        });
        continue;
      }
      addToCount(tally.updated, 'settings');
      if (run.isDryRun) continue;
      await writeOption(db, name, value);
      touched.any = true;
    }
  }
}

const PLUGIN_DEFAULTS = Object.fromEntries(IMPORTED_MEMBERS.map((name) => [name, undefined]));

/**
 * Returns this site's option with the members of the source's option. Members that the source lacks are removed, so
 * that the plugin's defaults apply here too. Undefined if this site's option cannot be parsed.
 */
const mergeOptions = (ownOption: string, sourceOption: string): string | undefined =>
  withMembers(ownOption, { ...PLUGIN_DEFAULTS, ...membersOf(sourceOption) });

function membersOf(text: string): Record<string, unknown> {
  const members = serializedMembers(text);
  return Object.fromEntries(IMPORTED_MEMBERS.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]]] : [])));
}
