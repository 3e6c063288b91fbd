/** A new event with the fields that most events have. */
const create = {
  method: 'POST',
  path: '/events',
  as: 'administrator',
  body: {
    title: 'Reading [<id>]',
    description: 'An evening with a book.',
    start_date: '{in a month} 18:00:00',
    end_date: '{in a month} 20:00:00',
    venue: '{venue}',
    organizer: '{organizer}',
    categories: ['{category}', '{second category}'],
    image: '{image}',
  },
  status: 201,
  services: ['from memory'],
};

/**
 * The measured requests, as data. To measure another request, add a row to `scenarios`; to run the service in another
 * way, add a row to `services`.
 *
 * Paths are relative to the namespace. Names in braces are replaced by values from the measured site (`findWords` in
 * site.mjs), and `[<id>]` in a body by a different value for each request. `unchanged`: the request is conditional and
 * is answered with 304. `clients`: number of simultaneous connections, if not the usual one. `services`: only these
 * services; absent: all. `batch`: number of such writes in one request, with a number appended to each title.
 */
export const scenarios = [
  { name: 'default list', path: '/events' },
  { name: 'filtered list', path: '/events?categories={category}&start_date={today}&end_date={in a month}' },
  { name: 'one event', path: '/events/{event}' },
  { name: 'venues', path: '/venues' },
  { name: 'categories', path: '/categories' },
  { name: 'unchanged default list', path: '/events', unchanged: true, status: 304, services: ['from memory'] },
  ...[1, 16].map((clients) => ({
    name: `create, ${clients === 1 ? 'one client' : `${clients} clients`}`,
    clients,
    ...create,
  })),
  { name: 'create, batches of 100', ...create, clients: 1, batch: 100, status: 207 },
];

/**
 * Ways of running the service: environment variables in addition to those of every run. All services run at the same
 * time, on one database.
 */
export const services = [
  { name: 'without cache', env: { LOG_LEVEL: 'warn', CACHE: 'off' } },
  { name: 'from memory', env: { LOG_LEVEL: 'warn', CACHE: 'on' } },
];
