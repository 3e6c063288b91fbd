import type { Values } from '../kinds/param.ts';
import { localFromUnix, parseZone, unixFromLocal } from '../wordpress/zones.ts';
import type { FormContext } from './form-context.ts';

/*
 * Local times that do not exist because clocks are set forward. Like PHP, the API moves them an hour ahead; in forms,
 * the user has to correct them.
 */

const DATE_FIELDS = ['start_date', 'end_date'];

/**
 * Returns the dates of an event in a form that do not exist, each with a sentence about it. `raw`: the values to be
 * written; `before`: the stored values.
 */
export function skippedHours({ settings, i18n }: FormContext, raw: Values, before: Values = {}): [name: string, sentence: string][] {
  const { timezone, all_day: allDay } = { ...before, ...raw };
  const zone = parseZone(String(timezone ?? '')) ?? settings.zone;
  if (allDay === true) return [];
  return DATE_FIELDS.flatMap((name): [string, string][] => {
    const dateText = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d$/.exec(String(raw[name] ?? ''))?.[0];
    const isThere = dateText === undefined || localFromUnix(unixFromLocal(`${dateText}:00`, zone), zone).startsWith(dateText);
    return isThere ? [] : [[name, i18n.say('desk:form.skipped-hour')]];
  });
}
