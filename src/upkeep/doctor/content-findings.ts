import { groupedBy } from '../../grouped-by.ts';
import { textMetasOf } from '../../kinds/core/meta.ts';
import { metasOf } from '../../kinds/custom-fields.ts';
import { CALENDAR_UID, COST } from '../../kinds/events/metas.ts';
import { kinds, postKinds, termKind, termKinds } from '../../kinds/index.ts';
import type { KindName } from '../../kinds/kind-names.ts';
import { languagesOf, languagesOfRecords } from '../../records/record-languages.ts';
import { dropTreeCache } from '../../records/term-writes.ts';
import type { Site } from '../../site.ts';
import {
  brokenValues,
  objectsInMetas,
  postsWithMissingAuthor,
  repairValue,
  termsOfSharedSlugs,
  wrongCounts,
} from '../../storage/audit/audit.ts';
import { languageFaults } from '../../storage/audit/language-audit.ts';
import { ORPHANS } from '../../storage/audit/orphans.ts';
import { ROW_FAULTS } from '../../storage/audit/post-faults.ts';
import { repairSharedSlugs, sharedSlugs } from '../../storage/audit/shared-slugs.ts';
import { untranslatedLinks } from '../../storage/audit/untranslated-links.ts';
import { recount } from '../../storage/rows/term-links.ts';
import { countInLanguage } from '../../storage/translations/site-languages.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import { repairArray } from '../../wordpress/php/serialized-repair.ts';
import { parseZone } from '../../wordpress/zones.ts';
import { type Finding, finding, inRepairTransaction } from './findings.ts';

/** Maximum number of records with the same slug that an example names. */
const MAX_SHARERS = 5;

/** Returns findings about orphaned rows, counts, slugs and authors. */
export async function orphanFindings(site: Site): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, find, fix } of ORPHANS) {
    const { count, examples } = await find(site.db);
    const repair = inRepairTransaction(site, async (db) => {
      await fix(db);
      if (name === 'parents-gone') await dropTreeCache(db, termKind('category'));
    });
    if (count > 0) findings.push({ name, severity: name === 'rows-without-event' ? 'error' : 'warning', count, examples, fix: repair });
  }
  const { contentLanguages } = await site.settings();
  const counts = await wrongCounts(site.db);
  findings.push(
    ...finding(
      'counts-wrong',
      'error',
      counts.map(({ name, count, actual }) => `${name}: ${count} / ${actual}`),
      inRepairTransaction(site, (db) =>
        recount(
          db,
          counts.map(({ termTaxonomyId }) => termTaxonomyId),
        ),
      ),
    ),
    ...finding(
      'slugs-shared',
      'warning',
      (await sharedSlugs(site.db, contentLanguages)).map(
        ({ type, slug, ids }) => `${type} ${slug}: ${ids.slice(0, MAX_SHARERS).join(', ')} (${ids.length})`,
      ),
      inRepairTransaction(site, (db) => repairSharedSlugs(db, contentLanguages)),
    ),
    ...finding('term-slugs-shared', 'warning', await sharedTermSlugs(site)),
    ...finding('authors-gone', 'warning', (await postsWithMissingAuthor(site.db)).map(String)),
  );
  return findings;
}

/** Returns slugs that several terms of one taxonomy have in common, or of one language if terms have languages. */
async function sharedTermSlugs(site: Site): Promise<string[]> {
  const { db } = site;
  const settings = await site.settings();
  const examples: string[] = [];
  for (const kind of termKinds) {
    const terms = await termsOfSharedSlugs(db, kind.taxonomy);
    const kindLanguages = languagesOf({ settings }, kind);
    const ids = terms.map(({ id }) => id);
    const codes = kindLanguages && ids.length > 0 ? await languagesOfRecords(db, kindLanguages, ids) : new Map<number, string | null>();
    for (const [slug, sameSlugTerms] of groupedBy(terms, (term) => term.slug)) {
      const maxCount = Math.max(...[...groupedBy(sameSlugTerms, ({ id }) => codes.get(id)).values()].map(({ length }) => length));
      if (maxCount > 1) examples.push(`${kind.taxonomy} ${slug} (${maxCount})`);
    }
  }
  return examples;
}

/** Returns findings about posts and terms with values that WordPress would not write. */
export async function rowFindings(site: Site): Promise<Finding[]> {
  const { zone, timezoneString } = await site.settings();
  const known = timezoneString === '' || parseZone(timezoneString) ? zone : undefined;
  const findings: Finding[] = [];
  for (const { name, severity, find, fix } of ROW_FAULTS) {
    const repair =
      fix && inRepairTransaction(site, (db) => fix(db, { zone, now: site.clock() }).then(() => dropTreeCache(db, termKind('category'))));
    findings.push(...finding(name, severity, await find(site.db, known), repair));
  }
  return findings;
}

/** Returns findings about wrong languages, and about records without a language, which most lists do not show. */
export async function languageFindings(site: Site): Promise<Finding[]> {
  const settings = await site.settings();
  const { contentLanguages: languages } = settings;
  if (!languages) return [];
  const findings: Finding[] = [];
  for (const { name, severity, find, fix } of languageFaults(languages))
    findings.push(...finding(name, severity, await find(site.db), inRepairTransaction(site, fix)));
  const counts: [KindName, number][] = [];
  for (const kind of kinds) {
    const kindLanguages = languagesOf({ settings }, kind);
    const count = kindLanguages ? await countInLanguage(site.db, languages, kindLanguages.translatable, null) : 0;
    if (count > 0) counts.push([kind.name, count]);
  }
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const examples = counts.map(([kind, count]) => `${kind}: ${count}`);
  return [
    ...findings,
    ...finding('languages-missing', 'warning', examples).map((found) => ({ ...found, count: total, counts })),
    ...finding('links-untranslated', 'note', await untranslatedLinks(site.db, languages)),
  ];
}

/** Metas in which every value is a text. */
const TEXT_METAS: readonly string[] = [
  ...postKinds.flatMap(({ fields }) => Object.values(fields).flatMap(({ place }) => (place.in === 'meta' ? place.key : []))),
  ...postKinds.flatMap(textMetasOf),
  ...Object.values(COST),
  CALENDAR_UID,
  '_wp_attachment_image_alt',
];

/**
 * Returns findings about serialized values: those that cannot be parsed, some of which can be repaired, and texts that
 * WordPress would take for objects.
 */
export async function valueFindings(site: Site): Promise<Finding[]> {
  const { calendar } = await site.settings();
  const textMetas = [...TEXT_METAS, ...calendar.customFields.flatMap(metasOf)];
  const objectNames: string[] = [];
  for await (const { of } of objectsInMetas(site.db, textMetas)) objectNames.push(of);
  const [mendableNames, brokenNames, misreadNames]: [string[], string[], string[]] = [[], [], []];
  for await (const value of brokenValues(site.db)) {
    const names = !value.isUtf8 ? misreadNames : repairArray(value.value) === undefined ? brokenNames : mendableNames;
    names.push(`${value.table} ${value.of}`);
  }
  return [
    ...finding('texts-as-objects', 'error', objectNames, async () => {
      for await (const text of objectsInMetas(site.db, textMetas))
        await inRepairTransaction(site, (db) => repairValue(db, text, storedText(text.value)))();
    }),
    ...finding('values-broken', 'warning', brokenNames),
    ...finding('values-not-in-utf8', 'warning', misreadNames),
    ...finding('values-mendable', 'warning', mendableNames, async () => {
      for await (const value of brokenValues(site.db)) {
        const repairedValue = value.isUtf8 ? repairArray(value.value) : undefined;
        if (repairedValue !== undefined) await inRepairTransaction(site, (db) => repairValue(db, value, repairedValue))();
      }
    }),
  ];
}
