/**
 * The form of tables that are written (RFC 4180): lines end with CRLF, and cells with either half of it have quotes. By
 * itself, the library looks only for whole line ends.
 */
export const CSV_FORM = { record_delimiter: 'windows', quoted_match: /[\r\n]/ } as const;
