import type { Command } from 'commander';
import { kindOfSource, READ_AS, type SourceKind } from '../exchange/sources.ts';
import { tableOf } from '../wordpress/table.ts';
import { oneLine } from './print.ts';
import type { Session } from './session.ts';

/* Detection of options that have no effect in combination with others, which the user probably did not intend. */

type Options = Readonly<Record<string, unknown>>;

/** An option without effect, and the key of the sentence that explains it (`cli:idle`). */
interface Idle {
  readonly option: string;
  readonly why: 'with' | 'without' | 'source';
  readonly other: string;
}

/** Warns on standard error of each option of a command that has no effect. */
export function warnOfIdle({ io, say }: Session, command: Command): void {
  for (const { option, why, other } of idleIn(command))
    io.err(`${oneLine(say('warning', { message: say(`idle.${why}`, { option, other }) }))}\n`);
}

function idleIn(command: Command): Idle[] {
  const given: Options = command.opts();
  const typed = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
  return typed.flatMap((option): Idle[] => {
    const name = option.attributeName();
    const why = reasonOf(name, given) ?? (command.name() === 'import' ? reasonOfSource(name, command.args, given.as) : undefined);
    return why === undefined ? [] : [{ option: option.long ?? name, ...why }];
  });
}

type Reason = Omit<Idle, 'option'>;

/** Returns why an option has no effect in combination with the others; undefined if it has one. */
function reasonOf(name: string, given: Options): Reason | undefined {
  const beside = (other: string, isThere: unknown): Reason | undefined => (isThere ? { why: 'with', other } : undefined);
  const without = (other: string, isThere: unknown): Reason | undefined => (isThere ? undefined : { why: 'without', other });
  const bare = given.format === 'ids' || given.format === 'count';
  switch (name) {
    case 'fields':
      return beside('--etag', given.etag) ?? beside(`--format=${given.format}`, bare) ?? beside('--field', given.field);
    case 'field':
      return beside('--etag', given.etag) ?? beside(`--format=${given.format}`, bare);
    case 'format':
      return beside('--etag', given.etag);
    case 'follow':
      return beside('--preview', given.preview) ?? beside('--dry-run', given.dryRun);
    case 'yes':
      return without('--fix', given.fix);
    case 'everyLanguage':
      return without('--events', given.events);
    default:
      return undefined;
  }
}

/** Options of an import -> the kinds of sources that they apply to; other options apply to all. */
const OF_SOURCES: ReadonlyMap<string, readonly SourceKind[]> = tableOf({
  prefix: ['database'],
  site: ['database'],
  dateOrder: ['csv'],
  kind: ['csv'],
  map: ['csv'],
  skipBadRows: ['csv'],
  from: ['ical', 'web'],
  to: ['ical', 'web'],
  remoteUser: ['web'],
  rate: ['web'],
  sitemap: ['web'],
});

function reasonOfSource(name: string, places: readonly string[], as: unknown): Reason | undefined {
  const kind = kindOfSource(
    places[0] ?? '',
    READ_AS.find((one) => one === as),
  );
  const meant = OF_SOURCES.get(name);
  return kind === undefined || !meant || meant.includes(kind) ? undefined : { why: 'source', other: '' };
}
