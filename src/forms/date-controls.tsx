import { describing, Input, Remarks } from '../html/form-fields.tsx';
import { asText, boxOf, type Control, type Shown, textOf } from './control.ts';
import { membersIn } from './form-values.ts';
import { line } from './text-controls.tsx';

/*
 * Controls for a moment as a day and a time, and for its time zone.
 */

interface Moment {
  readonly date: string;
  readonly time: string;
}

const momentIn = (shown: Shown): Moment => {
  const { date, time } = membersIn(shown);
  return { date: asText(date), time: asText(time) };
};

/** Converts `31/12/2026` and `31.12.2026` to `2026-12-31`: browsers without a date input send the text as typed. */
function dayFirst(typed: string): string {
  const [, day = '', month = '', year = ''] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(typed.trim()) ?? [];
  return year === '' ? typed.trim() : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

export const moment: Control = {
  show: (value) => {
    const [date = '', time = ''] = textOf(value).split(' ');
    return /^\d{4}-\d\d-\d\d$/.test(date) && !date.startsWith('0000') ? { date, time: time.slice(0, 5) } : { date: '', time: '' };
  },
  read: (sent) => {
    const { date, time } = membersIn(sent);
    return { date: dayFirst(textOf(date)), time: textOf(time).trim().slice(0, 8) };
  },
  raw: (shown) => {
    const { date, time } = momentIn(shown);
    return date === '' ? '' : `${date} ${time === '' ? '00:00' : time}`;
  },
  words: (shown) => `${momentIn(shown).date} ${momentIn(shown).time}`.trim(),
  Show: ({ shown, data, ...props }) => {
    const { name, id = name, label, hint, error, required } = props;
    const { date, time } = momentIn(shown);
    const described = describing({ id, hint, error });
    return (
      <fieldset class={error ? 'field field-moment field-wrong' : 'field field-moment'}>
        <legend>{label}</legend>
        <label>
          <span class="quiet">{data.say('desk:form.day')}</span>
          <input
            type="date"
            name={`${name}[date]`}
            id={id}
            value={date}
            required={required}
            aria-describedby={described}
            aria-invalid={error ? 'true' : undefined}
          />
        </label>
        <label class="moment-time">
          <span class="quiet">{data.say('desk:form.time')}</span>
          <input type="time" name={`${name}[time]`} value={time} aria-describedby={described} />
        </label>
        <Remarks id={id} hint={hint} error={error} />
      </fieldset>
    );
  },
};

export const zone: Control = {
  ...line,
  Show: (props) => (
    <>
      <Input {...boxOf(props)} value={asText(props.shown)} list="zones" />
      <datalist id="zones">
        {props.data.zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  ),
};
