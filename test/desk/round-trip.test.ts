import { expect, it } from '@jest/globals';
import type { Element } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import { postKinds } from '../../src/kinds/index.ts';
import { elements, type FormFields, formIn, openVisitor } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

/*
 * Every form of the desk that saves something can be filled in completely and shows the sent values again. The inputs
 * are found on the pages themselves.
 */

/** Names of inputs that hold no value of a record, or that only scripts fill. */
const NOT_KEPT = /^(_wpnonce|version|fields|form_key|begun)$|\[add\]|\[fresh\]|^image/;

/** Values for inputs that do not accept any text. */
const TYPED: Readonly<Record<string, string>> = {
  'start_date[date]': '2031-05-06',
  'start_date[time]': '10:00',
  'end_date[date]': '2031-05-07',
  'end_date[time]': '12:30',
  'date[date]': '2020-01-02',
  'date[time]': '09:15',
  timezone: 'Europe/London',
  website: 'https://example.org/page',
  email: 'someone@example.org',
  geo_lat: '45.5',
  geo_lng: '9.25',
  cost: '$12',
  tags: 'early, late',
};

const inputsOf = (html: string, action: string): Element[] => {
  const [form] = elements(html, ({ name, attribs }) => name === 'form' && attribs.action === action && attribs.method === 'post');
  return DomUtils.findAll(({ name }) => ['input', 'select', 'textarea'].includes(name), form?.children ?? []);
};

/** All-day events have no times. */
const NOT_TICKED = 'all_day';

/** Fills in a form: ticks every box, chooses the last option of every choice, and enters a text in every line. */
function filledIn(html: string, action: string, login: string): FormFields {
  return inputsOf(html, action).flatMap((input): FormFields => {
    const { name = '', type, value = '' } = input.attribs;
    if (type === 'hidden') return [[name, value]];
    if (type === 'file' || NOT_KEPT.test(name)) return [];
    if (type === 'checkbox') return name === NOT_TICKED ? [] : [[name, value]];
    if (input.name !== 'select') return [[name, TYPED[name] ?? `${name}-of-${login}`.replaceAll('_', '-')]];
    const options = DomUtils.findAll(({ name: tag }) => tag === 'option', input.children);
    return [[name, options.at(-1)?.attribs.value ?? '']];
  });
}

const keptOf = (fields: FormFields): FormFields => fields.filter(([name]) => !NOT_KEPT.test(name)).sort(byName);
const byName = (one: [string, string], other: [string, string]) => (one.join() < other.join() ? -1 : 1);

/** Users who write records, each with the fields that they may set. */
const LOGINS = ['admin', 'ed', 'auth', 'contrib'];

describeRequests('values saved by forms of the desk', (ask) => {
  const roundTrip = async (login: string, path: string) => {
    const who = await openVisitor(ask, login);
    const sent = filledIn((await who.get(path)).text, path, login);
    const answer = await who.post(path, sent);
    expect([answer.status, answer.status === 303 ? '' : answer.text.slice(-2000)]).toEqual([303, '']);
    const shown = String(answer.headers.location).replace(/\?.*/, '');
    return { sent: keptOf(sent), again: keptOf(formIn((await who.get(shown)).text, shown)) };
  };

  it.each(postKinds.map(({ path }) => path))('are shown as typed by the form of: %s', async (path) => {
    for (const login of LOGINS) {
      const { sent, again } = await roundTrip(login, `/admin/${path}/new`);
      expect({ login, fields: again }).toEqual({ login, fields: sent });
      expect(sent.length).toBeGreaterThan(8);
    }
  });

  it.each(['categories', 'tags'])('are shown as typed by the form of: %s', async (path) => {
    const admin = await openVisitor(ask, 'admin');
    const [first] = (await ask.read(`/${path}`))[path];
    const own = `/admin/${path}/${first.id}`;
    const sent = filledIn((await admin.get(own)).text, own, 'admin');
    expect((await admin.post(own, sent)).status).toBe(303);
    expect(keptOf(formIn((await admin.get(own)).text, own))).toEqual(keptOf(sent));
  });

  it('include each choice of the settings', async () => {
    const admin = await openVisitor(ask, 'admin');
    const path = '/admin/settings';
    const selects = inputsOf((await admin.get(path)).text, path).filter(({ name }) => name === 'select');
    expect(selects.length).toBeGreaterThan(3);
    for (const { attribs, children } of selects)
      for (const option of DomUtils.findAll(({ name }) => name === 'option', children)) {
        const name = attribs.name ?? '';
        const value = option.attribs.value ?? '';
        expect(DomUtils.textContent(option)).not.toContain('desk:');
        expect((await admin.submit(await admin.get(path), path, { [name]: value })).status).toBe(303);
        expect([name, new Map(formIn((await admin.get(path)).text, path)).get(name)]).toEqual([name, value]);
      }
  });

  it('include a new venue and new organizers with their details, created along with an event', async () => {
    const admin = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const page = (await admin.get(path)).text;
    const details = inputsOf(page, path).filter(({ attribs: { name = '' } }) => name.includes('[fresh]') && !name.startsWith('categories'));
    const fresh = details.map(({ attribs: { name = '' } }): [string, string] => [
      name,
      TYPED[/\[(\w+)\]$/.exec(name)?.[1] ?? ''] ?? `x ${name}`,
    ]);
    expect(fresh.length).toBeGreaterThan(6);
    const times = Object.entries(TYPED).filter(([name]) => /^(start|end)_date/.test(name));
    const answer = await admin.post(path, [
      ...formIn(page, path).filter(([name]) => !/\[(fresh|add)\]|^(start|end)_date|^title/.test(name)),
      ['title', 'With everything new'],
      ...times,
      ['venue[add][]', 'A new place'],
      ['organizer[add][]', 'A new organizer'],
      ['categories[fresh]', 'One, Another'],
      ...fresh,
    ]);
    expect(answer.status).toBe(303);
    const event = String(answer.headers.location).replace(/\?.*/, '');
    const saved = formIn((await admin.get(event)).text, event);
    expect(saved.filter(([name]) => name === 'categories[ids][]')).toHaveLength(2);
    for (const kind of ['venue', 'organizer']) {
      const own = `/admin/${kind}s/${saved.find(([name]) => name === `${kind}[keep][]`)?.[1]}`;
      const record = new Map(formIn((await admin.get(own)).text, own));
      expect(record.get(kind)).toBe(kind === 'venue' ? 'A new place' : 'A new organizer');
      for (const [name, value] of fresh.filter(([name]) => name.startsWith(kind)))
        expect([name, record.get(/\[(\w+)\]$/.exec(name)?.[1] ?? '')]).toEqual([name, value]);
    }
  });
});
