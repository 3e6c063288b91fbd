import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { hourCycleOf } from '../../src/calendar/hour-cycle.ts';
import { loadAssets } from '../../src/html/assets.ts';
import { dayInWords, spanInWords, weekdays } from '../../src/html/dates.ts';
import { documentOf } from '../../src/html/document.tsx';
import { Input, TextArea } from '../../src/html/form-fields.tsx';
import { i18nIn } from '../../src/html/i18n.ts';
import { isSafeUrl, Link } from '../../src/html/links.tsx';
import { Rendered } from '../../src/html/rendered.tsx';
import { loadTexts } from '../../src/texts.ts';

const texts = await loadTexts(['en', 'it']);
const [english, italian] = [i18nIn(texts, 'en', 'en-GB'), i18nIn(texts, 'it', 'en-GB')];
const shown = (children: Parameters<typeof documentOf>[0]['children'], title = 'A page') =>
  documentOf({ i18n: english, title, styles: [], name: 'test', children });

describe('HTML page', () => {
  it('has its language, its title and a skip link to its content', () => {
    const html = documentOf({
      i18n: italian,
      title: 'Fiera <b>',
      styles: ['/a.css'],
      name: 'test',
      children: <main id="content">è</main>,
    });
    expect(html).toMatch(/^<!doctype html><html lang="it">/);
    expect(html).toContain('<title>Fiera &lt;b></title>');
    expect(html).toContain('<a class="skip" href="#content">Vai al contenuto</a>');
    expect(html).toContain('<main id="content">è</main>');
  });

  it('escapes texts and attributes', () => {
    const evil = '"><script>alert(1)</script>';
    expect(shown(<Input name="title" label={evil} value={evil} error={evil} hint={evil} />, evil)).not.toContain('<script');
  });

  it.each(['\nText', '\r\nText', '\n\r\nText', 'Text\n', ''])('keeps the line breaks of a text of several lines: %j', (value) => {
    const [, shownText = ''] =
      /<textarea[^>]*>([\s\S]*)<\/textarea>/.exec(shown(<TextArea name="text" label="Text" value={value} />)) ?? [];
    // Browsers ignore a line break directly after the opening tag.
    expect(shownText.replace(/^\r?\n/, '')).toBe(value);
  });

  it('renders HTML of records without executable parts', () => {
    const html = shown(<Rendered html={'<p onclick="x()">A <b>word</b><script>alert(1)</script><a href="javascript:x()">b</a></p>'} />);
    expect(html).toContain('<p>A <b>word</b>alert(1)<a href="x()">b</a></p>');
  });

  it('embeds JSON-LD that cannot close its script element', () => {
    const html = documentOf({ i18n: english, title: 'A', styles: [], name: 'test', children: '', data: [{ name: '</script><b>&' }] });
    expect(html).toContain('<script type="application/ld+json">{"name":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}</script>');
  });
});

describe('link', () => {
  it.each(['javascript:alert(1)', ' JaVaScRiPt:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x', 'http://['])(
    'to %j is rendered as text',
    (href) => {
      expect(isSafeUrl(href)).toBe(false);
      expect(shown(<Link href={href}>there</Link>)).toContain('<span>there</span>');
    },
  );
  it.each(['https://example.org/a?b=c', '/events/', '?a=b', '#x', 'mailto:a@example.org', 'tel:+39055', 'webcal://example.org/'])(
    'to %j is safe',
    (href) => expect(isSafeUrl(href)).toBe(true),
  );
});

describe('dates in words', () => {
  const evening = { start: '2026-12-05 21:00:00', end: '2026-12-05 23:00:00', allDay: false };
  it('use the language of the page and the regional variant of the site', () => {
    expect(spanInWords(english, evening, 'h23')).toMatch(/^Saturday,? 5 December 2026,? (at )?21:00\s?–\s?\u206023:00$/);
    expect(spanInWords(italian, evening, 'h23').replace(/\s/g, ' ')).toMatch(
      /^sabato 5 dicembre 2026,? (alle ore )?21:00 ?– ?\u206023:00$/,
    );
    expect(dayInWords(italian, '2026-12', 'month')).toBe('dicembre 2026');
  });
  it('omit the time of an all-day event', () =>
    expect(spanInWords(english, { start: '2026-12-05 00:00:00', end: '2026-12-05 23:59:59', allDay: true }, 'h23')).toMatch(
      /^Saturday,? 5 December 2026$/,
    ));
  it('end an all-day event on its last day, whatever the cutoff of the calendar day', () => {
    const words = (end: string) => spanInWords(english, { start: '2026-12-05 04:00:00', end, allDay: true }, 'h23').replace(/\s/g, ' ');
    expect(words('2026-12-06 03:59:59')).toMatch(/^Saturday,? 5 December 2026$/);
    expect(words('2026-12-07 03:59:59')).toMatch(/^Saturday,? 5 December . Sunday,? 6 December 2026$/);
  });
  it.each(['', '0000-00-00 00:00:00', 'soon'])('are empty for an event that begins "%s"', (start) =>
    expect(spanInWords(english, { start, end: '', allDay: false }, 'h23')).toBe(''),
  );
  it('use the 12-hour or 24-hour clock of the time format, ignoring escaped letters', () =>
    expect(['H:i', 'g:i a', 'G\\hi', 'G \\h i', 'h\\hi'].map(hourCycleOf)).toEqual(['h23', 'h12', 'h23', 'h23', 'h12']));
  it('begin the week with the day that the site sets', () => expect(weekdays(english, 1).map(({ short }) => short)[0]).toBe('Mon'));
});

describe('browser assets', () => {
  it('have a hash of their content in their names', () => {
    const assets = loadAssets(new Map([['own.css', Buffer.from('a{}')]]));
    const [own, base] = [assets.urlOf('/cms', 'own.css'), assets.urlOf('', 'base.css')];
    expect(own).toMatch(/^\/cms\/_fasti\/own\.[0-9a-f]{10}\.css$/);
    expect(assets.find(own.split('/').at(-1)!)).toMatchObject({ name: 'digest', asset: { type: 'text/css; charset=UTF-8' } });
    expect(assets.find('base.css')?.name).toBe('plain');
    expect(assets.find(base.slice('/_fasti/'.length))?.asset.body).toEqual(readFileSync('src/html/assets/base.css'));
    expect(assets.find('../base.css')).toBeUndefined();
  });
  it('are found by the name that they have in another version', () => {
    const numbered = new Map(['own.0123456789.css', 'own.css'].map((name) => [name, Buffer.from(name)]));
    const assets = loadAssets(numbered);
    const found = (file: string) => {
      const { name, asset } = assets.find(file) ?? {};
      return name && [name, String(asset?.body)];
    };
    expect(found('own.9876543210.css')).toEqual(['other-digest', 'own.css']);
    expect(found('own.0123456789.css')).toEqual(['plain', 'own.0123456789.css']);
    expect(found('own.0123456789.9876543210.css')).toEqual(['other-digest', 'own.0123456789.css']);
    expect(['own.987654321.css', 'own.9876543210', 'other.9876543210.css'].map(found)).toEqual([undefined, undefined, undefined]);
  });
});
