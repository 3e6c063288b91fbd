import { expect, it } from '@jest/globals';
import { lockPost } from '../../src/storage/rows/posts.ts';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

/* The questions before actions that cannot be undone easily, in a browser without scripts. */
describeRequests('a question before an action at the desk', (ask) => {
  const said = (html: string) => elements(html, ({ name }) => name === 'p').map(textOf);
  const venue = async (name: string, status = 'trash') => {
    const { id } = await ask.create('/venues', { venue: name });
    await ask.update(`/venues/${id}`, { status });
    return Number(id);
  };
  const exists = async (id: number) => (await lockPost(ask.db(), id)) !== undefined;

  it('is asked on a page of its own, which leads back, or on to the same page of the list', async () => {
    const anna = await openVisitor(ask, 'admin');
    const [id, other] = [await venue('Mill'), await venue('Barn')];
    const list = await anna.get('/admin/venues?status=trash&orderby=title');
    const path = `/admin/venues/${id}/delete`;
    const [button] = elements(list.text, ({ attribs }) => attribs.formaction === path);
    const fields = formIn(list.text, '/admin/venues/bulk');
    const asked = await anna.post(path, [...fields, [button!.attribs.name!, button!.attribs.value!]]);
    expect([asked.status, await exists(id)]).toEqual([200, true]);
    expect(said(asked.text)).toContain('Delete this for good? It cannot be restored.');
    expect(asked.text).toContain('href="/admin/venues?status=trash&amp;orderby=title">Cancel');
    expect((await anna.submit(asked, path)).headers.location).toBe('/admin/venues?status=trash&orderby=title&done=deleted');
    expect([await exists(id), await exists(other)]).toEqual([false, true]);
  });

  it('is asked about the selected records, which stay selected', async () => {
    const anna = await openVisitor(ask, 'admin');
    const ids = [await venue('Mill'), await venue('Barn')];
    const list = await anna.get('/admin/venues?status=trash');
    const fields = formIn(list.text, '/admin/venues/bulk').filter(([name]) => name !== 'action');
    const selected = ids.map((id): [string, string] => ['ids[]', String(id)]);
    const asked = await anna.post('/admin/venues/bulk', [...fields, ['action', 'delete'], ...selected]);
    expect(said(asked.text)).toContain('Delete the selected records for good? They cannot be restored.');
    expect(await Promise.all(ids.map(exists))).toEqual([true, true]);
    expect((await anna.submit(asked, '/admin/venues/bulk')).headers.location).toContain('done=deleted&count=2');
    expect(await Promise.all(ids.map(exists))).toEqual([false, false]);
  });

  it('is asked by every button that a script would ask about', async () => {
    const anna = await openVisitor(ask, 'admin');
    const kept = await venue('Mill', 'publish');
    await venue('Barn');
    const { id: category } = await ask.create('/categories', { name: 'Mills' });
    const pages = [
      `/admin/venues/${kept}`,
      '/admin/venues?status=trash',
      `/admin/categories/${category}`,
      '/admin/people/3',
      '/admin/events/new',
    ];
    const asking = await Promise.all(
      pages.map(async (page) => {
        const { text } = await anna.get(page);
        const forms = elements(text, ({ name, attribs }) => name === 'form' && attribs['data-confirm'] !== undefined);
        const answers = await Promise.all(
          forms.map(async ({ attribs }) => {
            const action = attribs.action!;
            const asked = await anna.submit({ text } as Awaited<ReturnType<typeof anna.get>>, action);
            return asked.status === 200 && said(asked.text).includes(attribs['data-confirm']!);
          }),
        );
        expect([page, answers.every(Boolean)]).toEqual([page, true]);
        return answers.length;
      }),
    );
    expect(asking).toEqual([1, 1, 1, 1, 0]);
    expect((await ask.get(`/categories/${category}`)).status).toBe(200);
  });

  it('is not asked again if the script has asked it', async () => {
    const anna = await openVisitor(ask, 'admin');
    const id = await venue('Mill', 'publish');
    const path = `/admin/venues/${id}/trash`;
    const done = await anna.submit(await anna.get(`/admin/venues/${id}`), path, { confirmed: '1' });
    expect(done.headers.location).toBe('/admin/venues?done=trashed');
  });
});
