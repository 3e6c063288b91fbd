import { Parser } from 'htmlparser2';

/** A parsed HTML page for tests. */
export interface ReadPage {
  /** Faults of its structure: mismatched tags, duplicate ids, dangling references. */
  readonly faults: readonly string[];
  /** Every element, with its attributes, in the order of their start. */
  readonly elements: readonly Element[];
  /** Its text, without that of scripts, on one line. */
  readonly text: string;
  /** URLs of links and of everything that a browser would load. */
  readonly links: readonly string[];
}

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

const VOID_ELEMENTS = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
/** Elements that must not be nested in the given element. */
const FORBIDDEN_DESCENDANTS: ReadonlyMap<string, RegExp> = new Map([
  ['a', /^(a|button)$/],
  ['p', /^p$/],
  ['button', /^(a|button)$/],
  ['form', /^form$/],
]);

/** Parses a page strictly: errors that browsers would repair are faults. */
export function readPage(html: string): ReadPage {
  const faults: string[] = [];
  const elements: Element[] = [];
  const openElements: Element[] = [];
  const texts: string[] = [];
  const parser = new Parser(
    {
      onopentag: (name, attributes, isImplied) => {
        if (isImplied) faults.push(`<${name}> is implied`);
        if (openElements.some((outer) => FORBIDDEN_DESCENDANTS.get(outer.name)?.test(name)))
          faults.push(`<${name}> in ${openElements.map((outer) => outer.name).join('>')}`);
        const element = { name, attributes, text: '' };
        elements.push(element);
        openElements.push(element);
      },
      ontext: (text) => {
        for (const element of openElements) element.text += text;
        if (!['script', 'style'].includes(openElements.at(-1)?.name ?? '')) texts.push(text);
      },
      onclosetag: (name, isImplied) => {
        const closedElement = openElements.pop();
        if (closedElement?.name !== name) faults.push(`</${name}> closes <${closedElement?.name}>`);
        if (isImplied && !VOID_ELEMENTS.has(name)) faults.push(`<${name}> is not closed`);
      },
    },
    { recognizeSelfClosing: false },
  );
  parser.end(html);
  if (!/^<!doctype html>/i.test(html)) faults.push('no document type');
  const ids = elements.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id]));
  faults.push(...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two of id ${id}`));
  for (const { name, attributes } of elements) {
    const referencedIds = [
      attributes.for,
      attributes['aria-labelledby'],
      attributes['aria-describedby'],
      /^#(.+)/.exec(attributes.href ?? '')?.[1],
    ];
    for (const id of referencedIds.flatMap((list) => list?.split(' ') ?? []))
      if (!ids.includes(id)) faults.push(`<${name}> names ${id}, which is not there`);
    if (name === 'img' && attributes.alt === undefined) faults.push('<img> without text');
  }
  const countOf = (name: string) => elements.filter((element) => element.name === name).length;
  for (const name of ['html', 'head', 'title', 'body', 'main', 'h1']) if (countOf(name) !== 1) faults.push(`${countOf(name)} of <${name}>`);
  return {
    faults,
    elements,
    text: texts.join(' ').replace(/\s+/g, ' '),
    links: elements.flatMap(({ name, attributes }) => (name === 'a' || name === 'link' ? [attributes.href ?? ''] : [])),
  };
}

/** Elements and attributes that could run a script or send input to another site. */
export function findDangers({ elements }: ReadPage): string[] {
  return elements.flatMap(({ name, attributes }) => {
    const report = (what: string) => [`<${name} ${what}>`];
    const isData = name === 'script' && attributes.type === 'application/ld+json';
    const isOwnScript = name === 'script' && /^\/_fasti\/[\w.-]+$/.test(attributes.src ?? '');
    if (name === 'script' && !isData && !isOwnScript) return report('script');
    if (/^(iframe|object|embed|base|svg|math|style|frame|applet|template|noscript)$/.test(name)) return report('element');
    if (name === 'form' && attributes.action !== undefined && !attributes.action.startsWith('/')) return report(attributes.action);
    return Object.entries(attributes).flatMap(([attribute, value]) => {
      if (/^on/i.test(attribute) || attribute === 'srcdoc' || attribute === 'formaction' || attribute === 'http-equiv')
        return report(attribute);
      const runs = /^(href|src|action|poster|cite|data|background|longdesc)$/.test(attribute) && !isHarmless(value);
      return runs ? report(`${attribute}=${value}`) : [];
    });
  });
}

/** Whether a browser runs no script when it follows this URL. */
function isHarmless(address: string): boolean {
  if (!URL.canParse(address, 'https://page.invalid/')) return true;
  return /^(https?|mailto|tel|webcal):$/.test(new URL(address, 'https://page.invalid/').protocol);
}
