import { toIsoDate } from '../calendar/day-first.ts';
import { describedBy, HintAndError, Input } from '../html/form-fields.tsx';
import { type Control, type FormValue, fieldPropsOf, textOf, textOrEmpty } from './control.ts';
import { membersIn } from './form-values.ts';
import { singleLine } from './text-controls.tsx';

/*
 * Controls for a moment as a day and a time, and for its time zone.
 */

interface DateAndTime {
  readonly date: string;
  readonly time: string;
}

const readDateAndTime = (formValue: FormValue): DateAndTime => {
  const { date, time } = membersIn(formValue);
  return { date: textOrEmpty(date), time: textOrEmpty(time) };
};

export const dateAndTime: Control = {
  toFormValue: (value) => {
    const [date = '', time = ''] = textOf(value).split(' ');
    return /^\d{4}-\d\d-\d\d$/.test(date) && !date.startsWith('0000') ? { date, time: time.slice(0, 5) } : { date: '', time: '' };
  },
  read: (input) => {
    const { date, time } = membersIn(input);
    return { date: toIsoDate(textOf(date)), time: textOf(time).trim() };
  },
  toApiValue: (formValue) => {
    const { date, time } = readDateAndTime(formValue);
    return date === '' ? '' : `${date} ${time}`.trim();
  },
  toText: (formValue, { momentInWords }) => {
    const { date, time } = readDateAndTime(formValue);
    return date === '' ? '' : momentInWords(`${date} ${time}`.trim());
  },
  Component: ({ formValue, data, ...props }) => {
    const { name, id = name, label, hint, error, required } = props;
    const { date, time } = readDateAndTime(formValue);
    const descriptionIds = describedBy({ id, hint, error });
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
            aria-describedby={descriptionIds}
            aria-invalid={error ? 'true' : undefined}
          />
        </label>
        <label class="moment-time">
          <span class="quiet">{data.say('desk:form.time')}</span>
          <input type="time" name={`${name}[time]`} value={time} aria-describedby={descriptionIds} />
        </label>
        <HintAndError id={id} hint={hint} error={error} />
      </fieldset>
    );
  },
};

export const timeZone: Control = {
  ...singleLine,
  Component: (props) => (
    <>
      <Input {...fieldPropsOf(props)} value={textOrEmpty(props.formValue)} list="zones" />
      <datalist id="zones">
        {props.data.zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  ),
};
