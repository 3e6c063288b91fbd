/** What makes each script of `npm run attacks` and `npm run faults` short, by its folder and name. */
export const SHORT: ReadonlyMap<string, string>;
