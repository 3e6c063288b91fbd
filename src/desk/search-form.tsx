import type { JSX } from 'preact';
import { deskUrl, type Visit } from './visit.ts';

interface SearchFormProps {
  readonly visit: Visit;
  /** The path of the list below that of the desk. */
  readonly path: string;
  readonly search: string;
}

/** The search of a list that has no other filters. */
export function SearchForm({ visit, path, search }: SearchFormProps): JSX.Element {
  const { say } = visit.i18n;
  return (
    <form method="get" action={deskUrl(visit, path)} class="filters">
      <label>
        <span class="quiet">{say('desk:list.search')}</span>
        <input type="search" dir="auto" name="search" value={search} />
      </label>
      <button type="submit">{say('desk:list.filter')}</button>
    </form>
  );
}
