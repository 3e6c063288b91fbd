/** A text that is a decimal number, as a pattern that JavaScript and MySQL understand. */
export const DECIMAL_NUMBER = '^[ ]*[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?[ ]*$';

const PATTERN = new RegExp(DECIMAL_NUMBER);

/** Whether a text is a decimal number. */
export const isDecimalNumber = (text: string): boolean => PATTERN.test(text);
