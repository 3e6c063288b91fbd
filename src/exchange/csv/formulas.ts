/** Characters that make spreadsheets treat a cell as a formula, including full-width forms, tabs and line breaks. */
const SIGNS = '[=+\\-@\\t\\r\\uff1d\\uff0b\\uff0d\\uff20]';
const FORMULA = new RegExp(`^${SIGNS}`);
const KEPT = new RegExp(`^'+${SIGNS}`);

/** Whether a spreadsheet would evaluate a cell as a formula. */
export const isFormula = (text: string): boolean => FORMULA.test(text);

/** Whether a cell begins with an apostrophe that could be taken for the guard against evaluation. */
export const isKeptFormula = (text: string): boolean => KEPT.test(text);

/** Removes the apostrophe that keeps spreadsheets from evaluating a cell; it is not part of the text. */
export const withoutGuard = (cell: string): string => (isKeptFormula(cell) ? cell.slice(1) : cell);
