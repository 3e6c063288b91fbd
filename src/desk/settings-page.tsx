import { Fragment, type JSX } from 'preact';
import { membersIn, textIn } from '../forms/form-values.ts';
import { weekdays } from '../html/dates.ts';
import { Input, type InputProps, type Option, Select } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';
import type { Values } from '../kinds/param.ts';
import { SITE_OPTIONS, type SiteOptionName, setSiteOptions, siteOption, siteOptionChoices, WEEKDAYS } from '../upkeep/site-options.ts';
import { deskPage, Nonce } from './layout.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * The settings of the site.
 */

/**
 * Returns the page with all options of the site. `input`: the user's input for some, which is not saved; `invalid`:
 * those with an invalid value.
 */
export async function settingsPage(visit: Visit, input: Values = {}, invalid: readonly string[] = []): Promise<Outcome> {
  const { say } = visit.i18n;
  const currentValue = (name: SiteOptionName) => (name in input ? textIn(input, name) : siteOption(visit.settings, name));
  const html = deskPage(visit, {
    title: say('desk:parts.settings'),
    section: 'settings',
    notice: invalid.length === 0 ? undefined : { tone: 'wrong', text: say('desk:form.wrong') },
    children: (
      <form method="post" action={deskUrl(visit, '/settings')} class="narrow settings">
        <Nonce nonce={visit.nonce} />
        {SITE_OPTIONS.map((name) => (
          <Fragment key={name}>
            <input type="hidden" name={`begun[${name}]`} value={siteOption(visit.settings, name)} />
            <OptionField
              visit={visit}
              name={name}
              value={currentValue(name)}
              error={invalid.includes(name) ? say('desk:settings.allowed', { allowed: say(`cli:option.allowed.${name}`) }) : undefined}
            />
          </Fragment>
        ))}
        <button type="submit" class="button-main">
          {say('desk:form.save')}
        </button>
      </form>
    ),
  });
  return { html, ...(invalid.length > 0 ? { status: 422 } : {}) };
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
  if (choices) return <Select {...field} options={choices.map((choice) => optionOf(visit.i18n, name, choice))} />;
  return <Input {...field} type={INPUT_TYPES[name] ?? 'text'} />;
}

function optionOf(i18n: I18n, name: SiteOptionName, value: string): Option {
  const text =
    name === 'week_begins' ? weekdays(i18n, WEEKDAYS.indexOf(value))[0]!.long : i18n.say(`desk:settings.choices.${name}.${value}`);
  return { value, text };
}

/** Returns a description of the command line with a capital letter, as a label. */
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Sets the options that the user changed in the form, since another user may have changed others after it was opened.
 * If one of them is invalid, none is set.
 */
export async function saveSettings(visit: Submission): Promise<Outcome> {
  const { site, settings, fields } = visit;
  const initialValues = membersIn(fields.begun);
  const changes = Object.fromEntries(
    SITE_OPTIONS.flatMap((name) => {
      const value = textIn(fields, name).trim();
      const before = name in initialValues ? textIn(initialValues, name).trim() : siteOption(settings, name);
      return name in fields && value !== before ? [[name, value] as const] : [];
    }),
  );
  const invalid = await setSiteOptions(site, changes);
  return invalid.length > 0 ? settingsPage(visit, changes, invalid) : { to: deskUrl(visit, '/settings', { done: 'settings' }) };
}
