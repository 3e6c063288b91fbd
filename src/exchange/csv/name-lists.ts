/*
 * Several names in one cell, with commas between them, or with semicolons, as in Microsoft's calendars. A name that has
 * such a sign of its own stands in quotation marks, one of which within it is written twice.
 */

/** A name as a list holds it. */
export const listed = (name: string): string => (/[,;]|^\s*"/.test(name) ? quoted(name) : name);

/** A name that is meant as it stands, whatever is in it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A name in quotation marks with the sign behind it, or what stands before the next sign. */
const COMMAS = /\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,]*)(?:,|$)/gy;
const SEMICOLONS = /\s*"((?:[^"]|"")*)"\s*(?:;|$)|([^;]*)(?:;|$)/gy;

/** The names of a list, each once, in their order. */
export function namesIn(cell: string): string[] {
  const byCommas = [...cell.matchAll(COMMAS)];
  const found = byCommas.some(([name]) => name.endsWith(',')) ? byCommas : [...cell.matchAll(SEMICOLONS)];
  const names = found.map(([, own, plain = '']) => (own?.replaceAll('""', '"') ?? plain).trim());
  return [...new Set(names.filter(Boolean))];
}
