import { z } from 'zod';
import { FetchRefused, fetchPublic } from '../media/safe-fetch.ts';
import type { Site } from '../site.ts';
import { parseJson } from '../wordpress/json.ts';

/*
 * The coordinates of an address, from a service that the operator names (`GEOCODER_URL`).
 */

/** A place that was found; `name`: what the service calls it. */
export interface Place {
  readonly lat: number;
  readonly lng: number;
  readonly name: string;
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 256 * 1024;
/** Members of objects and of lists in an answer. */
const MAX_VALUES = 5000;

/** A number, or one as a text. Nothing at all is no number. */
const degrees = z.union([z.number(), z.string().max(40).regex(/\d/).transform(Number)]);
const latitude = degrees.pipe(z.number().min(-90).max(90));
const longitude = degrees.pipe(z.number().min(-180).max(180));
const PlaceName = z.string().trim().max(1000).catch('');

/** Nominatim: a list of places, the best one first. */
const NominatimAnswer = z
  .array(z.object({ lat: latitude, lon: longitude, display_name: PlaceName }))
  .transform((places): Place[] => places.map(({ lat, lon, display_name: name }) => ({ lat, lng: lon, name })));

/** GeoJSON (RFC 7946, 3.3): features with points, as Photon, Pelias and Nominatim give them. */
const GeoJsonAnswer = z
  .object({
    features: z.array(
      z.object({
        geometry: z.object({ coordinates: z.tuple([longitude, latitude]).rest(z.unknown()) }),
        properties: z.object({ label: PlaceName, display_name: PlaceName, name: PlaceName }).nullish(),
      }),
    ),
  })
  .transform(({ features }): Place[] =>
    features.map(({ geometry: { coordinates }, properties }) => ({
      lat: coordinates[1],
      lng: coordinates[0],
      name: properties?.label || properties?.display_name || properties?.name || '',
    })),
  );

const Answer = z.union([NominatimAnswer, GeoJsonAnswer]);

/**
 * The place that the geocoder of the site takes an address for; undefined: it knows none. `language`: the one that the
 * name of the place is asked for in.
 *
 * @throws FetchRefused where the geocoder gives no answer that can be read
 */
export async function findPlace(
  { config }: Pick<Site, 'config'>,
  geocoder: string,
  { address, language }: { readonly address: string; readonly language: string },
): Promise<Place | undefined> {
  const url = geocoder.replace('{address}', () => encodeURIComponent(address));
  const { bytes } = await fetchPublic(url, {
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    redirects: 0,
    // The operator chose the service, wherever it runs. Services of this kind want to know who asks.
    allowAddress: () => true,
    headers: {
      accept: 'application/json',
      'accept-language': language,
      'user-agent': config.siteUrl === undefined ? 'Fasti' : `Fasti (${config.siteUrl})`,
    },
  });
  const read = parseJson(bytes, MAX_VALUES);
  const answer = Answer.safeParse('value' in read ? read.value : undefined);
  if (!answer.success) throw new FetchRefused('type', answer.error);
  return answer.data[0];
}
