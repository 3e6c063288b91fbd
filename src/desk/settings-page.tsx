import type { JSX } from 'preact';
import type { SiteSettings } from '../calendar/settings.ts';
import { SavedNow } from '../forms/fields.tsx';
import { membersIn, textIn } from '../forms/form-values.ts';
import { Input, type InputProps, Select } from '../html/form-fields.tsx';
import type { Values } from '../kinds/param.ts';
import { type Site, withinTransaction } from '../site.ts';
import { SITE_OPTIONS, type SiteOptionName, setSiteOptions, siteOption, siteOptionChoices } from '../upkeep/site-options.ts';
import { optionInWords } from './choice-words.ts';
import { deskPage, Nonce } from './layout.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * The settings of the site.
 */

/** A form of settings that was not saved. */
interface UnsavedForm {
  /** The user's input for some options. */
  readonly input: Values;
  /** Those with an invalid value. */
  readonly invalid?: readonly string[];
  /** Those that another user has changed since the form was opened. */
  readonly conflicts?: readonly string[];
}

/** Returns the page with all options of the site. */
export async function settingsPage(visit: Visit, { input, invalid = [], conflicts = [] }: UnsavedForm = { input: {} }): Promise<Outcome> {
  const { say } = visit.i18n;
  const [text, status] =
    conflicts.length > 0 ? [say('desk:settings.conflict'), 409] : invalid.length > 0 ? [say('desk:form.wrong'), 422] : [];
  const currentValue = (name: SiteOptionName) => (name in input ? textIn(input, name) : siteOption(visit.settings, name));
  const html = deskPage(visit, {
    title: say('desk:parts.settings'),
    section: 'settings',
    notice: text === undefined ? undefined : { tone: 'wrong', text },
    children: (
      <form method="post" action={deskUrl(visit, '/settings')} class="narrow settings">
        <Nonce nonce={visit.nonce} />
        {SITE_OPTIONS.map((name) => (
          <div key={name} class={conflicts.includes(name) ? 'conflict' : undefined}>
            <input type="hidden" name={`begun[${name}]`} value={siteOption(visit.settings, name)} />
            <OptionField
              visit={visit}
              name={name}
              value={currentValue(name)}
              error={invalid.includes(name) ? say('desk:settings.allowed', { allowed: say(`cli:option.allowed.${name}`) }) : undefined}
            />
            {conflicts.includes(name) && (
              <SavedNow i18n={visit.i18n} text={optionInWords(visit.i18n, name, siteOption(visit.settings, name))} />
            )}
          </div>
        ))}
        <button type="submit" class="button-main">
          {say('desk:form.save')}
        </button>
      </form>
    ),
  });
  return { html, ...(status === undefined ? {} : { status }) };
}

/** Options with a special input type. */
const INPUT_TYPES: Partial<Record<SiteOptionName, InputProps['type']>> = { url: 'url', email: 'email', day_begins: 'time' };

function OptionField(props: {
  readonly visit: Visit;
  readonly name: SiteOptionName;
  readonly value: string;
  readonly error: string | undefined;
}): JSX.Element {
  const { visit, name, value, error } = props;
  const field = { name, value, error, label: capitalize(visit.i18n.say(`cli:option.names.${name}`)) };
  const choices = siteOptionChoices(name);
  if (choices) return <Select {...field} options={choices.map((value) => ({ value, text: optionInWords(visit.i18n, name, value) }))} />;
  return <Input {...field} type={INPUT_TYPES[name] ?? 'text'} />;
}

/** Returns a description of the command line with a capital letter, as a label. */
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Sets the options that the user changed in the form, since another user may have changed others after it was opened.
 * If one of them is invalid, or another user has changed it too, none is set.
 */
export async function saveSettings(visit: Submission): Promise<Outcome> {
  const { settings, unsaved } = await visit.site.db.transaction(async (db) => {
    // Settings in memory may lack what another program has just changed.
    const site = withinTransaction(visit.site, db);
    const stored = await site.settings();
    return { settings: stored, unsaved: await setChangedOptions(site, changesIn(visit.fields, stored)) };
  });
  return unsaved ? settingsPage({ ...visit, settings }, unsaved) : { to: deskUrl(visit, '/settings', { done: 'settings' }) };
}

/** A changed option in a form. */
interface Change {
  readonly name: SiteOptionName;
  readonly value: string;
  /** Whether its stored value is no longer that with which the form was opened. */
  readonly hasConflict: boolean;
}

function changesIn(fields: Values, settings: SiteSettings): Change[] {
  const initialValues = membersIn(fields.begun);
  return SITE_OPTIONS.flatMap((name) => {
    const [value, saved] = [textIn(fields, name).trim(), siteOption(settings, name).trim()];
    const before = name in initialValues ? textIn(initialValues, name).trim() : saved;
    return name in fields && value !== before && value !== saved ? [{ name, value, hasConflict: before !== saved }] : [];
  });
}

/** Sets changed options; if nothing may be saved, returns the form to be shown again. */
async function setChangedOptions(site: Site, changes: readonly Change[]): Promise<UnsavedForm | undefined> {
  const input = Object.fromEntries(changes.map(({ name, value }) => [name, value]));
  const conflicts = changes.filter(({ hasConflict }) => hasConflict).map(({ name }) => name);
  if (conflicts.length > 0) return { input, conflicts };
  const invalid = await setSiteOptions(site, input);
  return invalid.length > 0 ? { input, invalid } : undefined;
}
