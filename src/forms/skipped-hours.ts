import type { Values } from '../kinds/param.ts';
import { localFromUnix, parseZone, unixFromLocal } from '../wordpress/zones.ts';
import type { FormContext } from './form-context.ts';

/*
 * Hours that no clock shows, since it is put forward over them. The API takes them for an hour later, as PHP does;
 * people are asked what they mean.
 */

const MOMENTS = ['start_date', 'end_date'];

/**
 * The dates of an event that a form would write at such an hour, each with a sentence about it. `raw`: what is to be
 * written; `before`: what it has already.
 */
export function skippedHours({ settings, i18n }: FormContext, raw: Values, before: Values = {}): [name: string, sentence: string][] {
  const { timezone, all_day: allDay } = { ...before, ...raw };
  const zone = parseZone(String(timezone ?? '')) ?? settings.zone;
  if (allDay === true) return [];
  return MOMENTS.flatMap((name): [string, string][] => {
    const typed = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d$/.exec(String(raw[name] ?? ''))?.[0];
    const isThere = typed === undefined || localFromUnix(unixFromLocal(`${typed}:00`, zone), zone).startsWith(typed);
    return isThere ? [] : [[name, i18n.say('desk:form.skipped-hour')]];
  });
}
