/*
 * Trim functions that never read the middle of a text. A pattern such as `/-+$/` restarts at every hyphen of a run that
 * does not extend to the end, so its time grows with the square of the run. Each of the characters must be one UTF-16
 * unit.
 */

/** Returns the text without any of these characters at its start. */
export const trimStartOf = (text: string, characters: string): string => text.slice(startOf(text, characters));

/** Returns the text without any of these characters at its end. */
export const trimEndOf = (text: string, characters: string): string => text.slice(0, endOf(text, characters, 0));

/** Returns the text without any of these characters at either end. */
export function trimOf(text: string, characters: string): string {
  const start = startOf(text, characters);
  return text.slice(start, endOf(text, characters, start));
}

/** PHP's `trim`. */
export const trimAscii = (text: string): string => trimOf(text, ' \t\n\r\0\v');

function startOf(text: string, characters: string): number {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start += 1;
  return start;
}

function endOf(text: string, characters: string, start: number): number {
  let end = text.length;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return end;
}
