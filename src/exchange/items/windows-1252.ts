/** Characters of Windows-1252 from 0x80 on, where Latin-1 has control characters; five positions are unassigned. */
const CHARACTERS_FROM_0X80 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** Returns the text of bytes in Windows-1252, given as one letter for each byte (`Buffer.toString('latin1')`). */
export const decodeWindows1252 = (letters: string): string =>
  letters.replace(/[\x80-\x9f]/g, (letter) => CHARACTERS_FROM_0X80[letter.charCodeAt(0) - 0x80]!);
