import type { JSX } from 'preact';
import { weekdays } from './dates.ts';
import type { I18n } from './i18n.ts';

/** The head of a month's table: the weekdays, starting with `first` (0: Sunday). */
export const WeekdayHead = ({ i18n, first }: { readonly i18n: I18n; readonly first: number }): JSX.Element => (
  <thead>
    <tr>
      {weekdays(i18n, first).map(({ long, short }) => (
        <th key={long} scope="col" abbr={long}>
          {short}
        </th>
      ))}
    </tr>
  </thead>
);
