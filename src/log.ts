import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** Members that never reach the log, wherever an entry or an error carries them. */
const SECRETS = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-wp-nonce',
  'password',
  'post_password',
  'user_pass',
  'application_password',
  'databaseUrl',
  'databaseReadUrl',
];
const PLACES = ['', '*.', 'req.headers.', 'res.headers.'];

/**
 * The log: a line of JSON for each entry on standard output, readable lines on a terminal. Under a test runner it is silent unless
 * it is given a `stream` to write to.
 */
export function createLog({ logLevel }: { readonly logLevel: string }, stream?: DestinationStream): Log {
  const quiet = stream === undefined && process.env.NODE_ENV === 'test';
  const options = { level: quiet ? 'silent' : logLevel, redact: { paths: secretPaths(), censor: '[hidden]' }, base: { pid: process.pid } };
  if (stream) return pino(options, stream);
  return pino(quiet || !process.stdout.isTTY ? options : { ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid' } } });
}

/** An address as it may stand in the log: passwords of protected records and nonces in its query are blotted out. */
export function loggedUrl(url: string): string {
  return url.replace(/([?&](?:password|_wpnonce)=)[^&#]*/gi, '$1[hidden]');
}

function secretPaths(): string[] {
  return PLACES.flatMap((place) =>
    SECRETS.map((name) => (/^\w+$/.test(name) ? `${place}${name}` : `${place.replace(/\.$/, '')}["${name}"]`)),
  );
}
