import type { JSX } from 'preact';
import { columnsOf, type HeadingMap } from '../exchange/csv/layout.ts';
import type { TableMapping } from '../exchange/csv/read.ts';
import { Select } from '../html/form-fields.tsx';
import type { PostKindName } from '../kinds/kind-names.ts';
import type { Visit } from './visit.ts';

/*
 * The fields to which the columns of a table are mapped, as a form for changing the mapping.
 */

/** Value in the form for a column that is not imported. */
export const NOT_IMPORTED = '-';

/** The field of each column of a table, as a select input. */
export function ColumnChoices({
  visit,
  map,
  table: { kind, columns },
}: {
  readonly visit: Visit;
  readonly map: HeadingMap;
  readonly table: TableMapping;
}): JSX.Element {
  const { say } = visit.i18n;
  const labels = columnLabels(visit, kind);
  const choices = [
    { value: '', text: say('desk:import.as-found') },
    { value: NOT_IMPORTED, text: say('exchange:import.not-mapped') },
    ...[...labels].map(([value, text]) => ({ value, text })),
  ];
  return (
    <>
      <h2>{say('desk:import.columns')}</h2>
      {columns.map(({ header, column, example }, index) => (
        <div key={header}>
          <input type="hidden" name={`columns[${index}]`} value={header} />
          <Select
            name={`map[${index}]`}
            id={`map-${index}`}
            label={header}
            hint={`${labels.get(column ?? '') ?? say('exchange:import.not-mapped')} · ${example}`}
            value={map.get(header) === '' ? NOT_IMPORTED : (map.get(header) ?? '')}
            options={choices}
          />
        </div>
      ))}
    </>
  );
}

/** Returns the labels of the columns that a table can have: those of form fields, or else the plugin's headings. */
function columnLabels({ i18n, settings }: Visit, kind: PostKindName): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(columnsOf(kind, settings.calendar.customFields)).map(([column, [heading]]) => {
      const key = [`desk:import.column-names.${column}`, `desk:fields.${kind}.${column}`, `desk:fields.${column}`].find(i18n.has);
      return [column, key === undefined ? heading : i18n.say(key)];
    }),
  );
}
