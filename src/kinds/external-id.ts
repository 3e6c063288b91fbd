import { storedTextField, stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { trimAscii } from '../wordpress/trim.ts';
import type { Condition } from './condition.ts';
import { textMeta } from './fields.ts';
import { type Grammar, MAX_BYTES, type Plain, REFUSED } from './grammars/grammar.ts';
import { anyText, nameText } from './grammars/grammars.ts';
import type { Param } from './param.ts';

/*
 * External IDs: the names of records in other systems. An external ID is unique among the records of a kind, so that it
 * can be used to find the record.
 */

/** The meta with the external ID of a record. */
export const EXTERNAL_ID = '_fasti_external_id';

/**
 * Returns an external ID as it is stored: as sent, since nothing about it is text to be read, but trimmed and without
 * control characters (decision D39), which no form can send back; tabs and line breaks become blanks.
 */
export const storedExternalId = (sent: string): string =>
  trimAscii(stripControlCharacters(sent.replace(/\p{Surrogate}/gu, '\ufffd')).replace(/\r\n|[\t\r\n]/g, ' '));

/**
 * Returns the texts that may be stored for an external ID, the preferred one first. Earlier versions removed tags,
 * percent-encoded bytes and runs of blanks.
 */
export function externalIdForms(externalId: string): readonly [current: string, ...former: string[]] {
  const former = storedTextField(externalId);
  return former === '' || former === externalId ? [externalId] : [externalId, former];
}

/** The beginning of an HTML tag. Message IDs such as `<4711@host.example>` are none. */
const TAG = /<[a-z/!?](?![^\s<>"'=/@]*@[^\s<>"'=/@]*>)/i;

/**
 * Reads an external ID in its stored form. Refused are a text of which nothing would be left, and one with HTML tags:
 * unlike other texts, it is stored without being cleaned.
 */
const stored = (grammar: Grammar<string>): Plain<string> => ({
  ...grammar,
  read: (raw) => {
    const reading = grammar.read(raw, () => false);
    if (reading.value === undefined || reading.value === '') return reading;
    const value = storedExternalId(reading.value);
    return value === '' || TAG.test(value) ? REFUSED : { ...reading, value };
  },
});

/** The field. */
export const externalIdField = textMeta(EXTERNAL_ID, {
  grammar: stored(anyText(MAX_BYTES.word)),
  store: (value) => [storedExternalId(value)].filter((text) => text !== ''),
  searched: false,
  isAdditional: true,
});

/** The parameter of lists. */
export const EXTERNAL_ID_PARAM = { grammar: stored(nameText(MAX_BYTES.word)), isAdditional: true } as const satisfies Param<string>;

/** Returns the condition for the record with this external ID. */
export function byExternalId(externalId: string): Condition[] {
  const [value, former] = externalIdForms(externalId);
  return [{ by: 'metaIs', key: EXTERNAL_ID, value, former }];
}
