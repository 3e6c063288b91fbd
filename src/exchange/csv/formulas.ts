/** Characters that make spreadsheets treat a cell as a formula, including full-width forms, tabs and line breaks. */
const FORMULA_START = '[=+\\-@\\t\\r\\uff1d\\uff0b\\uff0d\\uff20]';
const FORMULA = new RegExp(`^${FORMULA_START}`);
const GUARDED_FORMULA = new RegExp(`^'+${FORMULA_START}`);

/** Whether a spreadsheet would evaluate a cell as a formula. */
export const isFormula = (text: string): boolean => FORMULA.test(text);

/** Whether a cell begins with an apostrophe that could be taken for the guard against evaluation. */
export const looksGuarded = (text: string): boolean => GUARDED_FORMULA.test(text);

/** Removes the apostrophe that keeps spreadsheets from evaluating a cell; it is not part of the text. */
export const removeGuard = (cell: string): string => (looksGuarded(cell) ? cell.slice(1) : cell);
