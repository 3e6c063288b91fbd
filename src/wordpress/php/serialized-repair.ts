import { looksSerialized, withMembers } from './serialized.ts';

/**
 * Whether a stored text is a serialized array that PHP can't read: cut off, or with lengths that are not those of its
 * texts, as after a search and replace over the whole database. Arrays with objects or references are left to their
 * owners.
 */
export function isBrokenArray(text: string): boolean {
  if (!/^a:\d+:\{/.test(text) || /[;{][RrOC]:\d/.test(text)) return false;
  return !looksSerialized(text) || withMembers(text, {}) === undefined;
}

/** The same array with the lengths of its texts put right; undefined where that alone does not mend it. */
export function mendedArray(text: string): string | undefined {
  const heads = /s:\d+:"/g;
  const ends = /";(?=[sabidN][:;]|\}|$)/g;
  let mended = '';
  let done = 0;
  for (let head = heads.exec(text); head !== null; head = heads.exec(text)) {
    ends.lastIndex = heads.lastIndex;
    const end = ends.exec(text);
    if (end === null) break;
    const value = text.slice(heads.lastIndex, end.index);
    mended += `${text.slice(done, head.index)}s:${Buffer.byteLength(value)}:"${value}";`;
    done = ends.lastIndex;
    heads.lastIndex = done;
  }
  mended += text.slice(done);
  return isBrokenArray(mended) ? undefined : mended;
}
