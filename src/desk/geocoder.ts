import { z } from 'zod';
import { FetchRefused, fetchPublic } from '../media/safe-fetch.ts';
import type { Site } from '../site.ts';
import { parseJson } from '../wordpress/json.ts';

/*
 * Coordinates of an address, from a service configured by the operator (`GEOCODER_URL`).
 */

/** A place found by the service; `name`: the service's name for it. */
export interface Place {
  readonly lat: number;
  readonly lng: number;
  readonly name: string;
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 256 * 1024;
/** Maximum number of values in an answer, including members of objects and items of lists. */
const MAX_VALUES = 5000;

/** A number, possibly as a text. An empty text is not a number. */
const degrees = z.union([z.number(), z.string().max(40).regex(/\d/).transform(Number)]);
const latitude = degrees.pipe(z.number().min(-90).max(90));
const longitude = degrees.pipe(z.number().min(-180).max(180));
const PlaceName = z.string().trim().max(1000).catch('');

/** Nominatim: a list of places, the best one first. */
const NominatimAnswer = z
  .array(z.object({ lat: latitude, lon: longitude, display_name: PlaceName }))
  .transform((places): Place[] => places.map(({ lat, lon, display_name: name }) => ({ lat, lng: lon, name })));

/** GeoJSON (RFC 7946, 3.3): features with points, as returned by Photon, Pelias and Nominatim. */
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
 * Returns the place that the site's geocoder finds for an address; undefined if it finds none. `language`: language of
 * the place's name.
 *
 * @throws FetchRefused if the geocoder does not return a valid answer
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
    // The operator chose the service, so it may run at any address. Services of this kind require a user agent.
    allowAddress: () => true,
    headers: {
      accept: 'application/json',
      'accept-language': language,
      'user-agent': config.siteUrl === undefined ? 'Fasti' : `Fasti (${config.siteUrl})`,
    },
  });
  const result = parseJson(bytes, MAX_VALUES);
  const answer = Answer.safeParse('value' in result ? result.value : undefined);
  if (!answer.success) throw new FetchRefused('type', answer.error);
  return answer.data[0];
}
