import type { I18n } from './i18n.ts';

const BYTES_PER_MEGABYTE = 1_000_000;

/** Returns a size in words, rounded down. */
export function sizeInWords(i18n: I18n, bytes: number): string {
  const [unit, size] = bytes < BYTES_PER_MEGABYTE ? ['kilobyte', bytes / 1000] : ['megabyte', bytes / BYTES_PER_MEGABYTE];
  return new Intl.NumberFormat(i18n.locale, { style: 'unit', unit: String(unit), maximumFractionDigits: 1 }).format(
    Math.floor(Number(size) * 10) / 10,
  );
}
