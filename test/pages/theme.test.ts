import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { renderToString } from 'preact-render-to-string';
import { i18nIn } from '../../src/html/i18n.ts';
import { defaultTheme, loadTheme } from '../../src/pages/theme.ts';
import { loadTexts } from '../../src/texts.ts';

const i18n = i18nIn(await loadTexts(['en']), 'en', 'en-GB');
const EVENT = {
  i18n,
  card: {
    id: 1,
    title: 'Fair <b>',
    href: '/event/fair/',
    start: '2026-12-05 10:00:00',
    end: '2026-12-05 12:00:00',
    allDay: false,
    when: 'On Saturday',
  },
  description: '<p onclick="x()">Bread<script>alert(1)</script></p>',
  places: [{ name: 'Hall', href: 'javascript:alert(1)', address: '', phone: '', website: '', map: undefined }],
} as unknown as Parameters<ReturnType<typeof defaultTheme>['theme']['views']['event']>[0];

describe('a theme of the site', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fasti-theme-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is the one in the documentation', async () => {
    const { theme, assets } = await loadTheme('docs/examples/theme');
    expect(theme.styles).toEqual(['theme.css']);
    expect(assets.urlOf('', 'theme.css')).toMatch(/^\/_fasti\/theme\./);
    const html = renderToString(theme.views.event(EVENT));
    expect(html).toContain(
      '<p class="record-when">On Saturday</p><h1>Fair &lt;b></h1><div class="text" dir="auto"><p>Breadalert(1)</p></div>',
    );
    expect(html).not.toMatch(/script|javascript|onclick/);
    expect(theme.views.month).toBe(defaultTheme().theme.views.month);
  });

  it('may contain a logo and an icon, and files that replace those of Fasti', async () => {
    writeFileSync(join(folder, 'logo.svg'), '<svg/>');
    writeFileSync(join(folder, 'icon.png'), 'x');
    writeFileSync(join(folder, 'pages.css'), 'a{}');
    const { theme, assets } = await loadTheme(folder);
    expect([theme.logo, theme.icon]).toEqual(['logo.svg', 'icon.png']);
    expect(assets.find('pages.css')?.asset.body.toString()).toBe('a{}');
  });

  it('is refused if it cannot work', async () => {
    writeFileSync(join(folder, 'list.js'), 'export const nothing = 1;');
    await expect(loadTheme(folder)).rejects.toThrow('list.js has no default export that is a function.');
    await expect(loadTheme(join(folder, 'absent'))).rejects.toThrow(/ENOENT/);
  });
});
