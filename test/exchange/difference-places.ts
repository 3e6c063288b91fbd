/** A difference as reported by `fasti verify --format=json`. */
export interface ReportedDifference {
  readonly request: string;
  readonly record?: string;
  readonly member?: string;
  readonly path?: string;
}

/**
 * Returns the places of a difference, from the most specific to the most general: `events/73` (the record exists or
 * not), `events/73.title`, `events.title`, or in a list `events?search=x $.total`. Members of an embedded record count
 * for that record, whichever it is: `venues/*.city`, `venues.city`.
 */
export function placesOf({ request, record, member = '', path = '' }: ReportedDifference): readonly string[] {
  if (record === undefined) return [`${request} ${path}`];
  const [kind] = record.split('/');
  const name = member.replace(/\[\d+\]/g, '').replace(/_details\..*$/, '_details');
  if (name === '' && !/^[^?]*\//.test(request)) return [`${request} ${record}`];
  if (name === '' || name === 'status') return [record];
  for (const [begin, other, rest] of EMBEDDED) {
    if (name.startsWith(begin)) return [`${other}/*.${rest}${name.slice(begin.length)}`, `${other}.${rest}${name.slice(begin.length)}`];
  }
  return [`${record}.${name}`, `${kind}/*.${name}`, `${kind}.${name}`];
}

const EMBEDDED = [
  ['venue.', 'venues', ''],
  ['organizer.', 'organizers', ''],
  ['categories.', 'categories', ''],
  ['tags.', 'tags', ''],
  ['json_ld.location.', 'venues', 'json_ld.'],
  ['json_ld.organizer.', 'organizers', 'json_ld.'],
] as const;

/** Returns differences that no loss explains and losses that cause no difference. Both are expected to be empty. */
export function compared(findings: readonly ReportedDifference[], losses: readonly string[]): { unexplained: string[]; unseen: string[] } {
  const seen = new Set<string>();
  const unexplained = findings.filter((finding) => {
    const places = placesOf(finding);
    const explained = losses.filter((loss) => places.includes(loss) || places.includes(loss.replace(/\/\d+\./, '/*.')));
    const own = explained.filter((loss) => loss === places[0]);
    for (const loss of own.length > 0 ? own : explained) seen.add(loss);
    return explained.length === 0;
  });
  return {
    unexplained: [...new Set(unexplained.map((finding) => placesOf(finding)[0]!))].sort(),
    unseen: losses.filter((loss) => !seen.has(loss)),
  };
}
