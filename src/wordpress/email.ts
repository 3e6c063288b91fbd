const EMAIL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
/** A hyphen at the start or end of a part of the domain, which is not allowed. */
const LOOSE_HYPHEN = /[@.]-|-(?:\.|$)/;

/** Returns whether a text is an e-mail address by WordPress's rules (`is_email`). */
export const isEmail = (text: string): boolean =>
  text.length >= 6 && EMAIL.test(text) && !LOOSE_HYPHEN.test(text.slice(text.lastIndexOf('@')));
