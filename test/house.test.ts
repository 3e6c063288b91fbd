import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '../src');

/** The rooms (top-level folders of `src`) from the bottom up; rooms on the same level do not import each other. */
const FLOORS: readonly (readonly string[])[] = [
  ['objects.ts'],
  ['errors.ts', 'memo.ts', 'grouped-by.ts', 'yielding.ts', 'typed-keys.ts', 'host'],
  ['wordpress'],
  ['calendar'],
  ['kinds'],
  ['storage', 'texts.ts', 'log.ts', 'config'],
  ['refusals.ts', 'settings-reader.ts', 'html'],
  ['media'],
  ['site.ts'],
  ['records', 'accounts'],
  ['exchange', 'webhooks'],
  ['upkeep', 'sample'],
  ['forms'],
  ['pages', 'desk'],
  ['http', 'cli'],
  ['main.ts', 'cli.ts'],
];

/**
 * The folders of large rooms from the bottom up, without the room's own files; folders on the same level do not import
 * each other.
 */
const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  storage: [['engine'], ['journal'], ['languages'], ['rows'], ['translations'], ['schema', 'index'], ['lists', 'freshness'], ['audit']],
  wordpress: [['content', 'php']],
  kinds: [['grammars'], ['events'], ['core'], ['tec']],
  records: [['writes'], ['core']],
  exchange: [['items'], ['ical', 'csv', 'wxr', 'json-ld', 'import'], ['live'], ['verify']],
};

/** Rooms whose own files may be imported by their folders; circular imports are found nevertheless. */
const BESIDE_THEIR_FOLDERS: ReadonlySet<string> = new Set(['kinds', 'wordpress', 'records']);

/** Pure rooms, and the packages that they may import besides files of `src`. */
const PURE: Readonly<Record<string, RegExp>> = {
  wordpress:
    /^(dayjs|php-serialize|html-entities|@wordpress\/autop|bcryptjs|@noble\/hashes|node:(crypto|url|buffer|punycode|timers\/promises))/,
  calendar: /^node:crypto$/,
  kinds: /^(zod|leven)$/,
};

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'));
const imports = (name: string) =>
  [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/^(?:import|export)[^'";]*? from '([^']+)'|^import '([^']+)'/gm)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
/** The imports of a file, each with its target: `storage/rows/posts.ts findPost`. */
const importedNames = (name: string): string[] =>
  [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/\{([^{}]*)\} (?:from |= await import\()'(\.[^']+)'/g)].flatMap(
    ([, names = '', from = '']) =>
      names.split(',').map((each) => {
        const [word] = each
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        return `${relative(SOURCE, join(SOURCE, dirname(name), from))} ${word}`;
      }),
  );
const roomOf = (name: string) => name.split('/')[0] ?? name;
const floorOf = (room: string) => FLOORS.findIndex((floor) => floor.includes(room));

const MOST_LINES = 60;
const MOST_PARAMETERS = 5;
/** Functions that may have 6 parameters or more: makers of rows of the sample calendar, and the fields of a time. */
const MANY = new Set([
  'sample/pictures.ts box', 'sample/places.ts venue', 'sample/places.ts organizer', 'sample/places.ts term', 'wordpress/time.ts unixFromFields',
]); // biome-ignore format: a list of names

interface FunctionShape {
  readonly own: string;
  readonly lines: number;
  readonly parameters: number;
}

/** The syntax tree of a file, and a function that returns the text of a span of it. */
function parsed(name: string) {
  const code = readFileSync(join(SOURCE, name), 'utf8');
  const bytes = Buffer.from(code);
  const tree = parseSync(code, { syntax: 'typescript', tsx: name.endsWith('x') });
  const textOf = ({ start, end }: { readonly start: number; readonly end: number }): string =>
    bytes.subarray(start - 1, end - 1).toString();
  return { tree, textOf };
}

/** All functions of a file, by the names under which they are declared, stored or passed. */
function functionsIn(name: string): FunctionShape[] {
  const { tree, textOf } = parsed(name);
  const found: FunctionShape[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: a tree of syntax, of which only a few members matter
  const visit = (node: any, around: string): void => {
    if (node === null || typeof node !== 'object') return;
    const own = node.identifier?.value ?? node.key?.value ?? (node.type === 'VariableDeclarator' ? node.id.value : undefined) ?? around;
    if (/^(Function|ArrowFunction|Method|ClassMethod|Constructor)/.test(node.type ?? '') && node.span) {
      found.push({ own, lines: textOf(node.span).split('\n').length, parameters: (node.params ?? node.function?.params ?? []).length });
    }
    for (const member of Object.values(node)) visit(member, own);
  };
  visit(tree.body, '');
  return found;
}

/** Functions that take a value of any type, including booleans: they set, return or store it. */
const TAKES_VALUE = new Set(['accept', 'done', 'end', 'set', 'store']);

/** Calls of functions of `src` with a bare `true` or `false` among the arguments. */
function bareFlagsIn(name: string, own: ReadonlySet<string>): string[] {
  const { tree, textOf } = parsed(name);
  const libraries = tree.body.flatMap((item) =>
    item.type === 'ImportDeclaration' && !item.source.value.startsWith('.') ? item.specifiers.map(({ local }) => local.value) : [],
  );
  const found: string[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: a tree of syntax, of which only a few members matter
  const visit = (node: any): void => {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      const callee = node.callee.value ?? node.callee.property?.value ?? node.callee.base?.callee?.property?.value;
      let root = node.callee;
      while (root.object) root = root.object;
      const isBare = (node.arguments ?? []).some(
        (argument: { expression: { type: string } }) => argument.expression.type === 'BooleanLiteral',
      );
      if (isBare && own.has(callee) && !TAKES_VALUE.has(callee) && !libraries.includes(root.value))
        found.push(`${name}: ${textOf(node.span)}`);
    }
    for (const member of Object.values(node)) visit(member);
  };
  visit(tree.body);
  return found;
}

/** Files that parse JSON written by Fasti itself or by its operator. */
const OWN_JSON: Readonly<Record<string, string>> = {
  'cli/content-flags.ts': 'an argument of the command line',
  'exchange/import/pending-references.ts': 'rows of an import',
  'exchange/items/report.ts': 'rows of an import',
  'exchange/live/spool.ts': 'a file that it has written',
  'host/version.ts': 'package.json',
  'html/dates.ts': 'a key of its memory',
  'http/openapi-schemas.ts': 'a schema that it has made',
  'http/write-once.ts': 'an answer that it has given',
  'kinds/suggestion.ts': 'a meta that it has written; texts are taken out of it and nothing else',
  'records/changes-token.ts': 'a token that it has signed',
  'webhooks/messages.ts': 'a message that it has written',
};

describe('the source', () => {
  it('has no file outside its rooms', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => floorOf(room) < 0)).toEqual([]);
  });

  it('uses every export in another file or in tests', () => {
    const named = (code: string) => new Set(code.replace(/^\s*(\/\/|\/?\*).*$/gm, '').match(/[\w$]+/g));
    const inFolder = (folder: string) =>
      readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.m?[jt]sx?$/.test(name))
        .map((name) => named(readFileSync(join(SOURCE, folder, name), 'utf8')));
    const commands = readFileSync(join(SOURCE, '../package.json'), 'utf8');
    const [around, tests] = [[...inFolder('../migrations'), ...inFolder('../bin'), named(commands)], inFolder('../test')];
    const imported = new Set(files.flatMap(importedNames));
    const unused = files.flatMap((name) => {
      const code = readFileSync(join(SOURCE, name), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
      const exported = [...code.matchAll(/^export (?:async )?(?:const|function\*?|class|let) ([\w$]+)/gm)].map(([, word]) => word!);
      const isUsed = (word: string): boolean => {
        if (imported.has(`${name} ${word}`) || around.some((words) => words.has(word))) return true;
        // A part of the file that tests use directly.
        return code.split(new RegExp(`\\b${word}\\b`)).length > 2 && tests.some((words) => words.has(word));
      };
      return exported.filter((word) => !isUsed(word)).map((word) => `${name}: ${word}`);
    });
    expect(unused).toEqual([]);
  });

  it('has no function of more than 60 lines, and none with 6 parameters or more', () => {
    const found = files.flatMap((name) =>
      functionsIn(name).flatMap(({ own, lines, parameters }) => [
        ...(lines > MOST_LINES ? [`${name} ${own}: ${lines} lines`] : []),
        ...(parameters > MOST_PARAMETERS && !MANY.has(`${name} ${own}`) ? [`${name} ${own}: ${parameters} parameters`] : []),
      ]),
    );
    expect(found).toEqual([]);
  });

  it('passes no bare true or false to its functions', () => {
    const own = new Set(files.flatMap((name) => functionsIn(name).map((each) => each.own)));
    expect(own.size).toBeGreaterThan(3000);
    expect(files.flatMap((name) => bareFlagsIn(name, own))).toEqual([]);
  });

  /** Lines of comments that match, as `file:line`. */
  const commentLines = (matches: (line: string) => boolean): string[] => {
    const root = join(SOURCE, '..');
    const all = ['src', 'migrations', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.m?[jt]sx?$/.test(name) && !name.startsWith('fixtures'))
        .map((name) => join(folder, name)),
    );
    return all.flatMap((name) =>
      readFileSync(join(root, name), 'utf8')
        .split('\n')
        .flatMap((line, place) => (/^\s*(\/\/|\/?\*)/.test(line) && matches(line) ? [`${name}:${place + 1}`] : [])),
    );
  };

  it('has no comment wider than 120 columns', () => {
    expect(commentLines((line) => line.length > 120)).toEqual([]);
  });

  it('has no comment that begins with a question word: it says what something is or does', () => {
    const QUESTION = /^\s*(\/\*\*?|\/\/)\s+(What|Who|Whoever|How)\b/;
    expect(QUESTION.test('/** What its routes are called. */')).toBe(true);
    expect(commentLines((line) => QUESTION.test(line))).toEqual([]);
  });

  it('says only of errors that exist that they are thrown', () => {
    const THROWN = /(?:[Tt]hrows|@throws) (?:an? )?([A-Z]\w+)/g;
    const sources = files.map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8') }));
    const code = sources.map(({ text }) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')).join('\n');
    const said = sources.flatMap(({ name, text }) => [...text.matchAll(THROWN)].map(([, error = '']) => ({ name, error })));
    expect(said.length).toBeGreaterThan(50);
    const unknown = said.filter(({ error }) => !(error in globalThis) && !new RegExp(`\\b${error}\\b`).test(code));
    expect(unknown.map(({ name, error }) => `${name}: ${error}`)).toEqual([]);
  });

  /** A block comment that is not indented may also be about the whole file. */
  it('has each doc comment and each indented block comment directly above what it describes', () => {
    const root = join(SOURCE, '..');
    const all = ['src', 'migrations', 'client', 'bin', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.m?[jt]sx?$/.test(name) && !name.startsWith('fixtures'))
        .map((name) => join(folder, name)),
    );
    const orphans = all.flatMap((name) => {
      const code = readFileSync(join(root, name), 'utf8');
      return [...code.matchAll(/^(?:[ \t]*\/\*\*|[ \t]+\/\*)(?:(?!\*\/)[\s\S])*\*\/[ \t]*(?=\n\s*(?:\n|\/\*|\}|$))/gm)].map(
        ({ index }) => `${name}:${code.slice(0, index).split('\n').length}`,
      );
    });
    expect(orphans).toEqual([]);
  });

  it('has a sentence above every exported function', () => {
    const DECLARED =
      /^export (?:(?:async )?function\*? (\w+)|const (\w+)(?:: .*)? =\s*(?:memo\w*\()?\s*(?:async )?(?:<[^()]*>\s*)?(?:\(|\w+ =>))/;
    const undescribed = files.flatMap((name) => {
      const lines = readFileSync(join(SOURCE, name), 'utf8').split('\n');
      let last = '';
      return lines.flatMap((line, place) => {
        // The value of a constant may begin on the next line.
        const [, own, constant] = DECLARED.exec(`${line}\n${line.endsWith('=') ? lines[place + 1] : ''}`) ?? [];
        const declared = own ?? constant;
        const isOverload = own !== undefined && own === last;
        if (declared !== undefined) last = declared;
        if (declared === undefined || isOverload) return [];
        const above = lines.slice(0, place).findLast((other) => !other.startsWith('//')) ?? '';
        return above.endsWith('*/') ? [] : [`${name}: ${declared}`];
      });
    });
    expect(undescribed).toEqual([]);
  });

  it('has only downward imports between rooms', () => {
    const upward = files.flatMap((name) =>
      imports(name)
        .filter((target) => target.startsWith('.'))
        .map((target) => relative(SOURCE, join(SOURCE, dirname(name), target)))
        .filter((target) => !target.startsWith('..'))
        .filter((target) => roomOf(target) !== roomOf(name) && floorOf(roomOf(target)) >= floorOf(roomOf(name)))
        .map((target) => `${name} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it.each(Object.entries(FOLDERS))('has only downward imports between the folders of %s', (room, floors) => {
    const folderOf = (name: string) => name.split('/')[1] ?? '';
    const floorOf = (name: string) => floors.findIndex((floor) => floor.includes(folderOf(name)));
    const inside = files.filter((name) => roomOf(name) === room && name.split('/').length >= 3);
    expect([...new Set(inside.filter((name) => floorOf(name) < 0).map(folderOf))]).toEqual([]);
    const upward = inside.flatMap((name) =>
      imports(name)
        .filter((target) => target.startsWith('.'))
        .map((target) => relative(SOURCE, join(SOURCE, dirname(name), target)))
        .filter((target) => roomOf(target) === room && folderOf(target) !== folderOf(name))
        .filter((target) => (target.split('/').length < 3 ? !BESIDE_THEIR_FOLDERS.has(room) : floorOf(target) >= floorOf(name)))
        .map((target) => `${name} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it.each(Object.entries(PURE))('does not use the database, the network or the clock in %s', (room, allowed) => {
    const strange = files
      .filter((name) => roomOf(name) === room)
      .flatMap((name) =>
        imports(name)
          .filter((target) => !target.startsWith('.') && !allowed.test(target))
          .map((target) => `${name} -> ${target}`),
      );
    expect(strange).toEqual([]);
  });

  it('imports dayjs and knex in one file each, and database drivers in storage only', () => {
    const users = (library: RegExp) => files.filter((name) => imports(name).some((target) => library.test(target)));
    expect(users(/^dayjs/)).toEqual(['wordpress/time.ts']);
    expect(users(/^knex/)).toEqual(['storage/engine/builder.ts']);
    expect(users(/^knex\//)).toEqual([]);
    expect(users(/^(mysql2|better-sqlite3)/).filter((name) => roomOf(name) !== 'storage')).toEqual([]);
  });

  it('opens databases in tests with the same SQLite as the service', () => {
    // Two copies of SQLite in one process do not see each other's locks.
    const tests = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.m?ts$|\.mjs$/.test(name),
    );
    const direct = /(import|require)\((['"])better-sqlite3|^import (?!type)[^;]* from (['"])better-sqlite3/m;
    expect(tests.length).toBeGreaterThan(200);
    expect(tests.filter((name) => direct.test(readFileSync(new URL(name, import.meta.url), 'utf8')))).toEqual([]);
  });

  it('builds statements with the typed `from`, and inserts with `insertRows`, which takes any number of rows', () => {
    const above = files.filter((name) => !name.startsWith('storage/engine/') && name !== 'storage/schema/migrate.ts');
    const saying = (text: RegExp) => above.filter((name) => text.test(readFileSync(join(SOURCE, name), 'utf8')));
    expect(saying(/\.knex\b/)).toEqual([]);
    expect(saying(/\.from\([^)]*\)\s*\.insert\(/)).toEqual([]);
  });

  /**
   * Each difference between kinds is a trait (`kinds/kind.ts`), so that the compiler requires all of them for a new
   * kind.
   */
  it('does not test for the name of a kind', () => {
    const rooms = ['media', 'site.ts', 'records', 'accounts', 'upkeep', 'http', 'cli'];
    const asked = files
      .filter((name) => rooms.includes(roomOf(name)))
      .flatMap((name) => {
        const code = readFileSync(join(SOURCE, name), 'utf8');
        return [...code.matchAll(/\b(?:kind(?:\.name)?|name) [!=]== '(?:event|venue|organizer|category|tag)'|as ProblemName\b(?!\[)/g)].map(
          ([asks]) => `${name}: ${asks}`,
        );
      });
    expect(asked).toEqual([]);
  });

  it('asks in one file whether a value is an object', () => {
    const asked =
      /(\w+) !== null && typeof \1 === 'object'|typeof (\w+) === 'object' && \2 !== null|(\w+) === null \|\| typeof \3 !== 'object'/;
    expect(files.filter((name) => asked.test(readFileSync(join(SOURCE, name), 'utf8')))).toEqual(['objects.ts']);
  });

  /** Copying a group for each new member takes quadratic time; `addToGroup` and `groupedBy` do not copy. */
  it('copies no group to add a member to it', () => {
    const copied = /\.set\([^;]*?\[\.\.\.\(\w+\.get\(/;
    expect(copied.test('bySlug.set(slug, [...(bySlug.get(slug) ?? []), row]);')).toBe(true);
    expect(files.filter((name) => copied.test(readFileSync(join(SOURCE, name), 'utf8')))).toEqual([]);
  });

  /*
   * Deeply nested or very numerous values cost much more when parsed than as text, and recursion over them overflows
   * the stack.
   */
  it('parses JSON from outside only after measuring its size', () => {
    const unmeasured = files.filter((name) => {
      const code = readFileSync(join(SOURCE, name), 'utf8');
      return /\bJSON\.parse\(/.test(code) && !/\bjsonExcess\(/.test(code);
    });
    expect(unmeasured.sort()).toEqual(Object.keys(OWN_JSON).sort());
  });

  /** Everything else on a page is text, which JSX escapes, or an address that `Link` has checked. */
  it('inserts HTML into pages in one file, and makes links in one file', () => {
    const saying = (text: RegExp) => files.filter((name) => name.endsWith('.tsx') && text.test(readFileSync(join(SOURCE, name), 'utf8')));
    expect(saying(/dangerouslySetInnerHTML/)).toEqual(['html/rendered.tsx']);
    expect(saying(/<a\s(?!class="skip" href="#content")/)).toEqual(['html/links.tsx']);
  });

  it('deletes uploaded files only if it is known that no row names them', () => {
    const undoing = files.filter((name) => /\.undo(?:\(|\?\.|\))/.test(readFileSync(join(SOURCE, name), 'utf8')));
    expect(undoing.length).toBeGreaterThan(4);
    expect(undoing.filter((name) => !/\bwithFileCleanup\b/.test(readFileSync(join(SOURCE, name), 'utf8')))).toEqual(['media/images.ts']);
  });

  it('has no circular imports', () => {
    const steps = readdirSync(join(SOURCE, '../migrations')).map((name) => `../migrations/${name}`);
    const graph = new Map(
      [...files, ...steps].map((name) => [
        name,
        imports(name)
          .filter((target) => target.startsWith('.'))
          .map((target) => relative(SOURCE, join(SOURCE, dirname(name), target))),
      ]),
    );
    const circles: string[] = [];
    const visit = (name: string, path: readonly string[]): void => {
      if (path.includes(name)) {
        circles.push([...path.slice(path.indexOf(name)), name].join(' -> '));
        return;
      }
      if (done.has(name)) return;
      for (const target of graph.get(name) ?? []) visit(target, [...path, name]);
      done.add(name);
    };
    const done = new Set<string>();
    for (const name of graph.keys()) visit(name, []);
    expect(circles).toEqual([]);
  });

  /*
   * `TABLE[name]` on an object also finds inherited properties. If the type of the table lists its keys, the compiler
   * refuses other names, unless a cast hides the difference; a `Record<string, …>` accepts any name, so a table for
   * such lookups has to be a map (`tableOf`).
   */
  it('looks up no name from outside in a plain object', () => {
    const lookups = files.flatMap((name) => {
      const code = readFileSync(join(SOURCE, name), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
      const open = [...code.matchAll(/^(?:export )?const ([A-Z_]+): (?:Readonly<|Partial<)*Record<string,/gm)].map(([, table]) => table);
      return [...code.matchAll(/\b([A-Z][A-Z_]+)\[(?!['"\d])([^\]]+)/g)]
        .filter(([, table, by]) => open.includes(table) || / as /.test(by!))
        .map(([lookup]) => `${name}: ${lookup}]`);
    });
    expect(lookups).toEqual([]);
  });
});
