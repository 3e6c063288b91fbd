import type { Session } from './session.ts';

const CLEAR_LINE = '\r\u001b[K';
/** Minimum time between two updates. */
const UPDATE_INTERVAL_MS = 200;

/**
 * Shows the progress of a long task on standard error if it is a terminal: the rate per second and the remaining time.
 * Returns a function to be called with the number of completed steps.
 */
export function showRate({ io, say }: Session, label: string, total: number): (steps: number) => void {
  if (!showsLines(io)) return () => undefined;
  const startTime = performance.now();
  let lastUpdate = 0;
  return (steps) => {
    const now = performance.now();
    if (now - lastUpdate < UPDATE_INTERVAL_MS && steps < total) return;
    lastUpdate = now;
    const perSecond = (steps / Math.max(1, now - startTime)) * 1000;
    const remainingSeconds = perSecond > 0 ? (total - steps) / perSecond : 0;
    showLine(
      { io },
      say('exchange:import.rate', { what: label, done: steps, total, rate: Math.round(perSecond), left: formatDuration(remainingSeconds) }),
    );
  };
}

const showsLines = ({ isTerminal, isErrorTerminal = isTerminal }: Session['io']): boolean => isErrorTerminal;

/** Replaces the last line on standard error if it is a terminal. */
export const showLine = ({ io }: Pick<Session, 'io'>, text: string): void => {
  if (showsLines(io)) io.err(`${CLEAR_LINE}${text}`);
};

/** Clears the line. */
export const clearLine = (session: Pick<Session, 'io'>): void => showLine(session, '');

/** Formats seconds as `M:SS` or `H:MM:SS`. */
function formatDuration(seconds: number): string {
  const totalSeconds = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(totalSeconds / 3600), Math.floor(totalSeconds / 60) % 60, totalSeconds % 60];
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`;
}
