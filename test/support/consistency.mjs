/**
 * Checks with SQL alone whether a database is consistent: no incomplete records, no wrong counts, no duplicates of
 * unique things.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';

const KINDS = "('tribe_events', 'tribe_venue', 'tribe_organizer')";
const TAXONOMIES = "('tribe_events_cat', 'post_tag')";
const DATE_METAS = ['_EventStartDate', '_EventEndDate', '_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezone'];
const EXAMPLES = 5;

/**
 * Each rule selects rows that must not exist, with columns that describe them. `{posts}` is replaced by the table with
 * the prefix of the site.
 */
const RULES = {
  'events without a date, or with two': `
    SELECT p.ID, k.meta_key, COUNT(m.meta_id) AS n FROM {posts} p
    JOIN (${DATE_METAS.map((key) => `SELECT '${key}' AS meta_key`).join(' UNION ALL ')}) k ON 1 = 1
    LEFT JOIN {postmeta} m ON m.post_id = p.ID AND m.meta_key = k.meta_key
    WHERE p.post_type = 'tribe_events' AND p.post_status <> 'auto-draft' GROUP BY p.ID, k.meta_key HAVING COUNT(m.meta_id) <> 1`,
  'events without one row of the calendar': `
    SELECT p.ID, COUNT(e.event_id) AS n FROM {posts} p LEFT JOIN {tec_events} e ON e.post_id = p.ID
    WHERE p.post_type = 'tribe_events' AND p.post_status <> 'auto-draft' GROUP BY p.ID HAVING COUNT(e.event_id) <> 1`,
  'events without one occurrence': `
    SELECT p.ID, COUNT(o.occurrence_id) AS n FROM {posts} p LEFT JOIN {tec_occurrences} o ON o.post_id = p.ID
    WHERE p.post_type = 'tribe_events' AND p.post_status <> 'auto-draft' GROUP BY p.ID HAVING COUNT(o.occurrence_id) <> 1`,
  'occurrences with other dates than their event': `
    SELECT o.post_id, o.start_date, m.meta_value FROM {tec_occurrences} o JOIN {postmeta} m ON m.post_id = o.post_id AND m.meta_key = '_EventStartDate'
    WHERE m.meta_value <> o.start_date`,
  'rows of the calendar of no event': `
    SELECT o.post_id FROM {tec_occurrences} o LEFT JOIN {posts} p ON p.ID = o.post_id AND p.post_type = 'tribe_events' WHERE p.ID IS NULL`,
  'metas of no post': 'SELECT m.post_id, m.meta_key FROM {postmeta} m LEFT JOIN {posts} p ON p.ID = m.post_id WHERE p.ID IS NULL',
  'terms of no post': 'SELECT r.object_id FROM {term_relationships} r LEFT JOIN {posts} p ON p.ID = r.object_id WHERE p.ID IS NULL',
  'posts with a term that is gone': `
    SELECT r.object_id, r.term_taxonomy_id FROM {term_relationships} r LEFT JOIN {term_taxonomy} t ON t.term_taxonomy_id = r.term_taxonomy_id
    WHERE t.term_id IS NULL`,
  'terms by half': `
    SELECT t.term_id, tt.term_taxonomy_id FROM {terms} t LEFT JOIN {term_taxonomy} tt ON tt.term_id = t.term_id WHERE tt.term_id IS NULL
    UNION ALL SELECT tt.term_id, tt.term_taxonomy_id FROM {term_taxonomy} tt LEFT JOIN {terms} t ON t.term_id = tt.term_id WHERE t.term_id IS NULL`,
  'counts of terms': `
    SELECT tt.term_taxonomy_id, tt.count, COUNT(p.ID) AS real_count FROM {term_taxonomy} tt
    LEFT JOIN {term_relationships} r ON r.term_taxonomy_id = tt.term_taxonomy_id
    LEFT JOIN {posts} p ON p.ID = r.object_id AND p.post_status = 'publish'
    WHERE tt.taxonomy IN ${TAXONOMIES} GROUP BY tt.term_taxonomy_id, tt.count HAVING tt.count <> COUNT(p.ID)`,
  'links to venues, organizers and images that are gone': `
    SELECT m.post_id, m.meta_key, m.meta_value FROM {postmeta} m LEFT JOIN {posts} p ON p.ID = m.meta_value + 0
    WHERE m.meta_key IN ('_EventVenueID', '_EventOrganizerID', '_thumbnail_id') AND p.ID IS NULL`,
  'slugs that two records have': `
    SELECT post_type, post_name, COUNT(*) AS n FROM {posts} WHERE post_type IN ${KINDS} AND post_name <> '' AND post_parent = 0
    GROUP BY post_type, post_name HAVING COUNT(*) > 1`,
  'venues and organizers made twice': `
    SELECT post_type, post_title, COUNT(*) AS n FROM {posts} WHERE post_type IN ('tribe_venue', 'tribe_organizer') AND post_status <> 'trash'
    GROUP BY post_type, post_title HAVING COUNT(*) > 1`,
  'slugs that two terms have': `
    SELECT tt.taxonomy, t.slug, COUNT(*) AS n FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
    GROUP BY tt.taxonomy, t.slug HAVING COUNT(*) > 1`,
  'names that two terms have': `
    SELECT tt.taxonomy, tt.parent, t.name, COUNT(*) AS n FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
    WHERE tt.taxonomy IN ${TAXONOMIES} GROUP BY tt.taxonomy, tt.parent, t.name HAVING COUNT(*) > 1`,
  'published events that no list shows': `
    SELECT p.ID FROM {posts} p LEFT JOIN {fasti_entries} e ON e.post_id = p.ID AND e.facet = 0
    WHERE p.post_type = 'tribe_events' AND p.post_status = 'publish' AND e.post_id IS NULL`,
  'events in lists that are gone': `
    SELECT e.post_id FROM {fasti_entries} e LEFT JOIN {posts} p ON p.ID = e.post_id AND p.post_type = 'tribe_events' WHERE p.ID IS NULL`,
  'categories and tags under which lists do not show their events': `
    SELECT r.object_id, tt.term_id FROM {term_relationships} r JOIN {term_taxonomy} tt ON tt.term_taxonomy_id = r.term_taxonomy_id
    JOIN {posts} p ON p.ID = r.object_id AND p.post_type = 'tribe_events' AND p.post_status = 'publish'
    LEFT JOIN {fasti_entries} e ON e.post_id = r.object_id AND e.facet = tt.term_id * 8 + CASE tt.taxonomy WHEN 'post_tag' THEN 2 ELSE 1 END
    WHERE tt.taxonomy IN ${TAXONOMIES} AND e.post_id IS NULL`,
  'counts of days': `
    SELECT d.facet, d.day, d.n, COUNT(e.post_id) AS real_count FROM {fasti_days} d
    LEFT JOIN {fasti_entries} e ON e.facet = d.facet AND e.status = 1 AND e.hidden = 0 AND e.start_at >= d.day * 1000000 AND e.start_at < (d.day + 1) * 1000000
    WHERE d.day > 0 GROUP BY d.facet, d.day, d.n HAVING d.n <> COUNT(e.post_id)`,
  'counts of months': `
    SELECT facet, SUM(CASE WHEN day < 0 THEN n ELSE -n END) AS uneven FROM {fasti_days} GROUP BY facet HAVING SUM(CASE WHEN day < 0 THEN n ELSE -n END) <> 0`,
  'files of the library by half': `
    SELECT p.ID, COUNT(m.meta_id) AS n FROM {posts} p
    LEFT JOIN {postmeta} m ON m.post_id = p.ID AND m.meta_key IN ('_wp_attached_file', '_wp_attachment_metadata')
    WHERE p.post_type = 'attachment' GROUP BY p.ID HAVING COUNT(m.meta_id) <> 2`,
  'options twice': 'SELECT option_name, COUNT(*) AS n FROM {options} GROUP BY option_name HAVING COUNT(*) > 1',
};

/**
 * Describes every inconsistency, one per line. `ask` runs a statement and returns its rows. `uploads` is the folder of
 * files.
 */
export async function findInconsistencies(ask, { prefix = 'wp_', uploads } = {}) {
  const lines = [];
  for (const [what, sql] of Object.entries(RULES)) {
    const rows = await ask(sql.replace(/\{(\w+)\}/g, (_, table) => `\`${prefix}${table}\``));
    if (rows.length > 0)
      lines.push(
        `${what}: ${rows.length} (${rows
          .slice(0, EXAMPLES)
          .map((row) => JSON.stringify(row))
          .join(' ')})`,
      );
  }
  if (uploads) lines.push(...(await missingFiles(ask, prefix, uploads)));
  return lines;
}

/** Files of attachments and of their sizes that the media library names but that do not exist. */
async function missingFiles(ask, prefix, uploads) {
  const rows = await ask(
    `SELECT f.post_id, f.meta_value AS file, d.meta_value AS data FROM \`${prefix}postmeta\` f
     JOIN \`${prefix}postmeta\` d ON d.post_id = f.post_id AND d.meta_key = '_wp_attachment_metadata' WHERE f.meta_key = '_wp_attached_file'`,
  );
  const missing = [];
  for (const { post_id: id, file, data } of rows) {
    const folder = file.replace(/[^/]*$/, '');
    const sizes = [...data.matchAll(/s:4:"file";s:\d+:"([^"/]+)"/g)].map(([, name]) => folder + name);
    for (const name of [file, ...sizes]) await access(join(uploads, name)).catch(() => missing.push(`${id} ${name}`));
  }
  return missing.length === 0 ? [] : [`files that are gone: ${missing.length} (${missing.slice(0, EXAMPLES).join(', ')})`];
}
