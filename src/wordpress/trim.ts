/*
 * Trims that never look at the middle of a text. A pattern such as `/-+$/` is tried again from every hyphen of a run
 * that does not reach the end, so its cost grows with the square of the run. The characters are one UTF-16 unit each.
 */

/** The text without any of these characters at its start. */
export const trimStartOf = (text: string, characters: string): string => text.slice(startOf(text, characters));

/** The text without any of these characters at its end. */
export const trimEndOf = (text: string, characters: string): string => text.slice(0, endOf(text, characters, 0));

/** The text without any of these characters at either end. */
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
