/** A new event with everything that most have. */
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
 * What is measured, as data. A further request is one more row of `scenarios`, a further way of running the service one
 * more row of `services`.
 *
 * Paths count from the namespace. What stands in braces is filled in from the site that is measured (`findWords` in
 * site.mjs), `[<id>]` in a body by something else for each request. `unchanged`: the request names the answer it has,
 * and is told that it still holds. `clients`: how many connections ask at the same time, if not as many as usual.
 * `services`: only these; absent: all. `batch`: so many of these writes in one request, with a number behind each
 * title.
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
 * Ways of running the service: settings of the environment beside those that every run needs. All of them run at the
 * same time, on one database.
 */
export const services = [
  { name: 'without cache', env: { LOG_LEVEL: 'warn', CACHE: 'off' } },
  { name: 'from memory', env: { LOG_LEVEL: 'warn', CACHE: 'on' } },
];
