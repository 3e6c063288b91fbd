import type { JSX } from 'preact';
import { weekdays } from './dates.ts';
import type { Speech } from './words.ts';

/** The head of a month's table: the days of the week, beginning with `first` (0: Sunday). */
export const WeekdayHead = ({ speech, first }: { readonly speech: Speech; readonly first: number }): JSX.Element => (
  <thead>
    <tr>
      {weekdays(speech, first).map(({ long, short }) => (
        <th key={long} scope="col" abbr={long}>
          {short}
        </th>
      ))}
    </tr>
  </thead>
);
