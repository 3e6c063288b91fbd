import ICAL from 'ical.js';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';

/**
 * A property as the library parses it (jCal, RFC 7265): its name in lower case, its parameters, its type and its
 * values.
 */
export type Property = readonly [name: string, parameters: Readonly<Record<string, unknown>>, type: string, ...values: readonly unknown[]];

/** Parses properties and groups them by name. If the library fails, lines that it cannot parse alone are left out. */
export function parseProperties(lines: readonly string[]): ReadonlyMap<string, readonly Property[]> | undefined {
  const parse = (subset: readonly string[]): readonly Property[] | undefined => {
    try {
      // The library's types do not describe the structure of a parsed component.
      const [, properties] = ICAL.parse(['BEGIN:VEVENT', ...subset, 'END:VEVENT'].join('\r\n')) as unknown as [string, Property[]];
      return properties;
    } catch {
      return undefined;
    }
  };
  const properties = parse(lines) ?? parse(lines.filter((line) => parse([line]) !== undefined));
  if (!properties) return undefined;
  const byName = new Map<string, Property[]>();
  for (const property of properties) {
    const group = byName.get(property[0]);
    if (group) group.push(property);
    else byName.set(property[0], [property]);
  }
  return byName;
}

/** Returns the values of a property as they are written. */
export const rawValues = ([, , , ...values]: Property): string[] =>
  values.map((value) => (Array.isArray(value) ? value.join('/') : String(value)));

/** Returns the first value of a property as it is written; empty if there is none. */
export const rawText = (property: Property): string => rawValues(property)[0] ?? '';

/** Returns the values of a property as texts with `\n` for line breaks, without other control characters. */
export const textsOf = (property: Property): string[] =>
  rawValues(property).map((value) => stripControlCharacters(value.replace(/\r\n?/g, '\n')));

/** Returns a parameter of a property, the first one if it has several values; empty if it is missing. */
export function parameter([, parameters]: Property, name: string): string {
  const value = parameters[name];
  return value === undefined ? '' : stripControlCharacters(String((Array.isArray(value) ? value[0] : value) ?? '')).trim();
}
