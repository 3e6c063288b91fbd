import { SourceFault } from '../items/items.ts';

/** In which order the parts of a date stand. A date that begins with the year of four digits can't be misread. */
export type DateOrder = 'ymd' | 'dmy' | 'mdy';

/** Which cell is read, for the fault. */
export interface Where {
  readonly file: string;
  readonly line: number;
}

const ORDERS: Readonly<Record<DateOrder, readonly ['year' | 'month' | 'day', 'year' | 'month' | 'day', 'year' | 'month' | 'day']>> = {
  ymd: ['year', 'month', 'day'],
  dmy: ['day', 'month', 'year'],
  mdy: ['month', 'day', 'year'],
};

/** `YYYY-MM-DD` of a cell; undefined of an empty one. Throws SourceFault `csv-date-order` where the order has to be stated, `csv-date`. */
export function readDate(cell: string, order: DateOrder | undefined, where: Where & { column: string }): string | undefined {
  const text = cell.trim().replace(/[ T]\d{1,2}:\d\d(:\d\d)?$/, '');
  if (text === '') return undefined;
  const yearFirst = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text);
  const three = yearFirst ?? /^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})$/.exec(text);
  if (!three) throw new SourceFault('csv-date', { ...where, value: cell });
  if (!yearFirst && (order === undefined || order === 'ymd')) throw new SourceFault('csv-date-order', { ...where, value: cell });
  const names = ORDERS[yearFirst ? 'ymd' : (order ?? 'ymd')];
  const part = (name: 'year' | 'month' | 'day') => Number(three[names.indexOf(name) + 1]);
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const date = new Date(Date.UTC(year, month - 1, day));
  if (year < 1000 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    throw new SourceFault('csv-date', { ...where, value: cell });
  return date.toISOString().slice(0, 10);
}

/** `HH:MM:SS` of a cell such as `20:30`, `8:30 PM`, `8pm`; undefined of an empty one. Throws SourceFault `csv-time`. */
export function readTime(cell: string, where: Where & { column: string }): string | undefined {
  const text = cell.trim();
  if (text === '') return undefined;
  const [, hours, minutes = '0', seconds = '0', half] = /^(\d{1,2})(?:[:.](\d\d))?(?:[:.](\d\d))?\s*([ap])?\.?m?\.?$/i.exec(text) ?? [];
  const hour = Number(hours);
  const wrong =
    hours === undefined ||
    (half === undefined ? !/[:.]/.test(text) || hour > 23 : hour < 1 || hour > 12) ||
    Number(minutes) > 59 ||
    Number(seconds) > 59;
  if (wrong) throw new SourceFault('csv-time', { ...where, value: cell });
  const turned = half === undefined ? hour : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return [turned, Number(minutes), Number(seconds)].map((part) => String(part).padStart(2, '0')).join(':');
}
