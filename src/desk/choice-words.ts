import { weekdays } from '../html/dates.ts';
import type { I18n } from '../html/i18n.ts';
import { type SiteOptionName, siteOptionChoices, WEEKDAYS } from '../upkeep/site-options.ts';
import type { Visit } from './visit.ts';

/*
 * Choices in forms of the desk, in words: roles, languages, and the values of options.
 */

/** Returns the name of a role; those of plugins have one of their own. */
export const roleName = ({ i18n, settings }: Pick<Visit, 'i18n' | 'settings'>, role: string): string =>
  i18n.has(`desk:roles.${role}`) ? i18n.say(`desk:roles.${role}`) : (settings.roles.get(role)?.name ?? role);

/** Returns the name of a language of the desk. */
export const languageName = ({ locale }: I18n, language: string): string =>
  new Intl.DisplayNames([locale], { type: 'language' }).of(language) ?? language;

/** Returns the value of an option in words; unchanged if the option has no choices or the value is not one of them. */
export function optionInWords(i18n: I18n, name: SiteOptionName, value: string): string {
  if (!siteOptionChoices(name)?.includes(value)) return value;
  return name === 'week_begins' ? weekdays(i18n, WEEKDAYS.indexOf(value))[0]!.long : i18n.say(`desk:settings.choices.${name}.${value}`);
}
