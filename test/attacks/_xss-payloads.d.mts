/** A way to bring a script into a page: `text` gives what is to be written, by the script's text. */
export const PAYLOADS: readonly { readonly name: string; readonly text: (js: string) => string }[];
