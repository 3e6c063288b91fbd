import type { Session } from './session.ts';

const CLEAR = '\r\u001b[K';
/** Between two lines. */
const PAUSE_MS = 200;

/**
 * Shows on standard error, while somebody watches, how far a long work is: how much in a second, and how much time is
 * left. Returns a function to be called with how much is done.
 */
export function showRate({ io, say }: Session, what: string, total: number): (done: number) => void {
  if (!io.terminal) return () => undefined;
  const begun = performance.now();
  let shown = 0;
  return (done) => {
    const now = performance.now();
    if (now - shown < PAUSE_MS && done < total) return;
    shown = now;
    const perSecond = (done / Math.max(1, now - begun)) * 1000;
    const left = perSecond > 0 ? (total - done) / perSecond : 0;
    showLine({ io }, say('exchange:import.rate', { what, done, total, rate: Math.round(perSecond), left: clock(left) }));
  };
}

/** Shows a line on standard error in the place of the one before, while somebody watches. */
export const showLine = ({ io }: Pick<Session, 'io'>, text: string): void => {
  if (io.terminal) io.err(`${CLEAR}${text}`);
};

/** Takes the line away. */
export const clearLine = (session: Pick<Session, 'io'>): void => showLine(session, '');

/** Seconds as `M:SS` or `H:MM:SS`. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
