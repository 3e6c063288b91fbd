import type { JSX } from 'preact';
import { Checkbox, Input, Select } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import { type FilterBox, isTicked } from './filters.ts';
import type { NamedLink } from './models.ts';

/** The form for searching and filtering the calendar. */
export interface SearchProps {
  /** The URL of the form, and its hidden fields. */
  readonly action: string;
  readonly hidden: readonly (readonly [name: string, value: string])[];
  readonly words: string;
  /** The chosen date, and its label: whether the list begins or ends with it. */
  readonly from: string;
  readonly fromLabel: string;
  readonly boxes: readonly FilterBox[];
  /** The URL of the page with filter inputs, if this page has none. */
  readonly more: string | undefined;
  /** The active filters, each with the URL of the page without it. */
  readonly active: readonly NamedLink[];
  /** The URL without any of them. */
  readonly clear: string;
}

/** The search of the calendar, with its further filters. */
export function SearchForm({ i18n, search }: { readonly i18n: I18n; readonly search: SearchProps }): JSX.Element {
  const { say } = i18n;
  const { action, hidden, words, from, fromLabel, boxes, more, active, clear } = search;
  return (
    <search>
      <form action={action} method="get" class="search">
        {hidden.map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <div class="search-line">
          <Input name="tribe-bar-search" id="search" type="search" label={say('pages:search-label')} value={words} />
          <Input name="tribe-bar-date" id="from" type="date" label={fromLabel} value={from} />
          <button type="submit" class="button-main">
            {say('pages:find')}
          </button>
        </div>
        {more !== undefined && (
          <p class="search-more">
            <Link href={more}>{say('pages:filter.more')}</Link>
          </p>
        )}
        {boxes.length > 0 && (
          <div class="search-boxes">
            {boxes.map((box) => (
              <Box key={box.name} i18n={i18n} box={box} />
            ))}
          </div>
        )}
      </form>
      {active.length > 0 && (
        <ul class="chips" aria-label={say('pages:filter.active')}>
          {active.map(({ name, href }) => (
            <li key={name}>
              <Link href={href} label={say('pages:filter.remove', { filter: name })}>
                {name} <span aria-hidden="true">×</span>
              </Link>
            </li>
          ))}
          {active.length > 1 && (
            <li>
              <Link href={clear}>{say('pages:filter.clear')}</Link>
            </li>
          )}
        </ul>
      )}
    </search>
  );
}

function Box({ i18n: { say }, box }: { readonly i18n: I18n; readonly box: FilterBox }): JSX.Element {
  const { name, value, as, choices = [] } = box;
  const field = { name, id: `filter-${name}`, label: say(`pages:filter.${name}`) };
  if (as === 'day') return <Input {...field} type="date" value={value} />;
  if (as === 'tick') return <Checkbox {...field} checked={isTicked(box)} />;
  return <Select {...field} value={value} options={[{ value: '', text: say('pages:filter.any') }, ...choices]} />;
}
