/**
 * A client that keeps a copy of the calendar through `/changes` while the calendar is being written. In the end the
 * copy must equal the calendar.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { API } from './writing.mjs';

const TIMEOUT_MS = 30_000;
const PAUSE_MS = 100;

/**
 * Follows the services at these URLs in turn until `stopped()`, and then until there are no more changes. Resolves with
 * `{copy, expired, wrong}`: records by kind and id, the number of restarts, and unexpected responses.
 */
export async function followChanges({ bases, stopped }) {
  const following = { copy: new Map(), expired: 0, wrong: [] };
  let token = '';
  let turn = 0;
  const once = async () => {
    const base = bases[turn % bases.length];
    turn += 1;
    const answer = await ask(`${base}${API}/changes?include=records${token === '' ? '' : `&since=${token}`}`);
    if (answer?.status === 410) {
      following.expired += 1;
      following.copy.clear();
      token = '';
    } else if (answer?.status === 200) {
      token = answer.json.next;
      for (const change of answer.json.changes) applyChange(following.copy, change);
      return answer.json.more;
    } else if (answer !== undefined && answer.status !== 503)
      following.wrong.push(`${answer.status} ${JSON.stringify(answer.json).slice(0, 200)}`);
    return true;
  };
  while (!stopped()) {
    await once();
    await sleep(PAUSE_MS);
  }
  // Ends once every service has reported that it has no more changes.
  for (let quiet = 0; quiet < bases.length; quiet += 1) if (await once()) quiet = -1;
  return following;
}

/** The copy of a client that starts now. */
export async function readFullCopy(base) {
  let rounds = 0;
  const { copy } = await followChanges({ bases: [base], stopped: () => rounds++ > 0 });
  return copy;
}

/** Describes the differences between a copy and the expected one, one per line. */
export function differencesIn(copy, due) {
  const names = new Set([...copy.keys(), ...due.keys()]);
  return [...names].flatMap((name) => {
    if (!copy.has(name)) return [`${name} is missing`];
    if (!due.has(name)) return [`${name} is there and should not be`];
    return copy.get(name) === due.get(name) ? [] : [`${name} is ${copy.get(name)} instead of ${due.get(name)}`];
  });
}

function applyChange(copy, { kind, id, change, record }) {
  const name = `${kind} ${id}`;
  if (change === 'removed') copy.delete(name);
  else copy.set(name, titleIn(record));
}

/** The title or name of a record; the clients here change only titles. */
const titleIn = ({ title, venue, organizer, name }) => title ?? venue ?? organizer ?? name;

async function ask(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, json: await response.json() };
  } catch {
    await sleep(PAUSE_MS);
    return undefined;
  }
}
