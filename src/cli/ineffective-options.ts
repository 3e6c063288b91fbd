import type { Command } from 'commander';
import { READABLE_FORMATS } from '../exchange/items/file-formats.ts';
import { kindOfSource, type SourceKind } from '../exchange/sources.ts';
import { tableOf } from '../wordpress/table.ts';
import { oneLine } from './print.ts';
import type { Session } from './session.ts';

/* Detection of options that have no effect in combination with others, which the user probably did not intend. */

type Options = Readonly<Record<string, unknown>>;

/** An option without effect, and the key of the sentence that explains it (`cli:idle`). */
interface IneffectiveOption {
  readonly option: string;
  readonly sentenceKey: 'with' | 'without' | 'source';
  readonly other: string;
}

/** Warns on standard error of each option of a command that has no effect. */
export function warnOfIneffectiveOptions({ io, say }: Session, command: Command): void {
  for (const { option, sentenceKey, other } of findIneffectiveOptions(command))
    io.err(`${oneLine(say('warning', { message: say(`idle.${sentenceKey}`, { option, other }) }))}\n`);
}

function findIneffectiveOptions(command: Command): IneffectiveOption[] {
  const options: Options = command.opts();
  const explicitOptions = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
  return explicitOptions.flatMap((option): IneffectiveOption[] => {
    const name = option.attributeName();
    const reason = reasonOf(name, options) ?? (command.name() === 'import' ? reasonBySource(name, command.args, options.as) : undefined);
    return reason === undefined ? [] : [{ option: option.long ?? name, ...reason }];
  });
}

type Reason = Omit<IneffectiveOption, 'option'>;

/** Returns why an option has no effect in combination with the others; undefined if it has one. */
function reasonOf(name: string, options: Options): Reason | undefined {
  const ifWith = (other: string, isThere: unknown): Reason | undefined => (isThere ? { sentenceKey: 'with', other } : undefined);
  const ifWithout = (other: string, isThere: unknown): Reason | undefined => (isThere ? undefined : { sentenceKey: 'without', other });
  const hasNoFields = options.format === 'ids' || options.format === 'count';
  switch (name) {
    case 'fields':
      return ifWith('--etag', options.etag) ?? ifWith(`--format=${options.format}`, hasNoFields) ?? ifWith('--field', options.field);
    case 'field':
      return ifWith('--etag', options.etag) ?? ifWith(`--format=${options.format}`, hasNoFields);
    case 'format':
      return ifWith('--etag', options.etag);
    case 'follow':
      return ifWith('--preview', options.preview) ?? ifWith('--dry-run', options.dryRun);
    case 'yes':
      return ifWithout('--fix', options.fix);
    case 'everyLanguage':
      return ifWithout('--events', options.events);
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
  settings: ['database', 'jsonl', 'wxr'],
  remoteUser: ['web'],
  rate: ['web'],
  sitemap: ['web'],
});

function reasonBySource(name: string, places: readonly string[], format: unknown): Reason | undefined {
  const kind = kindOfSource(
    places[0] ?? '',
    READABLE_FORMATS.find((one) => one === format),
  );
  const applicable = SOURCES_OF_OPTIONS.get(name);
  return kind === undefined || !applicable || applicable.includes(kind) ? undefined : { sentenceKey: 'source', other: '' };
}
