import type { JSX } from 'preact';
import { isInLanguage } from '../calendar/custom-fields.ts';
import { NO_CONTROL_DATA } from '../forms/control.ts';
import { controlOf } from '../forms/controls.ts';
import type { TranslationTexts } from '../forms/fields.tsx';
import { idIn, membersIn, textIn } from '../forms/form-values.ts';
import { Link } from '../html/links.tsx';
import { isYesOrNo } from '../kinds/editable.ts';
import type { PostKind, TermKind } from '../kinds/kind.ts';
import type { Field, Values } from '../kinds/param.ts';
import { type Editable, readEditable } from '../records/editing.ts';
import { languageOfCode, languageTag } from '../wordpress/content-languages.ts';
import { deskUrl, type Visit } from './visit.ts';

/*
 * Translations of a record: links to them, a new one with the values that are the same in every language, and the texts
 * of another language next to the fields of a form.
 */

/**
 * Fields, in addition to booleans, that a translation has in common with its source; terms, links and the image are
 * taken from the source record.
 */
const SHARED_FIELDS = ['start_date', 'end_date', 'timezone', 'cost', 'website', 'phone', 'email', 'zip', 'geo_lat', 'geo_lng'];
const TEXT_COLUMNS: ReadonlySet<string> = new Set(['post_title', 'post_content', 'post_excerpt']);

/** Returns whether a field contains text in a language. */
const isText = ({ text, place }: Field): boolean => text !== undefined || (place.in === 'column' && TEXT_COLUMNS.has(place.column));

/** The language members of a record. */
export interface LanguageMembers {
  /** Terms have none. */
  readonly status?: string | undefined;
  readonly language?: string | null | undefined;
  readonly translations?: Readonly<Record<string, { readonly id: number; readonly url: string }>> | undefined;
}

/**
 * Links to the existing translations, and to the forms of missing ones (`newPath`) unless the record is in the trash,
 * where no other record can be linked to it. `editable`: the translations that the user may edit; the links to others
 * lead to their pages. By default the user may edit all, as with terms. `showsTexts`: whether the form of a translation
 * shows the texts of another one.
 */
export function TranslationLinks(props: {
  readonly visit: Visit;
  readonly kind: PostKind | TermKind;
  readonly id: number;
  readonly record: LanguageMembers;
  readonly newPath?: string;
  readonly editable?: ReadonlySet<number>;
  readonly showsTexts?: boolean;
}): JSX.Element | null {
  const { visit, kind, id, record, newPath = `/${kind.path}/new`, editable, showsTexts = false } = props;
  const { settings, i18n } = visit;
  const { status, language, translations = {} } = record;
  if (!settings.contentLanguages || !('translation_of' in kind.fields) || !language) return null;
  return (
    <nav aria-label={i18n.say('desk:translations.title')}>
      <ul class="translations">
        {settings.contentLanguages.languages.map((contentLanguage) => {
          const { code, name } = contentLanguage;
          const translation = translations[code];
          if (code === language) return <li key={code}>{i18n.say('desk:translations.this', { language: name })}</li>;
          if (!translation && status === 'trash') return null;
          const isReadOnly = translation && editable && !editable.has(translation.id);
          return (
            <li key={code}>
              {isReadOnly ? (
                <Link href={translation.url}>{i18n.say('desk:translations.view', { language: name })}</Link>
              ) : translation ? (
                <Link href={deskUrl(visit, `/${kind.path}/${translation.id}`, showsTexts ? { beside: id } : {})}>
                  {i18n.say(showsTexts ? 'desk:translations.edit' : 'desk:translations.open', { language: name })}
                </Link>
              ) : (
                <Link href={deskUrl(visit, newPath, { translation_of: id, language: code })}>
                  {i18n.say('desk:translations.new', { language: name })}
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** Name of the form field with the language that the link to the form of a new translation named. */
export const TARGET_LANGUAGE_FIELD = 'target_language';

/**
 * Returns the path under which the browser keeps the input of a form for a new record. Input for one translation is not
 * offered for another. `names`: the record that the new one comes from, and the language of a translation.
 */
export function draftPath(path: string, names: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams(Object.entries(names).flatMap(([name, value]) => (value ? [[name, String(value)]] : [])));
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Returns the record that a new one translates, named in the URL or the form; undefined if there is none. */
export async function findSource(visit: Visit, kind: PostKind, fields: Values): Promise<Editable | undefined> {
  const id = idIn(textIn(fields, 'translation_of'));
  return id === 0 || !('translation_of' in kind.fields) ? undefined : readEditable(visit.site, visit.caller, kind, id);
}

/** Returns the initial values of a translation. */
export function translationValues({ settings }: Visit, kind: PostKind, { values }: Editable, language: string): Values {
  const sharedEntries = Object.entries<Field>(kind.fields).flatMap(([name, field]): [string, unknown][] =>
    SHARED_FIELDS.includes(name) || isYesOrNo(field.grammar) ? [[name, values[name]]] : [],
  );
  const sourceCustom = membersIn(values.custom_fields);
  const sharedCustom = settings.calendar.customFields.flatMap((field) =>
    isInLanguage(field) ? [] : [[field.name, sourceCustom[field.name]]],
  );
  const customFields = 'custom_fields' in kind.fields ? { custom_fields: Object.fromEntries(sharedCustom) } : {};
  return { ...Object.fromEntries(sharedEntries), ...customFields, language };
}

/**
 * Returns the texts of a translation to be shown next to the fields of a form; undefined if none is requested, or one
 * that the user may not edit.
 */
export async function translationTexts(visit: Visit, kind: PostKind, record: Editable): Promise<TranslationTexts | undefined> {
  const id = idIn(textIn(visit.request.query, 'beside'));
  if (!record.editableTranslations.has(id)) return undefined;
  return textsByField(visit, kind, await readEditable(visit.site, visit.caller, kind, id));
}

/** Returns the texts of a record by field. */
export function textsByField({ settings, i18n }: Visit, kind: PostKind, { values, record }: Editable): TranslationTexts {
  const code = typeof record.language === 'string' ? record.language : undefined;
  const language = settings.contentLanguages && languageOfCode(settings.contentLanguages, code);
  const data = { ...NO_CONTROL_DATA, say: i18n.say };
  const texts = Object.entries<Field>(kind.fields).flatMap(([name, field]): [string, string][] => {
    if (!isText(field)) return [];
    const control = controlOf(name, field);
    return [[name, control.toText(control.toFormValue(values[name], data), data)]];
  });
  return { languageName: language?.name ?? '', languageTag: language ? languageTag(language) : undefined, texts: new Map(texts) };
}
