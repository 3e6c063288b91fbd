import type { Session } from './session.ts';

const CLEAR_LINE = '\r\u001b[K';
/** Minimum time between two updates. */
const UPDATE_INTERVAL_MS = 200;

/**
 * Shows the progress of a long task on standard error if it is a terminal: the rate per second and the remaining time.
 * Returns a function to be called with the number of completed steps.
 */
export function showRate({ io, say }: Session, what: string, total: number): (done: number) => void {
  if (!io.isTerminal) return () => undefined;
  const begun = performance.now();
  let shown = 0;
  return (done) => {
    const now = performance.now();
    if (now - shown < UPDATE_INTERVAL_MS && done < total) return;
    shown = now;
    const perSecond = (done / Math.max(1, now - begun)) * 1000;
    const left = perSecond > 0 ? (total - done) / perSecond : 0;
    showLine({ io }, say('exchange:import.rate', { what, done, total, rate: Math.round(perSecond), left: formatDuration(left) }));
  };
}

/** Replaces the last line on standard error if it is a terminal. */
export const showLine = ({ io }: Pick<Session, 'io'>, text: string): void => {
  if (io.isTerminal) io.err(`${CLEAR_LINE}${text}`);
};

/** Clears the line. */
export const clearLine = (session: Pick<Session, 'io'>): void => showLine(session, '');

/** Formats seconds as `M:SS` or `H:MM:SS`. */
function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
