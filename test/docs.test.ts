import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { GENERATED_PARTS, replaceParts } from '../src/cli/docs.ts';
import { settings } from '../src/config/settings.ts';
import { sampleEvents } from '../src/sample/events.ts';
import { categories } from '../src/sample/places.ts';
import { sanitizeTitle } from '../src/wordpress/slug.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const pages = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const README = read('README.md');
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;

/** Targets of the links of a page, without links to other sites. */
const links = (page: string) =>
  [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target]) => target!).filter((target) => !/^[a-z]+:/.test(target));

/** The shell commands of a page, one per line. */
const shell = (page: string) =>
  [...read(page).matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block!.replace(/\\\n/g, ' ').split('\n'));

/** The words of the sources, without those of comments. */
const codeWords = (): string[] =>
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap(
      (name) =>
        read(join('src', name))
          .replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '')
          .match(/[A-Za-z_$][\w$]*/g) ?? [],
    );

describe('the pages', () => {
  it.each(pages)('%s has no broken links', (page) => {
    const dead = links(page).filter((target) => !existsSync(join(ROOT, dirname(page), target)));
    expect(dead).toEqual([]);
  });

  it('are all reachable from README.md', () => {
    const reached = new Set<string>();
    const follow = (page: string) => {
      if (reached.has(page)) return;
      reached.add(page);
      for (const target of links(page)) {
        const path = relative(ROOT, join(ROOT, dirname(page), target)).replace(/\/$/, '');
        if (path.endsWith('.md') && pages.includes(path)) follow(path);
        else for (const inside of pages.filter((other) => dirname(other) === path)) follow(inside);
      }
    };
    follow('README.md');
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  it.each(Object.entries(GENERATED_PARTS))('%s has up-to-date generated parts', (name, parts) => {
    const page = read(join('docs', name));
    expect(replaceParts(page, parts)).toBe(page);
  });

  it('docs/architecture.md names only what the code has', () => {
    const words = new Set(codeWords());
    const page = read('docs/architecture.md');
    const inText = [...page.matchAll(/`([A-Za-z_$][\w$]*)`/g)].map(([, name]) => name!);
    const inCode = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].flatMap(
      ([, block]) => block!.replace(/'[^']*'/g, '').match(/[A-Za-z_$][\w$]*/g)!,
    );
    expect(inText.length + inCode.length).toBeGreaterThan(50);
    // The field that the page adds as an example, and a constant of test/texts.test.ts.
    const others = ['parking', 'SHARED_WORDS'];
    expect([...inText, ...inCode].filter((name) => !words.has(name) && !others.includes(name))).toEqual([]);
  });

  it.each(pages)('%s names only files that exist', (page) => {
    const named = [...read(page).matchAll(/`((?:src|test|docs|migrations|locales|bin)\/[\w./-]+)`/g)].map(([, name]) => name!);
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });
});

describe('README.md', () => {
  it('names only scripts that package.json has', () => {
    const run = shell('README.md').flatMap((line) => [...(/\bnpm (?:run )?(\w+)/.exec(line)?.slice(1) ?? [])]);
    expect(run).toEqual(expect.arrayContaining(['start', 'test']));
    expect(run.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('requests events and categories that the sample calendar has', () => {
    const slugs = sampleEvents.map(({ title }) => sanitizeTitle(title));
    const asked = [...README.matchAll(/by-slug\/([\w-]+)/g)].map(([, slug]) => slug!);
    expect(asked).not.toEqual([]);
    expect(asked.filter((slug) => !slugs.includes(slug))).toEqual([]);
    const narrowed = [...README.matchAll(/categories(?:=|": \[")([\w-]+)/g)].map(([, slug]) => slug!);
    expect(narrowed).not.toEqual([]);
    expect(narrowed.filter((slug) => !categories.some((category) => category.slug === slug))).toEqual([]);
  });

  it('names only settings that exist', () => {
    const known = Object.values(settings).map(({ env }) => env as string);
    const named = [...README.matchAll(/\b([A-Z]+(?:_[A-Z]+)+)\b/g)].map(([, name]) => name!);
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('CHANGELOG.md', () => {
  const items = read('CHANGELOG.md')
    .split(/^(?=- |#)/m)
    .filter((text) => text.startsWith('- '))
    .map((text) => text.trim());

  // Merges of two wordings have left half items, and items twice.
  it('has whole sentences, each item once', () => {
    expect(items.length).toBeGreaterThan(100);
    expect(items.filter((text) => !/\.["”]?$/.test(text))).toEqual([]);
    expect(items.filter((text, place) => items.indexOf(text) < place)).toEqual([]);
  });
});

describe('docs/differences.md', () => {
  const numbers = [...read('docs/differences.md').matchAll(/^\| D(\d+) \|/gm)].map(([, number]) => Number(number));

  it('contains each decision once', () => {
    expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 55 }, (_, index) => index + 1));
  });

  it('has as many rows as docs/compatibility.md says', () => {
    expect(/has (\d+) numbered rows/.exec(read('docs/compatibility.md'))?.[1]).toBe(String(numbers.length));
  });

  it('says of each decision what the plugin does, what Fasti does and what is gained', () => {
    const rows = read('docs/differences.md')
      .split('\n')
      .filter((line) => /^\| D\d+ \|/.test(line));
    expect(rows.filter((row) => row.split(' | ').length !== 4 || row.split(' | ').some((cell) => cell.trim() === ''))).toEqual([]);
  });

  it('explains every decision that the source names', () => {
    const sources = ['src', 'test'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.ts$/.test(name))
        .map((name) => join(folder, name)),
    );
    const named = sources.flatMap((name) => [...read(name).matchAll(/\bD(\d{1,2})\b/g)].map(([, number]) => Number(number)));
    expect(new Set(named).size).toBeGreaterThan(20);
    expect([...new Set(named)].filter((number) => !numbers.includes(number))).toEqual([]);
  });
});

describe('docs/decisions', () => {
  const decisions = readdirSync(join(ROOT, 'docs/decisions')).sort();

  it('are numbered without gaps', () => {
    expect(decisions.map((name) => name.slice(0, 4))).toEqual(decisions.map((_, index) => String(index + 1).padStart(4, '0')));
  });

  it.each(decisions)('%s has the sections on the situation, the decision and the consequences', (name) => {
    const page = read(join('docs/decisions', name));
    expect(page.startsWith(`# ${Number(name.slice(0, 4))}. `)).toBe(true);
    for (const part of ['**Context.**', '**Decision.**', '**Consequences.**']) expect(page).toContain(part);
  });
});
