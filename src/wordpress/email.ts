const EMAIL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
/** No part of a domain begins or ends with a hyphen. */
const LOOSE_HYPHEN = /[@.]-|-(?:\.|$)/;

/** Whether a text is an e-mail address as WordPress has it (`is_email`). */
export const isEmail = (text: string): boolean =>
  text.length >= 6 && EMAIL.test(text) && !LOOSE_HYPHEN.test(text.slice(text.lastIndexOf('@')));
