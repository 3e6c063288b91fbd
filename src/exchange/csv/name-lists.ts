/*
 * Several names in one cell, separated by commas, or by semicolons as in Microsoft's calendars. A name that contains a
 * separator is quoted; quotation marks within it are doubled.
 */

/** Returns a name as it is written in a list. */
export const toListedName = (name: string): string => (/[,;]|^\s*"/.test(name) ? quoteName(name) : name);

/** Quotes a name so that it is read literally, whatever it contains. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Matches a quoted name with the separator after it, or the text up to the next separator. */
const COMMAS = /\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/gy;
const SEMICOLONS = /\s*"((?:[^"]|"")*)"\s*(?:;|$)|([^;]*)(?:;|$)/gy;

/** Returns the distinct names of a list, in their order. */
export function namesIn(cell: string): string[] {
  const byCommas = [...cell.matchAll(COMMAS)];
  const matches = byCommas.some(([name]) => name.endsWith(',')) ? byCommas : [...cell.matchAll(SEMICOLONS)];
  const names = matches.map(([, quotedName, plainName = '']) => (quotedName?.replaceAll('""', '"') ?? plainName).trim());
  return [...new Set(names.filter(Boolean))];
}
