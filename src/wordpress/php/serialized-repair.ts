import { looksSerialized, withMembers } from './serialized.ts';

/**
 * Returns whether a stored text is a serialized array that PHP cannot read: truncated, or with wrong text lengths, as
 * after a search and replace in the database. Arrays with objects or references are not considered, since they belong
 * to plugins that may repair them.
 */
export function isBrokenArray(text: string): boolean {
  if (!/^a:\d+:\{/.test(text) || /[;{][RrOC]:\d/.test(text)) return false;
  return !looksSerialized(text) || withMembers(text, {}) === undefined;
}

/** Returns the array with corrected text lengths; undefined if that does not repair it. */
export function repairArray(text: string): string | undefined {
  const heads = /s:\d+:"/g;
  const ends = /";(?=[sabidN][:;]|\}|$)/g;
  let repaired = '';
  let position = 0;
  for (let head = heads.exec(text); head !== null; head = heads.exec(text)) {
    ends.lastIndex = heads.lastIndex;
    const end = ends.exec(text);
    if (end === null) break;
    const value = text.slice(heads.lastIndex, end.index);
    repaired += `${text.slice(position, head.index)}s:${Buffer.byteLength(value)}:"${value}";`;
    position = ends.lastIndex;
    heads.lastIndex = position;
  }
  repaired += text.slice(position);
  return isBrokenArray(repaired) ? undefined : repaired;
}
