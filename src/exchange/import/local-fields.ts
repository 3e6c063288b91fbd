import { type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import { customFieldRows, metasOf, storedValue } from '../../kinds/custom-fields.ts';
import { sameField } from '../../records/merge-custom-fields.ts';
import { textOfStored } from '../../wordpress/php/serialized.ts';
import { type MetaPair, nameOf, type PostItem } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import type { Work } from './run.ts';

/*
 * Values of custom fields of another site. Both sites may use one meta for different fields, so that values are moved
 * to the meta that the field of the same name has here.
 */

/** An event with the metas of this site's fields. */
export interface LocalEvent {
  readonly item: PostItem;
  /** Whether all fields are known here. Otherwise the event is compared again in the next import. */
  readonly isSettled: boolean;
}

/** Converts the custom fields of an event if the source has stated its fields, and reports values without a place. */
export function withLocalFields({ run, tally }: Work, item: PostItem): LocalEvent {
  const { source, local } = run.customFields;
  if (item.kind !== 'event' || source === undefined) return { item, isSettled: true };
  const moves = source.filter(({ meta }) => isCustomMeta(meta)).map((field) => ({ field, known: sameField(field, local) }));
  const known = new Set(moves.map(({ known: one }) => one?.meta));
  // Values of fields that only this site defines stay.
  const ownMetas = local.filter(({ meta }) => isCustomMeta(meta) && !known.has(meta)).flatMap(metasOf);
  const sourceMetas = new Set(moves.flatMap(({ field }) => bothMetas(field)));
  const metas = item.metas.filter(([key]) => !sourceMetas.has(key));
  let isSettled = true;
  const report = (reason: string, detail: string) => addLoss(tally, { reason, kind: 'event', of: nameOf(item), place: item.place, detail });
  for (const { field, known: target } of moves) {
    const rows = item.metas.filter(([key]) => bothMetas(field).includes(key));
    if (rows.length === 0) continue;
    if (target) {
      const moved = movedRows(field, target, rows);
      if (moved) metas.push(...moved);
      else report('value-refused', `${target.name}: ${rows[0]?.[1]}`);
      continue;
    }
    isSettled = false;
    const isTaken = local.some(({ meta }) => meta === field.meta);
    report(isTaken ? 'field-left-out' : 'field-hidden', field.name === field.meta ? field.label : field.name);
    if (!isTaken) metas.push(...rows);
  }
  return { item: { ...item, metas, initial: [...(item.initial ?? []), ...ownMetas] }, isSettled };
}

/** The metas that may hold a field: its own, and that of the single values of a checkbox. */
const bothMetas = ({ meta }: CustomField): readonly string[] => metasOf({ meta, name: meta, label: '', choices: [], type: 'checkbox' });

type Rows = readonly MetaPair[];

/** Returns the rows of a value in the metas of another field; undefined if that field does not accept the value. */
function movedRows(field: CustomField, target: CustomField, rows: Rows): Rows | undefined {
  const isSame = field.type === target.type && field.choices.join('\n') === target.choices.join('\n');
  if (!isSame) {
    const stored = storedValue(target, textOfStored(rows.find(([key]) => key === field.meta)?.[1] ?? ''));
    return stored && customFieldRows(target, stored);
  }
  const [from, to] = [bothMetas(field), bothMetas(target)];
  return rows.map(([key, value]) => [to[from.indexOf(key)] ?? key, value]);
}
