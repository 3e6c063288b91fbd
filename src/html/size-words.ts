import type { I18n } from './i18n.ts';

const MEGABYTE = 1_000_000;

/** How large something is, in words, never more than it is. */
export function sizeInWords(i18n: I18n, bytes: number): string {
  const [unit, size] = bytes < MEGABYTE ? ['kilobyte', bytes / 1000] : ['megabyte', bytes / MEGABYTE];
  return new Intl.NumberFormat(i18n.locale, { style: 'unit', unit: String(unit), maximumFractionDigits: 1 }).format(
    Math.floor(Number(size) * 10) / 10,
  );
}
