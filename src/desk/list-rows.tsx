import type { JSX } from 'preact';
import { NO_CONTROL_DATA, type TermChoice } from '../forms/control.ts';
import { statusChoices } from '../forms/control-data.ts';
import { controlOf } from '../forms/controls.ts';
import { textIn, textsIn } from '../forms/form-values.ts';
import { encodeInitialValues, INITIAL_FIELD } from '../forms/initial-values.ts';
import { labelOf, statusText } from '../forms/labels.ts';
import { Link } from '../html/links.tsx';
import type { PostKind } from '../kinds/kind.ts';
import type { Editable, EditList } from '../records/editing.ts';
import { mayCreate } from '../records/posts.ts';
import { Nonce, questionAttributes } from './layout.tsx';
import { type Column, columnsOf } from './list-columns.ts';
import { LIST_DIGEST_FIELD, listDigest, MAX_BULK_SIZE, SELECT_ALL_FIELD } from './list-filters.ts';
import { listUrl, returnQuery } from './list-url.ts';
import { PreviewLink } from './preview-link.tsx';
import { removalAction } from './record-actions.ts';
import { deskUrl, displayTitle, type Visit } from './visit.ts';

/*
 * Rows of a list, each with its actions and a quick form for a few fields.
 */

/**
 * Maximum number of categories in the quick form, since each row contains all of them. With more, they can only be
 * chosen in the form of the event.
 */
const MAX_QUICK_CATEGORIES = 40;

/** Returns the names of the fields in a row's quick form. */
const quickFormFields = (kind: PostKind, categories: readonly TermChoice[]): string[] => [
  kind.titleField,
  ...(kind.hasDates ? ['start_date', 'end_date'] : []),
  'status',
  ...(categories.length > 0 && categories.length <= MAX_QUICK_CATEGORIES ? ['categories'] : []),
];

/** The records on a page of a list, with bulk actions. */
export function Rows(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly list: EditList;
  readonly categories: readonly TermChoice[];
}): JSX.Element {
  const { visit, kind, list, categories } = props;
  const { say } = visit.i18n;
  const columns = columnsOf(kind, visit);
  const actions = bulkActions(visit, kind);
  return (
    <>
      <form id="bulk" method="post" action={deskUrl(visit, `/${kind.path}/bulk`)} class="bulk">
        <Nonce nonce={visit.nonce} />
        <input type="hidden" name="back" value={returnQuery(visit)} />
        <label>
          <span class="quiet">{say('desk:list.selected')}</span>
          <select name="action" required>
            <option value="">{say('desk:list.choose')}</option>
            {actions.map((action) => (
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
        {list.pages > 1 && <SelectAll visit={visit} list={list} />}
      </form>
      <table class="list">
        <thead>
          <tr>
            <td class="pick" />
            <Heading visit={visit} kind={kind} order="title" text={labelOf(visit.i18n, kind.name, kind.titleField)} />
            {columns.map(({ name, orderBy }) => (
              <Heading key={name} visit={visit} kind={kind} order={orderBy} text={say(`desk:columns.${name}`)} />
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

/** The choice of all records of the list, on whatever page. */
function SelectAll({ visit, list }: { readonly visit: Visit; readonly list: EditList }): JSX.Element {
  const wording = list.total > MAX_BULK_SIZE ? 'first' : 'found';
  return (
    <label class="choice">
      <input type="hidden" name={LIST_DIGEST_FIELD} value={listDigest(list)} />
      <input type="checkbox" name={SELECT_ALL_FIELD} value="1" />
      {visit.i18n.say(`desk:list.select-${wording}`, { first: MAX_BULK_SIZE, count: list.total })}
    </label>
  );
}

/** Returns the actions that a list offers for selected records. */
function bulkActions(visit: Visit, kind: PostKind): readonly string[] {
  if (textsIn(visit.request.query, 'status').includes('trash')) return ['restore', 'delete'];
  return [...(visit.caller.viewer.can(`publish_${kind.capabilities}`) ? ['publish'] : []), removalAction(visit)];
}

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
      <Link href={listUrl(visit, kind, { orderby: order, order: next })}>{heading}</Link>
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
  const { visit, kind, row: editable, columns, categories } = props;
  const { say } = visit.i18n;
  const { id, row } = editable;
  const title = displayTitle(visit, editable);
  const isTrashed = row.post_status === 'trash';
  return (
    <tr>
      <td class="pick">
        {(editable.mayEdit || editable.mayDelete) && (
          <input type="checkbox" form="bulk" name="ids[]" value={String(id)} aria-label={say('desk:list.select', { title })} />
        )}
      </td>
      <th scope="row">
        <bdi>{editable.mayEdit && !isTrashed ? <Link href={deskUrl(visit, `/${kind.path}/${id}`)}>{title}</Link> : title}</bdi>
        {editable.suggestion && <p class="quiet">{say('desk:suggestion.by', { name: editable.suggestion.name })}</p>}
        <RowActions visit={visit} kind={kind} row={editable} title={title} />
        {editable.mayEdit && !isTrashed && <QuickForm visit={visit} kind={kind} row={editable} title={title} categories={categories} />}
      </th>
      {columns.map(({ name, show }) => (
        <td key={name} class={`column-${name}`} data-label={say(`desk:columns.${name}`)}>
          {show(editable, visit)}
        </td>
      ))}
      <td class="column-status" data-label={say('desk:columns.status')}>
        {statusText(visit.i18n, row.post_status)}
      </td>
    </tr>
  );
}

/** The actions of a record that take one click. */
function RowActions(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly row: Editable;
  readonly title: string;
}): JSX.Element {
  const { visit, kind, row: editable, title } = props;
  const { say } = visit.i18n;
  const { id, row, record } = editable;
  const isTrashed = row.post_status === 'trash';
  const removal = removalAction(visit);
  const path = `/${kind.path}/${id}`;
  const button = (action: string, { asksFirst = false } = {}) => (
    <button
      type="submit"
      form="bulk"
      formAction={deskUrl(visit, `${path}/${action}`)}
      // The form requires an action for the selected records, which this button does not need.
      formNoValidate
      aria-label={`${say(`desk:actions.${action}`)}: ${title}`}
      class="link-button"
      {...(asksFirst ? questionAttributes(say(`desk:actions.${action}-sure`)) : {})}
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
      <PreviewLink visit={visit} record={editable} title={title} />
      {editable.mayEdit && !isTrashed && mayCreate(visit.caller, kind) && (
        <Link href={deskUrl(visit, `${path}/duplicate`)} label={`${say('desk:actions.duplicate')}: ${title}`}>
          {say('desk:actions.duplicate')}
        </Link>
      )}
      {editable.mayEdit && row.post_status === 'pending' && visit.caller.viewer.can(`publish_${kind.capabilities}`) && button('publish')}
      {editable.mayDelete && !isTrashed && button(removal, { asksFirst: removal === 'delete' })}
      {editable.mayDelete && isTrashed && button('restore')}
      {editable.mayDelete && isTrashed && button('delete', { asksFirst: true })}
    </p>
  );
}

/** The quick form of a row, for changing a few fields in the list. */
function QuickForm(props: {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly row: Editable;
  readonly title: string;
  readonly categories: readonly TermChoice[];
}): JSX.Element {
  const { visit, kind, row, title, categories } = props;
  const { i18n } = visit;
  const names = quickFormFields(kind, categories);
  const data = {
    ...NO_CONTROL_DATA,
    say: i18n.say,
    terms: { categories },
    statuses: statusChoices(visit, kind, String(row.values.status ?? '')),
  };
  const formValues = Object.fromEntries(
    names.map((name) => [name, controlOf(name, kind.fields[name]!).toFormValue(row.values[name], data)]),
  );
  return (
    <details class="quick">
      <summary aria-label={`${i18n.say('desk:actions.quick')}: ${title}`}>{i18n.say('desk:actions.quick')}</summary>
      <form method="post" action={deskUrl(visit, `/${kind.path}/${row.id}`)}>
        <Nonce nonce={visit.nonce} />
        <input type="hidden" name="version" value={row.version} />
        <input type="hidden" name="fields" value={names.join(',')} />
        <input type="hidden" name={INITIAL_FIELD} value={encodeInitialValues(formValues)} />
        <input type="hidden" name="back" value={returnQuery(visit)} />
        {names.map((name) => {
          const field = kind.fields[name]!;
          const { Component } = controlOf(name, field);
          return (
            <Component
              key={name}
              name={name}
              id={`${name}-${row.id}`}
              field={field}
              label={labelOf(i18n, kind.name, name)}
              formValue={formValues[name]}
              data={data}
            />
          );
        })}
        <button type="submit">{i18n.say('desk:form.save')}</button>
      </form>
    </details>
  );
}
