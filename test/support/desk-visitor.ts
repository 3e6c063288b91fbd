import type { ChildNode, Element } from 'domhandler';
import { DomUtils, parseDocument } from 'htmlparser2';
import { beginSession } from '../../src/accounts/logins.ts';
import { findUserByLogin } from '../../src/storage/rows/users.ts';
import type { Answer, RunningSite } from './running-site.ts';
import type { SiteClient } from './site-client.ts';

/** Fields that a form sends, in order. */
export type FormFields = [name: string, value: string][];

/** A user with a browser without scripts, who keeps a cookie, reads pages and fills in forms. */
export interface Visitor {
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answer>;
  /** Sends fields like a form of this site. */
  readonly post: (path: string, fields: Readonly<Record<string, string>> | FormFields, headers?: Record<string, string>) => Promise<Answer>;
  /** Sends the form with this action on a page, with some fields changed or, if null, left out. */
  readonly submit: (page: Answer, action: string, changes?: Readonly<Record<string, string | null>>) => Promise<Answer>;
  /** Sends a form that asks for confirmation, and confirms it on the page with the question. */
  readonly confirm: Visitor['submit'];
  readonly cookie: () => string;
}

/** A visitor who is signed in as a user of the sample site, or not signed in if `login` is undefined. */
export async function openVisitor(ask: Pick<SiteClient, 'send' | 'running' | 'writeRows'>, login?: string): Promise<Visitor> {
  let cookie = '';
  // Signing in writes to the site, which must therefore be reset afterwards.
  if (login !== undefined)
    await ask.writeRows(async () => {
      cookie = await sessionOf(ask.running(), login);
    });
  const send = async (method: string, path: string, headers: Record<string, string>, body: string | null = null): Promise<Answer> => {
    const answer = await ask.send(method, path, { headers: { ...(cookie ? { Cookie: cookie } : {}), ...headers }, body });
    const [setCookie] = answer.headers['set-cookie'] ?? [];
    if (setCookie !== undefined) cookie = /Max-Age=0/.test(setCookie) ? '' : setCookie.slice(0, setCookie.indexOf(';'));
    return answer;
  };
  const post: Visitor['post'] = (path, fields, headers = {}) =>
    send(
      'POST',
      path,
      { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin', ...headers },
      new URLSearchParams(fields as Record<string, string>).toString(),
    );
  const submit: Visitor['submit'] = (page, action, changes = {}) => {
    const form = formIn(page.text, action);
    const unchanged = form.filter(([name]) => !(name in changes));
    const changedFields = Object.entries(changes).flatMap(([name, value]): FormFields => (value === null ? [] : [[name, value]]));
    return post(action, [...unchanged, ...changedFields]);
  };
  return {
    get: (path, headers = {}) => send('GET', path, headers),
    post,
    submit,
    confirm: async (page, action, changes) => submit(await submit(page, action, changes), action),
    cookie: () => cookie,
  };
}

async function sessionOf({ site }: RunningSite, login: string): Promise<string> {
  const user = await findUserByLogin(site.db, login, []);
  if (!user) throw new Error(`no user ${login}`);
  const { cookie } = await beginSession(site, await site.settings(), user, { remember: false, address: '127.0.0.1', agent: 'tests' });
  return `${cookie.name}=${encodeURIComponent(cookie.value)}`;
}

/** The fields of an unchanged form as a browser would send them. */
export function formIn(html: string, action: string): FormFields {
  const forms = elements(
    html,
    (element) => element.name === 'form' && element.attribs.action === action && element.attribs.method === 'post',
  );
  const form = forms[0];
  if (!form) throw new Error(`no form to ${action} in ${html.slice(0, 2000)}`);
  return DomUtils.findAll((element) => ['input', 'select', 'textarea'].includes(element.name), [form]).flatMap(fieldsOf);
}

function fieldsOf(element: Element): FormFields {
  const { name, type = 'text', value = '' } = element.attribs;
  if (name === undefined || element.attribs.disabled !== undefined || type === 'file') return [];
  // A line break directly after the tag is not part of the text.
  if (element.name === 'textarea') return [[name, DomUtils.textContent(element).replace(/^\n/, '').replace(/\r?\n/g, '\r\n')]];
  if (element.name === 'select') {
    const options = DomUtils.findAll((option) => option.name === 'option', [element]);
    const selectedOption = options.find((option) => 'selected' in option.attribs) ?? options[0];
    return selectedOption ? [[name, selectedOption.attribs.value ?? DomUtils.textContent(selectedOption)]] : [];
  }
  if ((type === 'checkbox' || type === 'radio') && !('checked' in element.attribs)) return [];
  return [[name, type === 'checkbox' ? element.attribs.value || 'on' : value]];
}

/** The matching elements of a page. */
export function elements(html: string, matches: (element: Element) => boolean): Element[] {
  const { childNodes } = parseDocument(html);
  return DomUtils.findAll(matches, childNodes as ChildNode[]);
}

/** The text of an element, with collapsed whitespace. */
export const textOf = (element: Element): string => DomUtils.textContent(element).replace(/\s+/g, ' ').trim();
