import type { JSX } from 'preact';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { FetchRefused } from '../media/safe-fetch.ts';
import { findPlace } from './geocoder.ts';
import type { Notice } from './layout.tsx';
import type { Submission, Visit } from './visit.ts';

/*
 * The button in the form of a venue that fills in its coordinates from its address, if the site has a geocoder
 * (`GEOCODER_URL`). It submits the form, which is returned with the coordinates: the venue is not saved, and no script
 * is needed.
 */

/** Name of the button's form field. */
export const LOCATE_FIELD = 'locate';

/** Returns the geocoder for forms of this kind; undefined if there is none. */
export const geocoderFor = ({ site }: Visit, { fields }: Pick<PostKind, 'fields'>): string | undefined =>
  'geo_lat' in fields ? site.config.geocoderUrl : undefined;

/** The button that looks up the coordinates of an address. */
export function LocateButton({ visit }: { readonly visit: Visit }): JSX.Element {
  const { say } = visit.i18n;
  return (
    <div class="field">
      <button type="submit" name={LOCATE_FIELD} value="1" formNoValidate>
        {say('desk:locate.button')}
      </button>
      <p class="hint">{say('desk:locate.about')}</p>
    </div>
  );
}

/** Fields of an address, in the order in which it is written. */
const ADDRESS_FIELDS = ['address', 'zip', 'city', 'province', 'state', 'country'];

/** Returns the address of a venue in one line, from its fields. */
export function addressLine(values: Values): string {
  const parts = ADDRESS_FIELDS.map((name) => values[name]).filter((text): text is string => typeof text === 'string' && text.trim() !== '');
  return [...new Set(parts.map((text) => text.trim()))].join(', ');
}

/** The values for the fields of the coordinates, and the message of the form. */
interface LocateResult {
  readonly notice: Notice;
  readonly coordinates: Values;
}

/** Looks up the address in a form. */
export async function locate({ site, i18n }: Submission, geocoder: string, input: Values): Promise<LocateResult> {
  const { say, language } = i18n;
  const failure = (name: string): LocateResult => ({ notice: { tone: 'wrong', text: say(`desk:locate.${name}`) }, coordinates: {} });
  const address = addressLine(input);
  if (address === '') return failure('no-address');
  try {
    const place = await findPlace(site, geocoder, { address, language });
    if (!place) return failure('not-found');
    const { lat, lng, name } = place;
    const notice = { tone: 'good', text: say('desk:locate.found', { place: name || address }) } as const;
    return { notice, coordinates: { geo_lat: formatDegrees(lat), geo_lng: formatDegrees(lng) } };
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    site.log.warn({ err: error }, 'the geocoding service did not answer');
    return failure('no-answer');
  }
}

/** Formats a coordinate with a precision of 0.1 metres, without an exponent. */
const formatDegrees = (value: number): string => String(Number(value.toFixed(6)));
