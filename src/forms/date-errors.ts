import type { Values } from '../kinds/param.ts';
import { localFromUnix, parseZone, unixFromLocal } from '../wordpress/zones.ts';
import type { FormContext } from './form-context.ts';

/*
 * Dates in a form that the user has to correct, although the API accepts them: days without a time, and local times
 * that do not exist because clocks are set forward. Like PHP, the API takes midnight, or moves them an hour ahead.
 */

const DATE_FIELDS = ['start_date', 'end_date'];
const DAY = /^[1-9]\d{3}-\d\d-\d\d$/;
const MINUTE = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d$/;

/**
 * Returns these dates of an event in a form, each with a sentence about it. `raw`: the values to be written; `before`:
 * the stored values.
 */
export function dateErrors({ settings, i18n }: FormContext, raw: Values, before: Values = {}): [name: string, sentence: string][] {
  const { timezone, all_day: allDay } = { ...before, ...raw };
  const zone = parseZone(String(timezone ?? '')) ?? settings.zone;
  if (allDay === true) return [];
  const isSkipped = (text: string): boolean =>
    MINUTE.test(text) && !localFromUnix(unixFromLocal(`${text}:00`, zone), zone).startsWith(text);
  return DATE_FIELDS.flatMap((name): [string, string][] => {
    const text = String(raw[name] ?? '');
    if (DAY.test(text)) return [[name, i18n.say('desk:form.time-missing')]];
    return isSkipped(text) ? [[name, i18n.say('desk:form.skipped-hour')]] : [];
  });
}
