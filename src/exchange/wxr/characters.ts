/** The text without what is no character of XML 1.0. */
export const withoutForbidden = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '');

/** The encoding that a document states in its declaration. */
export const labelIn = (head: Buffer): string | undefined =>
  /^(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]{0,100}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head.toString('latin1', 0, 500))?.[1];
