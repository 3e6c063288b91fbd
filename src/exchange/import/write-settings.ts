import { isDeepStrictEqual } from 'node:util';
import { CUSTOM_FIELDS_OPTION, MAX_CUSTOM_FIELDS } from '../../calendar/custom-fields.ts';
import { CALENDAR_OPTION } from '../../calendar/settings.ts';
import { definitionsOf, mergeCustomFields, type StoredDefinitions } from '../../records/merge-custom-fields.ts';
import type { Database } from '../../storage/engine/database.ts';
import { usedCustomMetas } from '../../storage/rows/ids-in-use.ts';
import { lockOption, readOptions, writeOption } from '../../storage/rows/options.ts';
import { asStored, serializedMembers, storedText, toSerialized, withMembers } from '../../wordpress/php/serialized.ts';
import { FIELDS_MEMBER, fieldsIn, storedDefinitions } from '../items/field-definitions.ts';
import type { SettingsItem } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { IMPORTED_MEMBERS, IMPORTED_OPTIONS } from './imported-settings.ts';
import type { Work } from './run.ts';

/**
 * Returns the settings among a site's options as an item. Members of the calendar's option that the site lacks are
 * null, and so differ from those that the version of Fasti which wrote a file did not know.
 */
export function settingsItem(options: ReadonlyMap<string, string>): SettingsItem {
  const entries = IMPORTED_OPTIONS.flatMap((name): [string, string][] => {
    const value = options.get(name) ?? WITHOUT_ROW.get(name);
    if (value === undefined) return [];
    return [[name, name === CALENDAR_OPTION ? toSerialized({ ...ABSENT_MEMBERS, ...membersOf(value) }) : value]];
  });
  return { kind: 'settings', sourceId: 'settings', options: Object.fromEntries(entries) };
}

/** Imports the settings of the source if that was requested; otherwise reports those that differ. */
export async function writeSettings({ run, db, tally, touched }: Work, items: readonly SettingsItem[]): Promise<void> {
  for (const item of items) {
    // Serializes this with other changes to the members of the calendar's option.
    if (run.settings && !run.isDryRun) await lockOption(db, CALENDAR_OPTION);
    const ownOptions = await readOptions(db, IMPORTED_OPTIONS);
    const fields = await mergedFields(db, ownOptions, item);
    run.customFields.source = fieldsIn(fields.source);
    if (run.settings) run.customFields.local = fieldsIn(fields.merged);
    const newOptions = optionsWith(ownOptions, item, fields);
    for (const [name, value] of newOptions) {
      const sourceValue = item.options[name] ?? '';
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
      await writeOption(db, name, ARRAYS.includes(name) ? asStored(value) : storedText(value));
      touched.any = true;
    }
  }
}

/**
 * The definitions of custom fields in the source, and those of this site together with them. `areNew`: whether they
 * differ from those of this site.
 */
interface Fields {
  readonly source: StoredDefinitions;
  readonly merged: StoredDefinitions;
  readonly areNew: boolean;
}

async function mergedFields(db: Database, ownOptions: ReadonlyMap<string, string>, item: SettingsItem): Promise<Fields> {
  const stated = item.fields ? definitionsOf(item.fields) : storedDefinitions((name) => item.options[name]);
  // A file may state any number of fields, all of which are compared with those of this site.
  const source = { ...stated, definitions: new Map([...stated.definitions].slice(0, MAX_CUSTOM_FIELDS)) };
  const own = storedDefinitions((name) => ownOptions.get(name));
  const merged = source.definitions.size === 0 ? own : mergeCustomFields(own, source, await usedCustomMetas(db));
  return { source, merged, areNew: !isDeepStrictEqual(merged, own) };
}

/**
 * Returns the options that the source has, with the values that they get here; undefined if the stored one cannot be
 * parsed. Members of the calendar's option that are null in the source are removed, so that the plugin's defaults apply
 * here too; those that it does not state stay. Custom fields are added to those of this site.
 */
function optionsWith(
  ownOptions: ReadonlyMap<string, string>,
  item: SettingsItem,
  { merged, areNew }: Fields,
): Map<string, string | undefined> {
  const options = new Map<string, string | undefined>();
  for (const name of IMPORTED_OPTIONS) if (item.options[name] !== undefined) options.set(name, item.options[name]);
  const calendar = item.options[CALENDAR_OPTION];
  options.delete(CUSTOM_FIELDS_OPTION);
  if (calendar === undefined && !areNew) return options;
  const { [FIELDS_MEMBER]: _, ...stated } = calendar === undefined ? {} : membersOf(calendar);
  // Members that are not changed keep the form in which they are stored.
  const others = Object.fromEntries(Object.entries(stated).map(([name, value]) => [name, value ?? undefined]));
  const fields = areNew ? { [FIELDS_MEMBER]: merged.definitions } : {};
  options.set(CALENDAR_OPTION, withMembers(ownOptions.get(CALENDAR_OPTION) ?? '', { ...others, ...fields }));
  if (areNew) options.set(CUSTOM_FIELDS_OPTION, withMembers('', merged.ownEntries));
  return options;
}

/** Options with arrays, which `optionsWith` serializes itself. */
const ARRAYS: readonly string[] = [CALENDAR_OPTION, CUSTOM_FIELDS_OPTION];

/** Values of options that a site may have no row of. WordPress writes the others when it is installed. */
const WITHOUT_ROW: ReadonlyMap<string, string> = new Map([['WPLANG', '']]);

/** Custom fields are not among them: those of the source are added to those of this site. */
const ABSENT_MEMBERS = Object.fromEntries(IMPORTED_MEMBERS.filter((name) => name !== FIELDS_MEMBER).map((name) => [name, null]));

function membersOf(text: string): Record<string, unknown> {
  const members = serializedMembers(text);
  return Object.fromEntries(IMPORTED_MEMBERS.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]]] : [])));
}
