/** Number of significant digits that PHP writes (`precision`). */
const SIGNIFICANT_DIGITS = 14;

/**
 * Formats a number as PHP does, without the noise of binary fractions: a client that computes three times 33.3 sends
 * 99.89999999999999, which is stored as 99.9. Integers keep all of their digits.
 */
export const numberText = (value: number): string =>
  String(Number.isInteger(value) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS)));
