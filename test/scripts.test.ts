import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { SHORT } from './support/short-runs.mjs';

/*
 * The scripts that measure and attack run for hours and are not type-checked: this test finds the missing `await` that
 * the compiler would find.
 */

const HERE = dirname(fileURLToPath(import.meta.url));
const scripts = readdirSync(HERE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'));

/** The part of a node of a syntax tree that is used here. */
interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const partsOf = (node: Node): Node[] =>
  Object.values(node).flatMap((value): Node[] => {
    if (isNode(value)) return [value];
    // Arguments and members of patterns are in nested objects.
    const list: unknown[] = Array.isArray(value) ? value : [];
    return list.flatMap((one) =>
      isNode(one) ? [one] : isNode((one as { expression?: unknown })?.expression) ? [(one as { expression: Node }).expression] : [],
    );
  });

function* within(node: Node, parent?: Node): Generator<{ readonly node: Node; readonly parent: Node | undefined }> {
  yield { node, parent };
  for (const part of partsOf(node)) yield* within(part, node);
}

const treeOf = (text: string): Node => parseSync(text, { syntax: 'ecmascript', target: 'esnext' }) as unknown as Node;

const nameOf = (node: unknown): string => (isNode(node) && node.type === 'Identifier' ? String(node.value) : '');

/** Names of the asynchronous functions that a script exports. */
const asyncExports = (tree: Node): string[] =>
  [...within(tree)].flatMap(({ node: { type, declaration } }) =>
    type === 'ExportDeclaration' && isNode(declaration) && declaration.async === true ? [nameOf(declaration.identifier)] : [],
  );

/** Names that a script imports. */
const imports = (tree: Node): string[] =>
  [...within(tree)].flatMap(({ node }) => (node.type === 'ImportSpecifier' ? [nameOf(node.local)] : []));

/** Calls of these functions whose promise is used as if it were its result. */
const unawaited = (tree: Node, names: ReadonlySet<string>): string[] =>
  [...within(tree)].flatMap(({ node, parent }) => {
    const name = node.type === 'CallExpression' ? nameOf(node.callee) : '';
    if (!names.has(name) || !parent) return [];
    const isDropped = parent.type === 'ExpressionStatement';
    const isTakenApart = parent.type === 'VariableDeclarator' && isNode(parent.id) && parent.id.type !== 'Identifier';
    const isReadFrom = parent.type === 'MemberExpression' && !['then', 'catch', 'finally'].includes(nameOf(parent.property));
    return isDropped || isTakenApart || isReadFrom ? [name] : [];
  });

describe('scripts', () => {
  it('with a promise used as its result are recognized', () => {
    const calls = 'f(); const { a } = f(1); const b = f().c; await f(); const d = f(); f().then(g); void f(); const { e } = await f();';
    expect(unawaited(treeOf(calls), new Set(['f']))).toEqual(['f', 'f', 'f']);
    expect(asyncExports(treeOf('export async function f() {} export function g() {}'))).toEqual(['f']);
  });

  it('await the asynchronous functions that they import', () => {
    const trees = new Map(scripts.map((name) => [name, treeOf(readFileSync(join(HERE, name), 'utf8'))]));
    const names = new Set([...trees.values()].flatMap(asyncExports));
    expect(names.size).toBeGreaterThan(20);
    const faults = [...trees].flatMap(([name, tree]) =>
      unawaited(tree, new Set(imports(tree).filter((imported) => names.has(imported)))).map((call) => `${name}: ${call}`),
    );
    expect(faults).toEqual([]);
  });

  it('have a short run each, with flags that exist', () => {
    const long = scripts.filter((name) => /^(attacks|faults)\/[^_]/.test(name)).map((name) => name.replace(/\.mjs$/, ''));
    expect([...SHORT.keys()].sort()).toEqual(long.sort());
    const unknown = [...SHORT].flatMap(([name, args]) => {
      const text = readFileSync(join(HERE, `${name}.mjs`), 'utf8');
      return [...args.matchAll(/--([\w-]+)/g)].filter(([, flag]) => !text.includes(String(flag))).map(([flag]) => `${name} ${flag}`);
    });
    expect(unknown).toEqual([]);
  });
});
