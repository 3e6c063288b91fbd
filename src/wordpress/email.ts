const EMAIL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;

/** Whether a text is an e-mail address as WordPress has it (`is_email`). */
export const isEmail = (text: string): boolean => EMAIL.test(text);
