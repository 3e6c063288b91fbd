import { basename } from 'node:path';
import { SaxesParser } from 'saxes';
import { xmlEncoding } from '../items/encoding.ts';
import { MAX_TEXT_LENGTH, readDeclaredText } from '../items/file-text.ts';
import { type Entry, SourceFault } from '../items/items.ts';
import { type Source, siteName } from '../items/source.ts';
import { removeForbiddenCharacters } from './characters.ts';
import { type Elements, entryOf, homeOf, type TermGroup, termGroupOf } from './entries.ts';
import { createTermHolder } from './term-holder.ts';

/** Maximum depth; real exports are five elements deep. */
const MAX_DEPTH = 32;
/** Elements whose children form one entry. */
const RECORDS = new Set(['item', 'wp:author', 'wp:term', 'wp:tag', 'wp:category', 'fasti:fields']);

/**
 * Opens WXR files of WordPress, versions 1.0 to 1.2, which are read in chunks. Document type declarations are rejected,
 * and with them all entities except XML's own five; depth and length are limited. Characters that XML forbids occur in
 * real exports; they are removed and counted.
 *
 * @throws SourceFault naming file and line
 */
export function openWxr(paths: readonly string[]): Source {
  let name: string | undefined;
  return {
    name: () => name ?? '',
    close: async () => undefined,
    hint: 'export-all',
    entries: async function* (): AsyncGenerator<Entry> {
      const terms = createTermHolder();
      for (const path of paths) {
        const file = basename(path);
        for await (const record of records(path)) {
          if ('home' in record) {
            const home = siteName(record.home);
            if (name !== undefined && home !== '' && name !== home)
              throw new SourceFault('several-sites', { file, line: record.line, one: name, other: home });
            if (home !== '') name ??= home;
          } else if ('group' in record) terms.addGroup(record.group);
          else yield* terms.add(record.entry);
        }
        name ??= file;
      }
      yield* terms.release();
    },
  };
}

type Found = { readonly home: string; readonly line: number } | { readonly group: TermGroup } | { readonly entry: Entry };

/** An open element, with the parts of its text. */
interface OpenElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parts: { readonly text: string; readonly literal: boolean }[];
  readonly children: { name: string; attributes: Readonly<Record<string, string>>; text: string; children: Elements }[];
}

async function* records(path: string): AsyncGenerator<Found> {
  const file = basename(path);
  const parser = new SaxesParser({ fileName: '' });
  const reading: Reading = { file, stack: [], pendingEntries: [], unparsedLength: 0, version: false, hasEnded: false, itemLine: 0 };
  const position = () => ({ file, line: parser.line, column: parser.columnIndex + 1 });
  handleEvents(parser, reading, position);
  let forbidden = 0;
  const { chunks, isAssumed } = readDeclaredText(path, xmlEncoding);
  for await (const text of chunks) {
    const cleanText = removeForbiddenCharacters(text);
    forbidden += text.length - cleanText.length;
    reading.unparsedLength += cleanText.length;
    // The parser emits a text only at its end, so that its length has to be limited before.
    if (reading.unparsedLength > MAX_TEXT_LENGTH) throw new SourceFault('too-long', position());
    parser.write(cleanText);
    if (sizeOf(reading.stack) > MAX_TEXT_LENGTH) throw new SourceFault('too-long', position());
    yield* reading.pendingEntries.splice(0);
  }
  if (!reading.hasEnded) {
    if (parser.position === 0) throw new SourceFault('empty', { file });
    throw new SourceFault('truncated', position());
  }
  parser.close();
  if (!reading.version) throw new SourceFault('not-wxr', position());
  yield* reading.pendingEntries.splice(0);
  if (isAssumed()) yield { entry: { kind: 'loss', loss: { reason: 'encoding-assumed', kind: 'source', of: file } } };
  if (forbidden > 0)
    yield { entry: { kind: 'loss', loss: { reason: 'control-characters', kind: 'source', of: file, detail: String(forbidden) } } };
}

/** State of reading a file. */
interface Reading {
  readonly file: string;
  /** The open elements. */
  readonly stack: OpenElement[];
  /** Entries that were found and not yielded yet. */
  readonly pendingEntries: Found[];
  /** Characters since the last event of the parser. */
  unparsedLength: number;
  /** Whether the file has identified itself as an export of WordPress, and whether its end was reached. */
  version: boolean;
  hasEnded: boolean;
  itemLine: number;
}

function handleEvents(parser: SaxesParser, reading: Reading, position: () => Readonly<Record<string, string | number>>): void {
  const { stack } = reading;
  parser.on('error', (error) => {
    throw new SourceFault('not-xml', { ...position(), what: error.message.replace(/^(\d+:\d+: )+/, '') }, error);
  });
  parser.on('doctype', () => {
    throw new SourceFault('doctype', position());
  });
  parser.on('opentag', ({ name, attributes }) => {
    reading.unparsedLength = 0;
    if (stack.length === 0 && name !== 'rss') throw new SourceFault('not-wxr', position());
    if (stack.length >= MAX_DEPTH) throw new SourceFault('too-deep', position());
    if (name === 'item') reading.itemLine = parser.line;
    stack.push({ name, attributes: attributes as Record<string, string>, parts: [], children: [] });
  });
  parser.on('text', (text) => {
    reading.unparsedLength = 0;
    stack.at(-1)?.parts.push({ text, literal: false });
  });
  parser.on('cdata', (text) => {
    reading.unparsedLength = 0;
    stack.at(-1)?.parts.push({ text, literal: true });
  });
  parser.on('closetag', () => {
    reading.unparsedLength = 0;
    closeElement(reading, parser.line, position);
  });
}

/** Closes the innermost element: adds it to its parent, or to the entries of the file. */
function closeElement(reading: Reading, line: number, position: () => Readonly<Record<string, string | number>>): void {
  const { stack, pendingEntries, file } = reading;
  const closedElement = stack.pop()!;
  const parent = stack.at(-1);
  if (!parent) {
    reading.hasEnded = true;
    return;
  }
  const element = {
    name: closedElement.name,
    attributes: closedElement.attributes,
    text: textIn(closedElement),
    children: closedElement.children,
  };
  if (parent.name !== 'channel' || stack.length !== 2) {
    if (stack.length > 2) parent.children.push(element);
    return;
  }
  if (element.name === 'wp:wxr_version') reading.version = true;
  const home = homeOf(element);
  if (home !== undefined) pendingEntries.push({ home, line });
  if (!RECORDS.has(element.name)) return;
  if (!reading.version) throw new SourceFault('not-wxr', position());
  const group = termGroupOf(element);
  if (group) pendingEntries.push({ group });
  pendingEntries.push(...entryOf(element, `${file}:${element.name === 'item' ? reading.itemLine : line}`).map((entry) => ({ entry })));
}

/** Returns the size of the record that is being read. */
const sizeOf = (stack: readonly OpenElement[]): number =>
  stack
    .slice(2)
    .reduce(
      (size, { parts, children }) =>
        size +
        parts.reduce((sum, { text }) => sum + text.length, 0) +
        children.reduce((sum, { text }) => sum + text.length + ELEMENT_OVERHEAD, 0),
      0,
    );
const ELEMENT_OVERHEAD = 64;

/**
 * Returns the text of an element. White space around a CDATA section is formatting; a carriage return is part of the
 * text, since XML converts those of line endings to line feeds.
 */
function textIn({ parts }: OpenElement): string {
  const first = parts.findIndex(({ literal }) => literal);
  if (first < 0) return parts.map(({ text }) => text).join('');
  const last = parts.findLastIndex(({ literal }) => literal);
  return parts.map(({ text }, index) => ((index < first || index > last) && /^[ \t\n]*$/.test(text) ? '' : text)).join('');
}
