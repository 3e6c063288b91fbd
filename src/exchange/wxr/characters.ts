/** Removes characters that XML 1.0 does not allow. */
export const removeForbiddenCharacters = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '');

/** Returns the encoding in the XML declaration of a document. */
export const declaredEncoding = (head: Buffer): string | undefined =>
  /^(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]{0,100}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head.toString('latin1', 0, 500))?.[1];
