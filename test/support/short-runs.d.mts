/** Arguments that make each script of attacks and faults short, by its folder and name. */
export const SHORT: ReadonlyMap<string, string>;
