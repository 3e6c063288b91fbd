import { CUSTOM_FIELDS_OPTION, type CustomField, readCustomFields } from '../../calendar/custom-fields.ts';
import { CALENDAR_OPTION } from '../../calendar/settings.ts';
import { isObject } from '../../objects.ts';
import type { StoredDefinitions } from '../../records/merge-custom-fields.ts';
import { serializedMembers } from '../../wordpress/php/serialized.ts';
import type { SettingsItem } from './items.ts';

/*
 * Definitions of custom fields among the settings of a source. Without them, the metas of its events mean nothing on
 * another site.
 */

/** The member of the calendar's option with the definitions of custom fields. */
export const FIELDS_MEMBER = 'custom-fields';

/** Returns the definitions of custom fields that options contain. */
export function storedDefinitions(option: (name: string) => string | undefined): StoredDefinitions {
  const fields = serializedMembers(option(CALENDAR_OPTION) ?? '')[FIELDS_MEMBER];
  const definitions = new Map(isObject(fields) ? Object.entries(fields) : []);
  return { definitions, ownEntries: serializedMembers(option(CUSTOM_FIELDS_OPTION) ?? '') };
}

/** Returns the fields that definitions contain. */
export const fieldsIn = ({ definitions, ownEntries }: StoredDefinitions): readonly CustomField[] =>
  readCustomFields(Object.fromEntries(definitions), ownEntries);

/** Returns the custom fields of a site whose settings an item contains. */
export const fieldsOf = ({ options, fields }: SettingsItem): readonly CustomField[] =>
  fields ?? fieldsIn(storedDefinitions((name) => options[name]));

/** Yields the custom fields of a site as an item, for exports that contain no options. */
export function* fieldsItem(fields: readonly CustomField[]): Generator<SettingsItem> {
  if (fields.length > 0) yield { kind: 'settings', sourceId: 'settings', options: {}, fields };
}
