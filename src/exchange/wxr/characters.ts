/** The text without what is no character of XML 1.0. */
export const withoutForbidden = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '');
