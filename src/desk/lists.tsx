import type { JSX } from 'preact';
import { NO_CONTROL_DATA, type TermChoice } from '../forms/control.ts';
import { statusChoices, termChoices } from '../forms/control-data.ts';
import { controlOf } from '../forms/controls.ts';
import { textIn, textsIn } from '../forms/form-values.ts';
import { labelOf } from '../forms/labels.ts';
import { hourCycleOf, spanInWords } from '../html/dates.ts';
import { Link } from '../html/links.tsx';
import { Paging } from '../html/paging.tsx';
import type { PostKind, PublishedRecord } from '../kinds/kind.ts';
import { type Editable, type EditList, listToEdit } from '../records/editing.ts';
import { mayCreate } from '../records/posts.ts';
import { decodeEntities } from '../wordpress/entities.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { ButtonForm, deskPage, Nonce } from './layout.tsx';
import { ALL_FOUND, filterChoices, listParams } from './list-filters.ts';
import { PreviewLink } from './preview-link.tsx';
import { deskUrl, type Outcome, type Visit } from './visit.ts';

/*
 * Lists of events, venues and organizers.
 */

/** A column of a list. `order`: what the list is sorted by when its heading is followed. */
interface Column {
  readonly name: string;
  readonly order?: string;
  readonly show: (row: Editable, visit: Visit) => string;
}

const namesOf = (list: unknown, member: string): string =>
  [list ?? []]
    .flat()
    .map((item) => decodeEntities(String((item as PublishedRecord)[member] ?? '')))
    .filter((name) => name !== '')
    .join(', ');

const text = (name: string): Column => ({ name, show: ({ record }) => decodeEntities(String(record[name] ?? '')) });

const when: Column = {
  name: 'when',
  order: 'start_date',
  show: ({ record: { start_date: start, end_date: end, all_day: allDay } }, { i18n, settings }) =>
    spanInWords(
      i18n,
      { start: String(start), end: String(end), allDay: allDay === true },
      hourCycleOf(settings.raw.get('time_format') ?? 'H:i'),
    ),
};
/** Where content has languages: that of a record by its name. */
const language: Column = {
  name: 'language',
  show: ({ record }, { settings }) => settings.contentLanguages?.languages.find(({ code }) => code === record.language)?.name ?? '',
};
const modified: Column = { name: 'modified', order: 'modified', show: ({ row }) => row.post_modified.slice(0, 16) };

/** The columns besides the title. */
const COLUMNS: Readonly<Record<PostKind['name'], readonly Column[]>> = {
  event: [
    when,
    { name: 'venue', show: ({ record }) => namesOf(record.venue, 'venue') },
    { name: 'categories', show: ({ record }) => namesOf(record.categories, 'name') },
  ],
  venue: [text('address'), text('city'), modified],
  organizer: [text('phone'), text('email'), modified],
};

/** Each row offers the categories: where there are more, they are chosen in the form of the event. */
const MOST_QUICK_CATEGORIES = 40;

/** The fields that a row's quick form has. */
const quickFields = (kind: PostKind, categories: readonly TermChoice[]): string[] => [
  kind.titleField,
  ...(kind.dated ? ['start_date', 'end_date'] : []),
  'status',
  ...(categories.length > 0 && categories.length <= MOST_QUICK_CATEGORIES ? ['categories'] : []),
];

/** The list of a kind, narrowed as the address says. */
export async function listPage(visit: Visit, kind: PostKind): Promise<Outcome> {
  const { query } = visit.request;
  const list = await listToEdit(visit.site, visit.caller, kind, listParams(query, visit.caller, kind));
  const { say } = visit.i18n;
  const categories = kind.terms.includes('category') ? await termChoices(visit, 'category') : [];
  const choices = await filterChoices(visit, kind, categories);
  const html = deskPage(visit, {
    title: say(`desk:kinds.${kind.name}.many`),
    part: kind.path,
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
          {textIn(query, 'status') !== '' && <input type="hidden" name="status" value={textIn(query, 'status')} />}
          {textIn(query, 'mine') !== '' && <input type="hidden" name="mine" value="1" />}
          <label>
            <span class="quiet">{say('desk:list.search')}</span>
            <input type="search" name="search" value={textIn(query, 'search')} />
          </label>
          {kind.dated && (
            <label>
              <span class="quiet">{say('desk:list.month')}</span>
              <input type="month" name="month" value={textIn(query, 'month')} placeholder="2026-12" />
            </label>
          )}
          {choices.map(({ name, label, options }) => (
            <label key={name}>
              <span class="quiet">{label}</span>
              <select name={name}>
                <option value="">{say('desk:list.all')}</option>
                {options.map(({ value, text: shown }) => (
                  <option key={value} value={value} selected={textIn(query, name) === value}>
                    {shown}
                  </option>
                ))}
              </select>
            </label>
          ))}
          <button type="submit">{say('desk:list.filter')}</button>
        </form>
        <p class="quiet">{say('desk:list.found', { count: list.total })}</p>
        <Rows visit={visit} kind={kind} list={list} categories={categories} />
        {textIn(query, 'status') === 'trash' && <EmptyTrash visit={visit} kind={kind} list={list} />}
        <Pages visit={visit} kind={kind} list={list} />
      </>
    ),
  });
  return { html };
}

/** The parameters of the present address, some of them changed. */
function changedQuery({ request: { query } }: Visit, changes: Readonly<Record<string, string | number | undefined>>) {
  const kept = Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      typeof value === 'string' && !['done', 'count', 'failed', 'page'].includes(name) ? [[name, value] as const] : [],
    ),
  );
  return { ...kept, ...changes };
}

function StatusTabs({ visit, kind, list }: { readonly visit: Visit; readonly kind: PostKind; readonly list: EditList }): JSX.Element {
  const { say } = visit.i18n;
  const { query } = visit.request;
  const [status, mine] = [textIn(query, 'status'), textIn(query, 'mine') !== ''];
  const all = [...list.counts].reduce((sum, [name, count]) => (name === 'trash' ? sum : sum + count), 0);
  const tab = (text: string, count: number, changes: Record<string, string | undefined>, current: boolean) => (
    <li key={text}>
      <Link href={deskUrl(visit, `/${kind.path}`, changedQuery(visit, changes))} current={current ? 'page' : undefined}>
        {text} <span class="count">{count}</span>
      </Link>
    </li>
  );
  return (
    <nav aria-label={say('desk:list.states')} class="tabs">
      <ul>
        {tab(say('desk:list.all'), all, { status: undefined, mine: undefined }, status === '' && !mine)}
        {list.own > 0 && list.own < all && tab(say('desk:list.mine'), list.own, { status: undefined, mine: '1' }, mine)}
        {SETTABLE_STATUSES.flatMap((name) => {
          const count = list.counts.get(name) ?? 0;
          return count > 0 || status === name
            ? [tab(say(`statuses:${name}`), count, { status: name, mine: undefined }, status === name)]
            : [];
        })}
      </ul>
    </nav>
  );
}

function Rows(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly list: EditList;
  readonly categories: readonly TermChoice[];
}): JSX.Element {
  const { visit, kind, list, categories } = props;
  const { say } = visit.i18n;
  if (list.rows.length === 0) return <p>{say('desk:list.none')}</p>;
  const columns = [...COLUMNS[kind.name], ...(visit.settings.contentLanguages ? [language] : [])];
  const trashed = textsIn(visit.request.query, 'status').includes('trash');
  const actions = ['publish', 'trash'].filter((action) => action !== 'publish' || visit.caller.viewer.can(`publish_${kind.capabilities}`));
  return (
    <>
      <form id="bulk" method="post" action={deskUrl(visit, `/${kind.path}/bulk`)} class="bulk">
        <Nonce nonce={visit.nonce} />
        <input type="hidden" name="back" value={backOf(visit)} />
        <label>
          <span class="quiet">{say('desk:list.selected')}</span>
          <select name="action">
            {(trashed ? ['restore', 'delete'] : actions).map((action) => (
              <option key={action} value={action} data-confirm={action === 'delete' ? say('desk:actions.delete-these-sure') : undefined}>
                {say(`desk:actions.${action}`)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">{say('desk:list.apply')}</button>
        <label class="choice" data-select-all hidden>
          <input type="checkbox" />
          {say('desk:list.select-all')}
        </label>
        {list.pages > 1 && (
          <label class="choice">
            <input type="checkbox" name={ALL_FOUND} value="1" />
            {say('desk:list.select-found', { count: list.total })}
          </label>
        )}
      </form>
      <table class="list">
        <thead>
          <tr>
            <td class="pick" />
            <Heading visit={visit} kind={kind} order="title" text={labelOf(visit.i18n, kind.name, kind.titleField)} />
            {columns.map(({ name, order }) => (
              <Heading key={name} visit={visit} kind={kind} order={order} text={say(`desk:columns.${name}`)} />
            ))}
            <th scope="col">{say('desk:columns.status')}</th>
          </tr>
        </thead>
        <tbody>
          {list.rows.map((row) => (
            <Row key={row.id} visit={visit} kind={kind} row={row} columns={columns} categories={categories} />
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Deletes all that is in the trash, as far as the caller may. */
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
  return <ButtonForm visit={visit} path={`/${kind.path}/empty-trash`} text={say('desk:list.empty')} danger={say('desk:list.empty-sure')} />;
}

/** Where a list stands, to come back to it. */
const backOf = (visit: Visit): string =>
  `?${new URL(deskUrl(visit, '/', changedQuery(visit, {})), 'https://desk.invalid').searchParams.toString()}`;

function Heading(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly order: string | undefined;
  readonly text: string;
}): JSX.Element {
  const { visit, kind, order, text: heading } = props;
  if (order === undefined) return <th scope="col">{heading}</th>;
  const current = textIn(visit.request.query, 'orderby') === order ? textIn(visit.request.query, 'order') || 'asc' : undefined;
  const next = current === 'asc' ? 'desc' : 'asc';
  return (
    <th scope="col" aria-sort={current === undefined ? undefined : current === 'asc' ? 'ascending' : 'descending'}>
      <Link href={deskUrl(visit, `/${kind.path}`, changedQuery(visit, { orderby: order, order: next }))}>{heading}</Link>
    </th>
  );
}

function Row(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly row: Editable;
  readonly columns: readonly Column[];
  readonly categories: readonly TermChoice[];
}): JSX.Element {
  const { visit, kind, row: it, columns, categories } = props;
  const { say } = visit.i18n;
  const { id, row } = it;
  const title = row.post_title || say('desk:untitled');
  const trashed = row.post_status === 'trash';
  return (
    <tr>
      <td class="pick">
        {(it.mayEdit || it.mayDelete) && (
          <input type="checkbox" form="bulk" name="ids[]" value={String(id)} aria-label={say('desk:list.select', { title })} />
        )}
      </td>
      <th scope="row">
        {it.mayEdit && !trashed ? <Link href={deskUrl(visit, `/${kind.path}/${id}`)}>{title}</Link> : title}
        {it.suggestion && <p class="quiet">{say('desk:suggestion.by', { name: it.suggestion.name })}</p>}
        <RowActions visit={visit} kind={kind} row={it} title={title} />
        {it.mayEdit && !trashed && <QuickForm visit={visit} kind={kind} row={it} title={title} categories={categories} />}
      </th>
      {columns.map(({ name, show }) => (
        <td key={name} class={`column-${name}`} data-label={say(`desk:columns.${name}`)}>
          {show(it, visit)}
        </td>
      ))}
      <td class="column-status" data-label={say('desk:columns.status')}>
        {say(`statuses:${row.post_status}`)}
      </td>
    </tr>
  );
}

/** What may be done with a record, by one click. */
function RowActions(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly row: Editable;
  readonly title: string;
}): JSX.Element {
  const { visit, kind, row: it, title } = props;
  const { say } = visit.i18n;
  const { id, row, record } = it;
  const trashed = row.post_status === 'trash';
  const path = `/${kind.path}/${id}`;
  const button = (action: string, { asksFirst = false } = {}) => (
    <button
      type="submit"
      form="bulk"
      formAction={deskUrl(visit, `${path}/${action}`)}
      aria-label={`${say(`desk:actions.${action}`)}: ${title}`}
      class="link-button"
      data-confirm={asksFirst ? say(`desk:actions.${action}-sure`) : undefined}
    >
      {say(`desk:actions.${action}`)}
    </button>
  );
  return (
    <p class="row-actions">
      {row.post_status === 'publish' && typeof record.url === 'string' && (
        <Link href={record.url} label={`${say('desk:actions.view')}: ${title}`}>
          {say('desk:actions.view')}
        </Link>
      )}
      <PreviewLink visit={visit} record={it} title={title} />
      {it.mayEdit && !trashed && mayCreate(visit.caller, kind) && (
        <Link href={deskUrl(visit, `${path}/duplicate`)} label={`${say('desk:actions.duplicate')}: ${title}`}>
          {say('desk:actions.duplicate')}
        </Link>
      )}
      {it.mayEdit && row.post_status === 'pending' && visit.caller.viewer.can(`publish_${kind.capabilities}`) && button('publish')}
      {it.mayDelete && !trashed && button('trash')}
      {it.mayDelete && trashed && button('restore')}
      {it.mayDelete && trashed && button('delete', { asksFirst: true })}
    </p>
  );
}

/** A few fields of a row, to be changed in the list itself. */
function QuickForm(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly row: Editable;
  readonly title: string;
  readonly categories: readonly TermChoice[];
}): JSX.Element {
  const { visit, kind, row, title, categories } = props;
  const { i18n } = visit;
  const names = quickFields(kind, categories);
  const data = {
    ...NO_CONTROL_DATA,
    say: i18n.say,
    terms: { categories },
    statuses: statusChoices(visit, kind, String(row.values.status ?? '')),
  };
  return (
    <details class="quick">
      <summary aria-label={`${i18n.say('desk:actions.quick')}: ${title}`}>{i18n.say('desk:actions.quick')}</summary>
      <form method="post" action={deskUrl(visit, `/${kind.path}/${row.id}`)}>
        <Nonce nonce={visit.nonce} />
        <input type="hidden" name="version" value={row.version} />
        <input type="hidden" name="fields" value={names.join(',')} />
        <input type="hidden" name="back" value={backOf(visit)} />
        {names.map((name) => {
          const field = kind.fields[name]!;
          const { Show, show } = controlOf(name, field);
          return (
            <Show
              key={name}
              name={name}
              id={`${name}-${row.id}`}
              field={field}
              label={labelOf(i18n, kind.name, name)}
              shown={show(row.values[name], data)}
              data={data}
            />
          );
        })}
        <button type="submit">{i18n.say('desk:form.save')}</button>
      </form>
    </details>
  );
}

function Pages({
  visit,
  kind,
  list: { page, pages },
}: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly list: EditList;
}): JSX.Element {
  const { say } = visit.i18n;
  const to = (number: number, key: string) =>
    number < 1 || number > pages
      ? undefined
      : { href: deskUrl(visit, `/${kind.path}`, changedQuery(visit, { page: number })), text: say(key) };
  return (
    <Paging
      label={say('desk:list.pages')}
      previous={to(page - 1, 'desk:list.previous')}
      next={to(page + 1, 'desk:list.next')}
      here={say('desk:list.page', { page, pages })}
    />
  );
}
