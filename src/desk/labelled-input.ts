import { textOf } from '../forms/control.ts';
import { membersIn } from '../forms/form-values.ts';
import { INITIAL_ALT } from '../forms/image-control.tsx';
import { labelOf, statusText } from '../forms/labels.ts';
import { isYesOrNo } from '../kinds/editable.ts';
import { postKinds, termKinds } from '../kinds/index.ts';
import type { PostKind, TermKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { isObject } from '../objects.ts';
import { SITE_OPTIONS } from '../upkeep/site-options.ts';
import { languageName, optionInWords, roleName } from './choice-words.ts';
import type { Visit } from './visit.ts';

/*
 * The content of a form to be sent again, in words.
 */

/** Technical fields of forms that contain no user input. */
const TECHNICAL_FIELDS: ReadonlySet<string> = new Set(
  [
    'fields version form_key back begun shown_role translation_of target_language copy_of shares_password publish locate author',
    'kept columns map dates skip run',
    'decision app_id success_url reject_url',
  ].flatMap((names) => names.split(' ')),
);
/** Members that users did not enter, or that name something by its id, which means nothing to them. */
const ID_MEMBERS: ReadonlySet<string> = new Set(['id', 'ids', 'keep', 'remove', INITIAL_ALT]);

type WordsSource = Pick<Visit, 'i18n' | 'settings' | 'site'>;

/** Returns the kind whose forms have paths like this one; undefined: the form is not one of a record. */
export const kindAt = (path: string): PostKind | TermKind | undefined =>
  [...postKinds, ...termKinds].find((one) => `${path}/`.startsWith(`/${one.path}/`));

/** Returns the values entered into a form that was sent to this path, each with the field's label. */
export function labelledInput(visit: WordsSource, path: string, fields: Values): [label: string, words: string][] {
  const { i18n } = visit;
  const kind = kindAt(path);
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    // A date of a series that a button is about is only named by its moment.
    if (name.startsWith('_') || TECHNICAL_FIELDS.has(name) || (name === 'date' && typeof value === 'string')) return [];
    const field = kind?.fields[name as keyof typeof kind.fields];
    const text = collectTexts(value).join(' ');
    if (text === '') return [];
    if (field && isYesOrNo(field.grammar)) return [[labelOf(i18n, kind!.name, name), i18n.say('desk:yes')]];
    if (kind) return [[labelOf(i18n, kind.name, name), recordValueInWords(visit, name, text)]];
    return [[labelOfOtherField(visit, name), otherValueInWords(visit, name, text)]];
  });
}

/** Returns the texts of a field with several inputs. */
const collectTexts = (value: unknown): string[] =>
  !isObject(value)
    ? [textOf(value)].filter((text) => text !== '')
    : Object.entries(membersIn(value)).flatMap(([name, member]) => (ID_MEMBERS.has(name) ? [] : collectTexts(member)));

/** Returns a value of a record's form; a choice by its name, and any other value as it is. */
function recordValueInWords({ i18n, settings }: WordsSource, name: string, value: string): string {
  if (name === 'status') return statusText(i18n, value);
  const languages = name === 'language' ? settings.contentLanguages?.languages : undefined;
  return languages?.find(({ code }) => code === value)?.name ?? value;
}

/** Returns a value of another form in the same way. */
function otherValueInWords(visit: WordsSource, name: string, value: string): string {
  if (name === 'status') return statusText(visit.i18n, value);
  if (name === 'role') return roleName(visit, value);
  if (name === 'language' && visit.site.texts.languages.includes(value)) return languageName(visit.i18n, value);
  const option = SITE_OPTIONS.find((one) => one === name);
  return option === undefined ? value : optionInWords(visit.i18n, option, value);
}

/** Returns the label of a field in a form that is not one of a record. */
function labelOfOtherField({ i18n: { say, has } }: Pick<Visit, 'i18n'>, name: string): string {
  const key = [`cli:option.names.${name}`, `desk:people.${name}`, `desk:fields.${name}`].find(has);
  return key === undefined ? name : say(key);
}
