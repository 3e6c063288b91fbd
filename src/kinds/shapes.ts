import { z } from 'zod';

/**
 * Published shapes that several kinds share. They become the schemas of `/doc`, and tests check every answer against
 * them. `.meta({ id })` names the schema there.
 */
export const stamp = z.string().meta({ description: 'YYYY-MM-DD HH:MM:SS' });

export const dateDetails = z
  .object({ year: z.string(), month: z.string(), day: z.string(), hour: z.string(), minutes: z.string(), seconds: z.string() })
  .meta({ id: 'DateDetails' });

const imageSize = z
  .object({ width: z.int(), height: z.int(), 'mime-type': z.string().optional(), filesize: z.int().optional(), url: z.url() })
  .meta({ id: 'ImageSize' });

export const image = z
  .object({
    url: z.url(),
    id: z.int(),
    extension: z.string().optional(),
    width: z.int().optional(),
    height: z.int().optional(),
    filesize: z.int().optional(),
    sizes: z.record(z.string(), imageSize).optional(),
  })
  .loose()
  .meta({ id: 'Image' });

export const costDetails = z
  .object({ currency_symbol: z.string(), currency_code: z.string(), currency_position: z.string(), values: z.array(z.string()) })
  .meta({ id: 'CostDetails' });

/** Members of records whose kind has languages on the site; embedded records only have the first one. */
export const languageShape = {
  language: z.string().nullable().optional(),
  translations: z.record(z.string(), z.object({ id: z.int(), url: z.url(), rest_url: z.url() }).meta({ id: 'Translation' })).optional(),
};

const termUrls = z.object({ self: z.string(), collection: z.string(), up: z.string().optional() });

/** A term as embedded in events. */
export const embeddedTerm = z
  .object({
    name: z.string(),
    slug: z.string(),
    term_group: z.int(),
    term_taxonomy_id: z.int(),
    taxonomy: z.string(),
    description: z.string(),
    parent: z.int(),
    count: z.int(),
    filter: z.literal('raw'),
    id: z.int(),
    urls: termUrls,
    language: languageShape.language,
  })
  .meta({ id: 'EmbeddedTerm' });

/** A term as returned by its own routes. */
export const term = z
  .object({
    id: z.int(),
    count: z.int(),
    description: z.string(),
    name: z.string(),
    slug: z.string(),
    taxonomy: z.string(),
    parent: z.int().optional(),
    meta: z.array(z.unknown()),
    url: z.string(),
    urls: termUrls,
    _links: z.record(z.string(), z.unknown()).optional(),
    ...languageShape,
  })
  .meta({ id: 'Term' });

/** The record of a term. */
export type TermRecord = z.output<typeof term>;

export const jsonLd = z.record(z.string(), z.unknown()).meta({ id: 'JsonLd' });

const filledText = z.string().optional();

/** Returns a member for each of these texts (name -> meta); empty ones are left out of the record. */
export const optionalTextShape = <Texts extends object>(texts: Texts) =>
  // The names are those of `texts`, which the compiler does not track through entries.
  Object.fromEntries(Object.keys(texts).map((name) => [name, filledText])) as { readonly [Name in keyof Texts]: typeof filledText };

/** Members of every published post. */
export const postShape = {
  id: z.int(),
  global_id: z.string(),
  global_id_lineage: z.array(z.string()),
  author: z.string(),
  status: z.string(),
  date: stamp,
  date_utc: stamp,
  modified: stamp,
  modified_utc: stamp,
  url: z.string(),
};

/** Members of venues and organizers, without the empty ones. */
export const linkedShape = {
  ...postShape,
  description: z.string().optional(),
  excerpt: z.string().optional(),
  slug: z.string().optional(),
  image: image.optional(),
  phone: z.string().optional(),
  website: z.string().optional(),
  json_ld: jsonLd.optional(),
  ...languageShape,
};
