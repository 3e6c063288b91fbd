import { textOf } from '../forms/control.ts';
import { membersIn } from '../forms/form-values.ts';
import { INITIAL_ALT } from '../forms/image-control.tsx';
import { labelOf, statusText } from '../forms/labels.ts';
import { isYesOrNo } from '../kinds/editable.ts';
import { postKinds, termKinds } from '../kinds/index.ts';
import type { Values } from '../kinds/param.ts';
import { isObject } from '../objects.ts';
import type { Visit } from './visit.ts';

/*
 * The content of a form to be sent again, in words.
 */

/** Technical fields of forms that contain no user input. */
const TECHNICAL_FIELDS: ReadonlySet<string> = new Set(
  [
    'fields version back begun shown_role translation_of copy_of publish author',
    'kept columns map dates skip run',
    'decision app_id success_url reject_url',
  ].flatMap((names) => names.split(' ')),
);
/** Members that users did not enter, or that name something by its id, which means nothing to them. */
const ID_MEMBERS: ReadonlySet<string> = new Set(['id', 'ids', 'keep', 'remove', INITIAL_ALT]);

/** Returns the values entered into a form that was sent to this path, each with the field's label. */
export function labelledInput(visit: Pick<Visit, 'i18n'>, path: string, fields: Values): [label: string, words: string][] {
  const { i18n } = visit;
  const kind = [...postKinds, ...termKinds].find((one) => `${path}/`.startsWith(`/${one.path}/`));
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    // A date of a series that a button is about is only named by its moment.
    if (name.startsWith('_') || TECHNICAL_FIELDS.has(name) || (name === 'date' && typeof value === 'string')) return [];
    const field = kind?.fields[name as keyof typeof kind.fields];
    const text = collectTexts(value).join(' ');
    if (text === '') return [];
    if (field && isYesOrNo(field.grammar)) return [[labelOf(i18n, kind!.name, name), i18n.say('desk:yes')]];
    const valueText = name === 'status' ? statusText(i18n, text) : text;
    return [[kind ? labelOf(i18n, kind.name, name) : labelOfOtherField(visit, name), valueText]];
  });
}

/** Returns the texts of a field with several inputs. */
const collectTexts = (value: unknown): string[] =>
  !isObject(value)
    ? [textOf(value)].filter((text) => text !== '')
    : Object.entries(membersIn(value)).flatMap(([name, member]) => (ID_MEMBERS.has(name) ? [] : collectTexts(member)));

/** Returns the label of a field in a form that is not one of a record. */
function labelOfOtherField({ i18n: { say, has } }: Pick<Visit, 'i18n'>, name: string): string {
  const key = [`cli:option.names.${name}`, `desk:people.${name}`, `desk:fields.${name}`].find(has);
  return key === undefined ? name : say(key);
}
