import type { Command } from 'commander';
import { kindOfSource, READ_ONLY_FORMATS, type SourceKind } from '../exchange/sources.ts';
import { tableOf } from '../wordpress/table.ts';
import { oneLine } from './print.ts';
import type { Session } from './session.ts';

/* Detection of options that have no effect in combination with others, which the user probably did not intend. */

type Options = Readonly<Record<string, unknown>>;

/** An option without effect, and the key of the sentence that explains it (`cli:idle`). */
interface IneffectiveOption {
  readonly option: string;
  readonly why: 'with' | 'without' | 'source';
  readonly other: string;
}

/** Warns on standard error of each option of a command that has no effect. */
export function warnOfIneffectiveOptions({ io, say }: Session, command: Command): void {
  for (const { option, why, other } of findIneffectiveOptions(command))
    io.err(`${oneLine(say('warning', { message: say(`idle.${why}`, { option, other }) }))}\n`);
}

function findIneffectiveOptions(command: Command): IneffectiveOption[] {
  const given: Options = command.opts();
  const typed = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
  return typed.flatMap((option): IneffectiveOption[] => {
    const name = option.attributeName();
    const why = reasonOf(name, given) ?? (command.name() === 'import' ? reasonBySource(name, command.args, given.as) : undefined);
    return why === undefined ? [] : [{ option: option.long ?? name, ...why }];
  });
}

type Reason = Omit<IneffectiveOption, 'option'>;

/** Returns why an option has no effect in combination with the others; undefined if it has one. */
function reasonOf(name: string, given: Options): Reason | undefined {
  const ifWith = (other: string, isThere: unknown): Reason | undefined => (isThere ? { why: 'with', other } : undefined);
  const ifWithout = (other: string, isThere: unknown): Reason | undefined => (isThere ? undefined : { why: 'without', other });
  const bare = given.format === 'ids' || given.format === 'count';
  switch (name) {
    case 'fields':
      return ifWith('--etag', given.etag) ?? ifWith(`--format=${given.format}`, bare) ?? ifWith('--field', given.field);
    case 'field':
      return ifWith('--etag', given.etag) ?? ifWith(`--format=${given.format}`, bare);
    case 'format':
      return ifWith('--etag', given.etag);
    case 'follow':
      return ifWith('--preview', given.preview) ?? ifWith('--dry-run', given.dryRun);
    case 'yes':
      return ifWithout('--fix', given.fix);
    case 'everyLanguage':
      return ifWithout('--events', given.events);
    default:
      return undefined;
  }
}

/** Options of an import -> the kinds of sources that they apply to; other options apply to all. */
const SOURCES_OF_OPTIONS: ReadonlyMap<string, readonly SourceKind[]> = tableOf({
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

function reasonBySource(name: string, places: readonly string[], as: unknown): Reason | undefined {
  const kind = kindOfSource(
    places[0] ?? '',
    READ_ONLY_FORMATS.find((one) => one === as),
  );
  const applicable = SOURCES_OF_OPTIONS.get(name);
  return kind === undefined || !applicable || applicable.includes(kind) ? undefined : { why: 'source', other: '' };
}
