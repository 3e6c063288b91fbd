import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { settings } from '../src/config/settings.ts';
import { problems } from '../src/errors.ts';
import { TEXT_FILES } from '../src/texts.ts';

/*
 * Entries of tables that the program does not use. `test/house.test.ts` finds unused exports in the same way, and
 * `test/texts.test.ts` unused descriptions of routes, parameters and fields.
 */

const root = new URL('..', import.meta.url);
const code = new Map(
  readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => [name, readFileSync(new URL(`src/${name}`, root), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '')]),
);
const codeBeside = (table: string): string => [...code].map(([name, text]) => (name === table ? '' : text)).join('\n');

it('the program uses every problem', () => {
  const all = codeBeside('errors.ts');
  expect(Object.keys(problems).filter((name) => !all.includes(`'${name}'`))).toEqual([]);
});

it('the program reads every setting', () => {
  const words = new Set(codeBeside('config/settings.ts').match(/\w+/g));
  expect(words.size).toBeGreaterThan(5000);
  expect(Object.keys(settings).filter((name) => !words.has(name))).toEqual([]);
});

/** Files whose sentences `test/texts.test.ts` compares with the things that they describe. */
const DESCRIPTIONS: ReadonlySet<string> = new Set(['routes', 'params', 'fields', 'problems', 'statuses', 'reasons']);

/** Keys that the program assembles in several steps; their parts must occur somewhere, too. */
const IN_STEPS: readonly RegExp[] = [/^(desk:suggestion\.[\w-]+)-sure$/, /^upkeep:(?:findings|advice)\.(?:event|recurrence)-([\w-]+)$/];

it('the program uses every sentence', () => {
  const all = codeBeside('');
  const words = new Set([...all.matchAll(/[\w-]+/g)].flatMap(([word]) => [word, ...word.split('-')]));
  const inCode = [...all.matchAll(/`([\w-]+[:.][\w.-]*\$\{[^`\s]*|[\w-]+[:.][^`\n]*\$\{[^`\n]*)`/g)].map(([, text]) => text!);
  // Sentences within sentences: `$t(exchange:fetching.{{what}})`.
  const inSentences = TEXT_FILES.flatMap((file) =>
    [...sentencesOf(file).matchAll(/\$t\(([^)]*)\)/g)].map(([, text]) => text!.replaceAll('{{', '${').replaceAll('}}', '}')),
  );
  const templates = [...inCode, ...inSentences].map(patternOf);
  expect(templates.length).toBeGreaterThan(50);

  /** Whether the key occurs as a text of the program, or matches a template with values that are words of it. */
  const isSaid = (key: string): boolean =>
    all.includes(`'${key}'`) ||
    [...templates, ...IN_STEPS].some((pattern) => {
      const values = pattern.exec(key)?.slice(1);
      return values?.every((value) => value !== key && (/[.:]/.test(value) ? isSaid(value) : words.has(value)));
    });

  const unsaid = TEXT_FILES.filter((file) => !DESCRIPTIONS.has(file)).flatMap((file) =>
    namesIn(JSON.parse(sentencesOf(file)))
      .map((name) => name.replace(/_(?:zero|one|two|few|many|other)$/, ''))
      .filter((name) => !isSaid(`${file}:${name}`) && !isSaid(name))
      .map((name) => `${file}:${name}`),
  );
  expect(unsaid).toEqual([]);
});

const sentencesOf = (file: string): string => readFileSync(new URL(`locales/en/${file}.json`, root), 'utf8');

/** The names of all sentences of a file, such as `doctor.title`. */
function namesIn(sentences: object): string[] {
  return Object.entries(sentences).flatMap(([name, member]: [string, string | object]) =>
    typeof member === 'string' ? [name] : namesIn(member).map((below) => `${name}.${below}`),
  );
}

/** The pattern of the texts that a template of the program produces. */
function patternOf(template: string): RegExp {
  const fixed = template.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^$(){}|[\]\\]/g, '\\$&'));
  return new RegExp(`^${fixed.join('([\\w.-]+)')}$`);
}
