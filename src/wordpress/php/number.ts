/** Digits of a fraction that PHP writes (`precision`). */
const DIGITS = 14;

/**
 * A number as text, without the noise of binary fractions, as PHP writes it: three times 33.3 is 99.9, which a client
 * sends as 99.89999999999999. Whole numbers keep all of their digits.
 */
export const numberText = (value: number): string => String(Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS)));
