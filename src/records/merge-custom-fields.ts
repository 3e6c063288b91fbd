import { type CustomField, EXTENSION_TYPES, isCustomMeta, readCustomFields } from '../calendar/custom-fields.ts';
import { objectOf } from '../objects.ts';

/*
 * Custom fields of another site. The number in a meta (`_ecp_custom_2`) depends on the order in which a site has
 * defined its fields, so that a field is recognised by its name, or by its label if it has no name.
 */

/** Definitions of custom fields as they are stored. */
export interface StoredDefinitions {
  /** The extension's definitions by key. */
  readonly definitions: ReadonlyMap<string, unknown>;
  /** Properties that the extension does not support, by meta. */
  readonly ownEntries: Readonly<Record<string, unknown>>;
}

/** Returns the field of a site that is the same as one of another site; undefined if there is none. */
export function sameField(field: CustomField, fields: readonly CustomField[]): CustomField | undefined {
  const hasName = (one: CustomField) => one.name !== one.meta;
  const sameLabel = fields.filter((one) => one.label === field.label && !(hasName(one) && hasName(field)));
  return fields.find((one) => hasName(one) && one.name === field.name) ?? sameLabel.find(({ meta }) => meta === field.meta) ?? sameLabel[0];
}

/**
 * Returns the definitions of a site with those of another site. A field of both gets the other site's definition and
 * keeps its meta; a new one keeps its meta if that is free. Fields that the other site lacks stay.
 *
 * @param usedMetas metas of custom fields that events have, for instance of fields that were removed
 */
export function mergeCustomFields(own: StoredDefinitions, other: StoredDefinitions, usedMetas: Iterable<string>): StoredDefinitions {
  const definitions = new Map(own.definitions);
  const ownEntries = { ...own.ownEntries };
  const used = new Set(usedMetas);
  const otherFields = readCustomFields(Object.fromEntries(other.definitions), other.ownEntries);
  for (const definition of other.definitions.values()) {
    const field = otherFields.find(({ meta }) => meta === metaOfDefinition(definition));
    if (!field || !isCustomMeta(field.meta)) continue;
    const known = sameField(field, readCustomFields(Object.fromEntries(definitions), ownEntries));
    const knownKey = [...definitions].find(([, one]) => known && metaOfDefinition(one) === known.meta)?.[0];
    const isFree = ![...definitions.values()].some((one) => metaOfDefinition(one) === field.meta) && !used.has(field.meta);
    const number = isFree ? Number(field.meta.replace(/\D/g, '')) : nextFieldNumber(definitions, used);
    const meta = known?.meta ?? `_ecp_custom_${number}`;
    const key = knownKey ?? (definitions.has(String(number)) ? String(nextFieldNumber(definitions, used)) : String(number));
    definitions.set(key, { ...objectOf(definition), name: meta });
    if (Object.hasOwn(other.ownEntries, field.meta)) ownEntries[meta] = other.ownEntries[field.meta];
  }
  return { definitions, ownEntries };
}

/** Returns the stored definitions of fields. The extension has one type for both kinds of choices. */
export const definitionsOf = (fields: readonly CustomField[]): StoredDefinitions => ({
  definitions: new Map(
    fields.map(({ meta, label, type, choices }, index) => [
      String(index),
      { name: meta, label, type: type === 'textarea' ? type : EXTENSION_TYPES[type], values: choices.join('\n') },
    ]),
  ),
  ownEntries: Object.fromEntries(fields.flatMap(({ meta, name, type }) => (name === meta ? [] : [[meta, { name, type }]]))),
});

/**
 * Returns the number of a new meta, which no known definition and no event has used: a removed field leaves its values
 * in the database. The extension starts with 2.
 */
export function nextFieldNumber(definitions: ReadonlyMap<string, unknown>, usedMetas: Iterable<string>): number {
  const numberIn = (meta: string) => (isCustomMeta(meta) ? Number(meta.replace(/\D/g, '')) : 0);
  const numbers = [...definitions].flatMap(([key, definition]) => [Number(key), numberIn(metaOfDefinition(definition))]);
  return Math.max(1, ...numbers.filter(Number.isSafeInteger), ...Array.from(usedMetas, numberIn)) + 1;
}

/** Returns the meta that a definition names; empty if it names none. */
export const metaOfDefinition = (definition: unknown): string => String(objectOf(definition).name ?? '');
