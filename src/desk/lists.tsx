import type { JSX } from 'preact';
import { idIn, textIn } from '../forms/form-values.ts';
import { termChoices } from '../forms/term-choices.ts';
import { Link } from '../html/links.tsx';
import { Paging } from '../html/paging.tsx';
import type { Kind, PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { type EditList, listEditable } from '../records/editing.ts';
import { mayCreate } from '../records/posts.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { ButtonForm, deskPage } from './layout.tsx';
import { filterChoices, listParams, MAX_BULK_SIZE } from './list-filters.ts';
import { Rows } from './list-rows.tsx';
import { listUrl } from './list-url.ts';
import { deskUrl, type Outcome, type Visit } from './visit.ts';

/*
 * Lists of events, venues and organizers.
 */

/** Returns the list of a kind, filtered by the parameters of the URL. */
export async function listPage(visit: Visit, kind: PostKind): Promise<Outcome> {
  const { query } = visit.request;
  const params = listParams(query, visit.caller, kind);
  const list = await listEditable(visit.site, visit.caller, kind, params, { first: MAX_BULK_SIZE });
  const { say } = visit.i18n;
  const categories = kind.terms.includes('category')
    ? await termChoices(visit, 'category', { ids: [idIn(textIn(query, 'categories'))] })
    : [];
  const choices = await filterChoices(visit, kind, categories);
  const html = deskPage(visit, {
    title: say(`desk:kinds.${kind.name}.many`),
    section: kind.path,
    children: (
      <>
        {mayCreate(visit.caller, kind) && (
          <p>
            <Link href={deskUrl(visit, `/${kind.path}/new`)} class="button button-main">
              {say(`desk:kinds.${kind.name}.new`)}
            </Link>
          </p>
        )}
        <StatusTabs visit={visit} kind={kind} list={list} />
        <form method="get" action={deskUrl(visit, `/${kind.path}`)} class="filters">
          {['status', 'mine', 'orderby', 'order'].map(
            (name) => textIn(query, name) !== '' && <input key={name} type="hidden" name={name} value={textIn(query, name)} />,
          )}
          <label>
            <span class="quiet">{say('desk:list.search')}</span>
            <input type="search" dir="auto" name="search" value={textIn(query, 'search')} />
          </label>
          {kind.hasDates && (
            <label>
              <span class="quiet">{say('desk:list.month')}</span>
              <input type="month" name="month" value={textIn(query, 'month')} placeholder="2026-12" />
            </label>
          )}
          {choices.map(({ name, label, options }) => (
            <label key={name}>
              <span class="quiet">{label}</span>
              <select name={name}>
                <option value="">{say('desk:list.any')}</option>
                {options.map(({ value, text }) => (
                  <option key={value} value={value} selected={textIn(query, name) === value}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
          ))}
          <button type="submit">{say('desk:list.filter')}</button>
        </form>
        <p class="quiet">{foundInWords(visit, list.total, isFiltered(visit, params))}</p>
        {list.rows.length > 0 && <Rows visit={visit} kind={kind} list={list} categories={categories} />}
        {textIn(query, 'status') === 'trash' && <EmptyTrash visit={visit} kind={kind} list={list} />}
        <Pagination visit={visit} kind={kind} page={list.page} pages={list.pages} />
      </>
    ),
  });
  return { html };
}

/** Returns the words for the number of records in a list. One without any may be filtered, or nothing is in it yet. */
export function foundInWords({ i18n: { say } }: Visit, total: number, isFiltered: boolean): string {
  if (total > 0) return say('desk:list.found', { count: total });
  return say(isFiltered ? 'desk:list.nothing-found' : 'desk:list.none');
}

/** Parameters of a list that do not filter the records of a tab. */
const TAB_PARAMS: ReadonlySet<string> = new Set(['status', 'page', 'per_page', 'orderby', 'order']);

/** Whether a list has filters besides those of its tab; that of the user's own records sets the author. */
const isFiltered = ({ request: { query } }: Visit, params: Values): boolean =>
  Object.keys(params).some((name) => !TAB_PARAMS.has(name) && (name !== 'author' || textIn(query, 'mine') === ''));

function StatusTabs({ visit, kind, list }: { readonly visit: Visit; readonly kind: PostKind; readonly list: EditList }): JSX.Element {
  const { say } = visit.i18n;
  const { query } = visit.request;
  const [status, isMine] = [textIn(query, 'status'), textIn(query, 'mine') !== ''];
  const total = [...list.counts].reduce((sum, [name, count]) => (name === 'trash' ? sum : sum + count), 0);
  const tab = (text: string, count: number, changes: Record<string, string | undefined>, isCurrent: boolean) => (
    <li key={text}>
      <Link href={listUrl(visit, kind, changes)} current={isCurrent ? 'page' : undefined}>
        {text} <span class="count">{count}</span>
      </Link>
    </li>
  );
  return (
    <nav aria-label={say('desk:list.states')} class="tabs">
      <ul>
        {tab(say('desk:list.all'), total, { status: undefined, mine: undefined }, status === '' && !isMine)}
        {list.ownCount > 0 && list.ownCount < total && tab(say('desk:list.mine'), list.ownCount, { status: undefined, mine: '1' }, isMine)}
        {SETTABLE_STATUSES.flatMap((name) => {
          const count = list.counts.get(name) ?? 0;
          return count > 0 || status === name
            ? [tab(say(`desk:tabs.${name}`), count, { status: name, mine: undefined }, status === name)]
            : [];
        })}
      </ul>
    </nav>
  );
}

/** The button that deletes all records in the trash that the caller may delete. */
function EmptyTrash({
  visit,
  kind,
  list,
}: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly list: EditList;
}): JSX.Element | null {
  const { say } = visit.i18n;
  if (!list.rows.some(({ mayDelete }) => mayDelete)) return null;
  const isTooMany = (list.counts.get('trash') ?? 0) > MAX_BULK_SIZE;
  const danger = isTooMany ? say('desk:list.empty-first', { first: MAX_BULK_SIZE }) : say('desk:list.empty-sure');
  return <ButtonForm visit={visit} path={`/${kind.path}/empty-trash`} text={say('desk:list.empty')} danger={danger} />;
}

interface PaginationProps {
  readonly visit: Visit;
  readonly kind: Pick<Kind, 'path'>;
  readonly page: number;
  readonly pages: number;
}

/** Links to the previous and next page of a list of records or terms. */
export function Pagination({ visit, kind, page, pages }: PaginationProps): JSX.Element {
  const { say } = visit.i18n;
  const to = (number: number, key: string) =>
    number < 1 || number > pages ? undefined : { href: listUrl(visit, kind, { page: number }), text: say(key) };
  return (
    <Paging
      label={say('desk:list.pages')}
      previous={to(page - 1, 'desk:list.previous')}
      next={to(page + 1, 'desk:list.next')}
      here={say('desk:list.page', { page, pages })}
    />
  );
}
