/** By what spreadsheets know a formula: signs of wide letters, tabs and line ends count. */
const SIGNS = '[=+\\-@\\t\\r\\uff1d\\uff0b\\uff0d\\uff20]';
const FORMULA = new RegExp(`^${SIGNS}`);
const KEPT = new RegExp(`^'+${SIGNS}`);

/** Whether a spreadsheet would compute a cell. */
export const isFormula = (text: string): boolean => FORMULA.test(text);

/** Whether a cell begins with an apostrophe that could be taken for the one that keeps it from being computed. */
export const isKeptFormula = (text: string): boolean => KEPT.test(text);

/** A cell without the apostrophe that keeps spreadsheets from computing it, which is no part of its text. */
export const withoutGuard = (cell: string): string => (isKeptFormula(cell) ? cell.slice(1) : cell);
