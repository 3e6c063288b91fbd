import type { ComponentChildren, JSX } from 'preact';
import { mayImportAnything } from '../exchange/import/rights.ts';
import { idIn, textIn } from '../forms/form-values.ts';
import { documentOf } from '../html/document.tsx';
import { Link } from '../html/links.tsx';
import { siteNameOf } from '../html/site-name.ts';
import { postKinds, termKinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { mayListEditable } from '../records/editing.ts';
import { mayManageTerms } from '../records/visibility.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { deskUrl, type Visit } from './visit.ts';

export interface PageProps {
  readonly title: string;
  /** The part of the desk to which the page belongs: the first segment of its path. */
  readonly section?: string;
  /** A message above the page. */
  readonly notice?: Notice | undefined;
  /** Names of additional stylesheets and scripts. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  readonly children: ComponentChildren;
}

export interface Notice {
  readonly tone: 'good' | 'wrong';
  readonly text: string;
}

/** Returns a page of the desk. */
export function deskPage(visit: Visit, props: PageProps): string {
  const { title, section, notice = doneNotice(visit), styles = [], scripts = [], children } = props;
  const { i18n, settings, asset } = visit;
  return documentOf({
    i18n,
    title: `${title} · ${siteNameOf(settings, i18n)}`,
    styles: ['base.css', 'forms.css', 'desk.css', ...styles].map(asset),
    scripts: ['desk.js', ...scripts].map(asset),
    name: 'desk',
    children: (
      <>
        <Header visit={visit} part={section} />
        <main id="content" tabIndex={-1}>
          <NoticeBar notice={notice} />
          <h1 dir="auto">{title}</h1>
          {children}
        </main>
      </>
    ),
  });
}

function NoticeBar({ notice }: { readonly notice: Notice | undefined }): JSX.Element | null {
  if (!notice) return null;
  return (
    <p class={`notice notice-${notice.tone}`} role={notice.tone === 'wrong' ? 'alert' : 'status'}>
      {notice.text}
    </p>
  );
}

/**
 * Returns the message about an action that led to this page, from the parameters of the URL. The sentences are from a
 * fixed set.
 */
function doneNotice({ request, i18n }: Visit): Notice | undefined {
  const action = textIn(request.query, 'done');
  if (!DONE_ACTIONS.has(action)) return undefined;
  const [count, failedCount] = [textIn(request.query, 'count') || '1', textIn(request.query, 'failed')].map(idIn);
  const texts = [
    ...(count ? [i18n.say(`desk:done.${action}`, { count })] : []),
    ...(failedCount ? [i18n.say('desk:done.failed', { count: failedCount })] : []),
  ];
  return texts.length === 0 ? undefined : { tone: failedCount || action === 'list-changed' ? 'wrong' : 'good', text: texts.join(' ') };
}

/** Actions that a page can report, by key of the sentence. */
const DONE_ACTIONS: ReadonlySet<string> = new Set(
  'saved created trashed restored deleted published invited removed revoked settings password welcome imported moved repaired backup signed-out list-changed'.split(
    ' ',
  ),
);

interface NavigationItem {
  readonly section: string;
  readonly path: string;
  readonly text: string;
  readonly isShown: boolean;
}

/** Returns the parts of the desk that the user may use. */
function navigation({ caller, i18n: { say } }: Visit): NavigationItem[] {
  const { viewer } = caller;
  const ofKind = (kind: Kind): NavigationItem => ({
    section: kind.path,
    path: `/${kind.path}`,
    text: say(`desk:kinds.${kind.name}.many`),
    isShown: kind.is === 'post' ? mayListEditable(caller, kind) : mayManageTerms(caller, kind),
  });
  const [events, ...otherItems] = postKinds.map(ofKind);
  const part = (name: string, needs: string | boolean): NavigationItem => ({
    section: name,
    path: `/${name}`,
    text: say(`desk:parts.${name}`),
    isShown: typeof needs === 'string' ? viewer.can(needs) : needs,
  });
  return [
    ...(events ? [events] : []),
    part('month', 'edit_tribe_events'),
    ...otherItems,
    ...termKinds.map(ofKind),
    part('import', mayImportAnything(viewer)),
    part('people', 'list_users'),
    part('settings', 'manage_options'),
    part('health', 'manage_options'),
  ].filter(({ isShown }) => isShown);
}

/**
 * Returns the URL of the first page after signing in: the first part that the user may use, with the reported action.
 */
export function firstPageUrl(visit: Visit): string {
  const [first] = navigation(visit);
  return deskUrl(visit, first?.path ?? '/me', { done: textIn(visit.request.query, 'done') });
}

function Header({ visit, part: section }: { readonly visit: Visit; readonly part: string | undefined }): JSX.Element {
  const { settings, i18n, login, nonce } = visit;
  return (
    <header class="desk-header">
      <p class="desk-site">
        <Link href={settings.home || '/'}>{siteNameOf(settings, i18n)}</Link>
      </p>
      {login && (
        <>
          <nav aria-label={i18n.say('desk:navigation')}>
            <ul>
              {navigation(visit).map(({ section: itemSection, path, text }) => (
                <li key={itemSection}>
                  <Link href={deskUrl(visit, path)} current={itemSection === section ? 'page' : undefined}>
                    {text}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <div class="desk-person">
            <Link href={deskUrl(visit, '/me')} current={section === 'me' ? 'page' : undefined}>
              {decodeEntities(login.user.row.display_name) || login.user.row.user_login}
            </Link>
            <form method="post" action={deskUrl(visit, '/sign-out')}>
              <Nonce nonce={nonce} />
              <button type="submit">{i18n.say('desk:sign-out')}</button>
            </form>
          </div>
        </>
      )}
    </header>
  );
}

/**
 * The hidden field with the nonce, which proves that the form was made for its sender. Every form of the desk that
 * changes something has it.
 */
export const Nonce = ({ nonce }: { readonly nonce: string }): JSX.Element => <input type="hidden" name="_wpnonce" value={nonce} />;

/** A form whose input the browser keeps until it is saved. */
interface DraftForm {
  /** Its path, and the record that it starts from, if there is one. */
  readonly path: string;
  /** Whether it is shown again after it was sent, so that it contains the input. */
  readonly isShownAgain: boolean;
}

/**
 * Returns the attributes by which the script keeps the input of a form in the browser and offers to restore it. The key
 * contains the user and the URL, since the browser shares the storage among all sites of a host.
 */
export function draftAttributes(visit: Visit, { path, isShownAgain }: DraftForm) {
  const { say } = visit.i18n;
  return {
    'data-shown-again': isShownAgain ? '1' : undefined,
    'data-draft': `${visit.caller.viewer.id}:${deskUrl(visit, path)}`,
    'data-restore': say('desk:form.restore'),
    'data-found': say('desk:form.draft-found'),
    'data-discard': say('desk:form.discard'),
  };
}

/** Name of the form field with the question that must be answered before the action takes place. */
export const QUESTION_FIELD = 'question';

/** Name of the form field that says that the user has confirmed the action. The script adds it after asking. */
export const CONFIRMED_FIELD = 'confirmed';

/** Whether the user has answered the question about a form with yes. */
export const isConfirmed = (fields: Values): boolean => textIn(fields, CONFIRMED_FIELD) !== '';

/** The hidden field with the question about a form. Without a script, the server asks it. */
export const Question = ({ text }: { readonly text: string }): JSX.Element => <input type="hidden" name={QUESTION_FIELD} value={text} />;

/** Returns the attributes of a button that asks a question, in a form with several buttons. */
export const questionAttributes = (text: string) => ({ name: QUESTION_FIELD, value: text, 'data-confirm': text });

/** A form that consists of one button. */
export function ButtonForm({
  visit,
  path,
  text,
  label,
  fields = {},
  danger,
}: {
  readonly visit: Visit;
  readonly path: string;
  readonly text: string;
  /** The accessible name of the button, if its text is not sufficient. */
  readonly label?: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** The question asked for confirmation. */
  readonly danger?: string;
}): JSX.Element {
  return (
    <form method="post" action={deskUrl(visit, path)} class="button-form" data-confirm={danger}>
      <Nonce nonce={visit.nonce} />
      {danger !== undefined && <Question text={danger} />}
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" aria-label={label} class={danger === undefined ? undefined : 'button-danger'}>
        {text}
      </button>
    </form>
  );
}
