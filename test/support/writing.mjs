/**
 * Clients that write to a service and record the acknowledged writes, so that lost ones can be found afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './until.mjs';

export const API = '/wp-json/calendar/events/v1';
/** Timeout after which a request without a response counts as lost. */
const REQUEST_TIMEOUT_MS = 30_000;
const PAUSE_MS = 50;
const IDS = 500;

/** A red dot: the smallest image that the media library accepts. */
const DOT = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');

/**
 * Shared record of the clients of one run. `acknowledged`: events by id, with their expected state. `unknown`: number
 * of requests that were cut off, so that their result is unknown. `statuses`: number of responses per status. `stale`:
 * reads that returned less than the same process had acknowledged.
 */
export function newWriteLog() {
  return { acknowledged: new Map(), uploads: new Map(), unknown: 0, statuses: new Map(), stale: [], wrong: [], last: 0, acks: [] };
}

/**
 * Writes to the service at `base` until `stopped()`: new events with a category, a tag, a venue and an organizer
 * created by name, changes of titles, and images; each is read back immediately. `slow`: milliseconds between two
 * writes; `keep`: maximum number of own records, beyond which the oldest are deleted; `names`: number of names before
 * they repeat.
 */
export async function writeContinuously({
  base,
  authorization,
  record,
  stopped,
  label,
  reads = true,
  slow = 0,
  keep = Number.POSITIVE_INFINITY,
  names = Number.POSITIVE_INFINITY,
}) {
  const mine = [];
  for (let turn = 0; !stopped(); turn += 1) {
    if (record.acknowledged.size > keep) await remove({ base, authorization, record, from: record.acknowledged, path: 'tribe_events' });
    if (record.uploads.size > keep) await remove({ base, authorization, record, from: record.uploads, path: 'media' });
    if (turn % 9 === 8) await upload({ base, authorization, record, names });
    else if (turn % 3 === 2 && mine.length > 0) await rename({ base, authorization, record, id: mine.at(-1), reads, names });
    else {
      const id = await create({ base, authorization, record, label, reads, names });
      if (id !== undefined) mine.push(id);
    }
    if (slow > 0) await sleep(slow);
  }
}

function nextNumber(record, names) {
  record.last += 1;
  return record.last % names;
}

async function create({ base, authorization, record, label, reads, names }) {
  const number = nextNumber(record, names);
  const title = `${label} ${number}`;
  const day = 1 + (number % 28);
  const begun = performance.now();
  const body = await ask(record, base, 'POST', `${API}/events`, authorization, {
    title,
    description: `Written as number ${number}.`,
    start_date: `2031-${String(1 + (number % 12)).padStart(2, '0')}-${String(day).padStart(2, '0')} 18:00:00`,
    end_date: `2031-${String(1 + (number % 12)).padStart(2, '0')}-${String(day).padStart(2, '0')} 20:00:00`,
    categories: [`Category ${number % 7}`],
    tags: [`Tag ${number % 50}`],
    venue: { venue: `Hall ${number % 20}` },
    organizer: { organizer: `Club ${number % 20}` },
  });
  if (body?.status !== 201) return undefined;
  const { id } = body.json;
  record.acknowledged.set(id, { titles: new Set([title]), tag: `Tag ${number % 50}`, venue: `Hall ${number % 20}` });
  record.acks.push({ base, begun, at: performance.now() });
  if (reads) await readBack(record, base, id, title);
  return id;
}

async function rename({ base, authorization, record, id, reads, names }) {
  const title = `Renamed ${nextNumber(record, names)}`;
  const known = record.acknowledged.get(id);
  const before = known.titles;
  // Until the change is acknowledged, the event may have either title.
  known.titles = new Set([...before, title]);
  const begun = performance.now();
  const body = await ask(record, base, 'PATCH', `${API}/events/${id}`, authorization, { title });
  if (body?.status === 200) {
    known.titles = new Set([title]);
    record.acks.push({ base, begun, at: performance.now() });
    if (reads) await readBack(record, base, id, title);
  } else if (body?.refused) known.titles = before;
}

/** Permanently deletes the oldest of these records. */
async function remove({ base, authorization, record, from, path }) {
  const [id] = from.keys();
  const answer = await ask(record, base, 'DELETE', `/wp-json/wp/v2/${path}/${id}?force=true`, authorization);
  if (answer?.status === 200) from.delete(id);
}

async function upload({ base, authorization, record, names }) {
  const number = nextNumber(record, names);
  const begun = performance.now();
  const answer = await ask(record, base, 'POST', '/wp-json/wp/v2/media', authorization, DOT, {
    'Content-Type': 'image/png',
    'Content-Disposition': `attachment; filename="dot-${number}.png"`,
  });
  if (answer?.status !== 201) return;
  record.uploads.set(answer.json.id, answer.json.source_url);
  record.acks.push({ base, begun, at: performance.now() });
}

/** Checks that the process shows an acknowledged write to anonymous callers as soon as it responds. */
async function readBack(record, base, id, title) {
  const answer = await until(`an answer other than 503 about event ${id}`, async () => {
    const got = await ask(record, base, 'GET', `${API}/events/${id}`);
    return got?.status === 503 ? undefined : { ...got };
  });
  if (answer.status === undefined) return;
  if (answer.status !== 200 || answer.json.title !== title)
    record.stale.push(`${base} ${id}: ${answer.status} ${answer.json.title} instead of ${title}`);
}

/**
 * Resolves with `{status, json, refused}`, where `refused` means that certainly nothing was written, or with undefined
 * if there was no response. Any status other than success and 503 is recorded as wrong.
 */
async function ask(record, base, method, path, authorization, body, headers = {}) {
  const isJson = body !== undefined && !Buffer.isBuffer(body);
  let answer;
  try {
    const response = await fetch(base + path, {
      method,
      headers: { ...(authorization ? { authorization } : {}), ...(isJson ? { 'Content-Type': 'application/json' } : {}), ...headers },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    answer = { status: response.status, json: await response.json() };
  } catch (error) {
    const broken = error.name === 'TimeoutError' ? 'no answer' : 'broken off';
    record.statuses.set(broken, (record.statuses.get(broken) ?? 0) + 1);
    if (method !== 'GET') record.unknown += 1;
    if (error.name === 'TimeoutError') record.wrong.push(`${method} ${path}: no answer within ${REQUEST_TIMEOUT_MS} ms`);
    await sleep(PAUSE_MS);
    return undefined;
  }
  const { status, json } = answer;
  record.statuses.set(status, (record.statuses.get(status) ?? 0) + 1);
  const uncertain = json.code === 'rest_write_uncertain';
  if (uncertain) record.unknown += 1;
  if (status >= 300 && status !== 503) record.wrong.push(`${method} ${path}: ${status} ${JSON.stringify(json).slice(0, 200)}`);
  if (status === 503) await sleep(PAUSE_MS);
  return { ...answer, refused: status >= 400 && !uncertain };
}

/** Describes acknowledged writes that are missing, one per line. `sql` runs a statement and returns its rows. */
export async function findLostWrites(sql, { acknowledged, uploads }, prefix = 'wp_') {
  const lost = [];
  const ids = [...acknowledged.keys()];
  for (let first = 0; first < ids.length; first += IDS) {
    const some = ids.slice(first, first + IDS).join();
    const posts = byId(await sql(`SELECT ID AS id, post_title, post_status FROM \`${prefix}posts\` WHERE ID IN (${some})`));
    const tags = byId(
      await sql(
        `SELECT r.object_id AS id, t.name FROM \`${prefix}term_relationships\` r
         JOIN \`${prefix}term_taxonomy\` tt ON tt.term_taxonomy_id = r.term_taxonomy_id AND tt.taxonomy = 'post_tag'
         JOIN \`${prefix}terms\` t ON t.term_id = tt.term_id WHERE r.object_id IN (${some})`,
      ),
    );
    const venues = byId(
      await sql(
        `SELECT m.post_id AS id, p.post_title FROM \`${prefix}postmeta\` m JOIN \`${prefix}posts\` p ON p.ID = m.meta_value + 0
         WHERE m.meta_key = '_EventVenueID' AND m.post_id IN (${some})`,
      ),
    );
    for (const id of ids.slice(first, first + IDS)) {
      const { titles, tag, venue } = acknowledged.get(id);
      const post = posts.get(id);
      if (!post) lost.push(`event ${id}, ${[...titles].join(' or ')}`);
      else if (!titles.has(post.post_title)) lost.push(`event ${id} is ${post.post_title} instead of ${[...titles].join(' or ')}`);
      else if (tags.get(id)?.name !== tag) lost.push(`tag ${tag} of event ${id}`);
      else if (venues.get(id)?.post_title !== venue) lost.push(`venue ${venue} of event ${id}`);
    }
  }
  const files = [...uploads.keys()];
  for (let first = 0; first < files.length; first += IDS) {
    const some = files.slice(first, first + IDS);
    const there = byId(await sql(`SELECT ID AS id FROM \`${prefix}posts\` WHERE post_type = 'attachment' AND ID IN (${some.join()})`));
    lost.push(...some.filter((id) => !there.has(id)).map((id) => `picture ${id}`));
  }
  return lost;
}

const byId = (rows) => new Map(rows.map((row) => [Number(row.id), row]));
