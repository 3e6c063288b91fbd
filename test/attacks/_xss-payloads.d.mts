/** A way to bring a script into a page: `text` returns the text to write for the script. */
export const PAYLOADS: readonly { readonly name: string; readonly text: (js: string) => string }[];
