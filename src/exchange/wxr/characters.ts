/** Removes characters that XML 1.0 does not allow. */
export const removeForbiddenCharacters = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '');
