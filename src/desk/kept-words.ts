import { textOf } from '../forms/control.ts';
import { membersIn } from '../forms/form-values.ts';
import { labelOf } from '../forms/labels.ts';
import { isYesOrNo } from '../kinds/editable.ts';
import { postKinds, termKinds } from '../kinds/index.ts';
import type { Values } from '../kinds/param.ts';
import type { Visit } from './visit.ts';

/*
 * What a form holds that is to be sent once more, in words.
 */

/** What belongs to a form itself and not to what is typed. */
const FORM_OWN: ReadonlySet<string> = new Set(
  'fields version back begun translation_of publish author action ids found decision'.split(' '),
);
/** What names something by its id, which says nothing to people. */
const IDS: ReadonlySet<string> = new Set(['id', 'ids', 'keep', 'remove']);

/** What was typed into the fields of a form that was sent to this path, each under the name that the form gives it. */
export function keptWords(visit: Pick<Visit, 'i18n'>, path: string, fields: Values): [label: string, words: string][] {
  const { i18n } = visit;
  const kind = [...postKinds, ...termKinds].find((one) => `${path}/`.startsWith(`/${one.path}/`));
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    // The date of a series that a button is about is named by its moment alone.
    if (name.startsWith('_') || FORM_OWN.has(name) || (name === 'date' && typeof value === 'string')) return [];
    const field = kind?.fields[name as keyof typeof kind.fields];
    const text = textsWithin(value).join(' ');
    if (text === '') return [];
    if (field && isYesOrNo(field.grammar)) return [[labelOf(i18n, kind!.name, name), i18n.say('desk:yes')]];
    const words = name === 'status' && i18n.has(`statuses:${text}`) ? i18n.say(`statuses:${text}`) : text;
    return [[kind ? labelOf(i18n, kind.name, name) : labelElsewhere(visit, name), words]];
  });
}

/** The texts of a field of several inputs. */
const textsWithin = (value: unknown): string[] =>
  value === null || typeof value !== 'object'
    ? [textOf(value)].filter((text) => text !== '')
    : Object.entries(membersIn(value)).flatMap(([name, member]) => (IDS.has(name) ? [] : textsWithin(member)));

/** What a field is called in a form that is not one of a record. */
function labelElsewhere({ i18n: { say, has } }: Pick<Visit, 'i18n'>, name: string): string {
  const key = [`cli:option.names.${name}`, `desk:people.${name}`, `desk:fields.${name}`].find(has);
  return key === undefined ? name : say(key);
}
