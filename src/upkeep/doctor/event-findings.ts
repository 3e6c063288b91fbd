import { mayHaveRecurrence } from '../../calendar/settings.ts';
import { addToGroup } from '../../grouped-by.ts';
import type { Site } from '../../site.ts';
import { auditDates, type DateFault, REPAIRABLE, repairDates } from '../../storage/audit/event-audit.ts';
import {
  auditRecurrences,
  datesWithoutEvent,
  eventsWithManyStarts,
  orphanedSeriesRelations,
  postNearBase,
  type RecurrenceFault,
  raiseBase,
  removeRelations,
  repairFlag,
  repairRecurrence,
} from '../../storage/audit/recurrence-audit.ts';
import { type Database, hasTable } from '../../storage/engine/database.ts';
import { pagesOf } from '../../storage/engine/pages.ts';
import { indexEvents } from '../../storage/index/event-index.ts';
import { recomputeEdges } from '../../storage/rows/calendar-edges.ts';
import { findRecurrenceTables } from '../../storage/schema/recurrence-tables.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { type Finding, finding, inRepairTransaction } from './findings.ts';

/** Maximum number of events that one transaction repairs. */
const MAX_REPAIRS_PER_TRANSACTION = 200;

/** Returns findings about contradictory dates of events. */
export async function dateFindings(site: Site): Promise<Finding[]> {
  const { occurrenceTables: rows, recurrence, calendar, contentLanguages } = await site.settings();
  const idsByFault = new Map<DateFault, number[]>();
  for await (const { id, fault } of auditDates(site.db, { rows, recurrence })) addToGroup(idsByFault, fault, id);
  return [...idsByFault].flatMap(([fault, ids]) => {
    const repair = async (): Promise<void> => {
      for (const batch of pagesOf(ids, MAX_REPAIRS_PER_TRANSACTION)) {
        await inRepairTransaction(site, async (db) => {
          const options = { rows, recurrence, now: utcFromDate(site.clock()), cutoff: calendar.cutoff };
          for (const id of batch) await repairDates(db, id, options);
          if (await hasTable(db, 'tec_occurrences')) await indexEvents(db, batch, contentLanguages);
          if (rows) await recomputeEdges(db);
        })();
      }
    };
    return finding(
      `event-${fault}`,
      fault === 'all-day-times' ? 'warning' : 'error',
      ids.map(String),
      REPAIRABLE.has(fault) ? repair : undefined,
    );
  });
}

/** Repairs of recurring events that need no decision. */
const RECURRENCE_REPAIRS: ReadonlyMap<RecurrenceFault, (db: Database, post: number, now: string) => Promise<void>> = new Map([
  ['dates-differ', repairRecurrence],
  ['flag-wrong', repairFlag],
]);

/** Returns findings about recurring events whose rows, rules and series do not match. */
export async function recurrenceFindings(site: Site): Promise<Finding[]> {
  const { db } = site;
  const { recurrence, occurrenceTables, raw, contentLanguages, shared } = await site.settings();
  const posts = [
    ...finding('recurrence-many-starts', 'warning', (await eventsWithManyStarts(db)).map(String)),
    ...finding('recurrence-parents-gone', 'warning', (await datesWithoutEvent(db)).map(String)),
  ];
  if (!recurrence) {
    const lacksColumns = occurrenceTables && mayHaveRecurrence(raw) && !(await findRecurrenceTables(db)).columns;
    return [...posts, ...finding('recurrence-columns-missing', 'warning', lacksColumns ? [''] : [])];
  }
  const now = utcFromDate(site.clock());
  const idsByFault = new Map<RecurrenceFault, number[]>();
  for await (const { post, fault } of auditRecurrences(db, now)) addToGroup(idsByFault, fault, post);
  const events = [...idsByFault].flatMap(([fault, ids]) => {
    const repairFault = RECURRENCE_REPAIRS.get(fault);
    const fix = inRepairTransaction(site, async (trx) => {
      for (const id of ids) await repairFault?.(trx, id, now);
      await indexEvents(trx, ids, contentLanguages);
      await recomputeEdges(trx);
    });
    // Where no WordPress writes, the server itself adds dates.
    const name = fault === 'runs-out' && !shared ? 'recurrence-runs-out-here' : (`recurrence-${fault}` as const);
    return finding(name, SEVERE.has(fault) ? 'error' : 'warning', ids.map(String), repairFault && fix);
  });
  const relations = recurrence.series ? await orphanedSeriesRelations(db) : [];
  const nearestId = await postNearBase(db, recurrence);
  return [
    ...posts,
    ...events,
    ...finding(
      'recurrence-series-gone',
      'warning',
      relations.map(({ relationship_id: id }) => String(id)),
      // Read again: other repairs may have deleted events or series since.
      inRepairTransaction(site, async (trx) => removeRelations(trx, await orphanedSeriesRelations(trx))),
    ),
    // Where WordPress writes too, its extension decides about the base.
    ...finding(
      'recurrence-base-near',
      nearestId !== undefined && nearestId > recurrence.base ? 'error' : 'warning',
      nearestId === undefined ? [] : [`${nearestId} / ${recurrence.base}`],
      shared ? undefined : inRepairTransaction(site, (trx) => raiseBase(trx, recurrence)),
    ),
  ];
}

/** Faults that make lists wrong. */
const SEVERE: ReadonlySet<RecurrenceFault> = new Set(['dates-differ', 'first-differs', 'flag-wrong', 'rule-unreadable']);
