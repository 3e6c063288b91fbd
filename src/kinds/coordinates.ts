import { isDecimalNumber } from '../wordpress/decimal-number.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';
import { COORDINATES } from './events/metas.ts';

/* Coordinates of venues, which WordPress and imports store as any text. */

export const MAX_LATITUDE = 90;
export const MAX_LONGITUDE = 180;

const MEMBERS = [
  { key: COORDINATES.lat, max: MAX_LATITUDE },
  { key: COORDINATES.lng, max: MAX_LONGITUDE },
];

/** A point on Earth, in degrees. */
export interface Place {
  readonly lat: number;
  readonly lng: number;
}

/** Returns the coordinates of a venue; undefined if one is missing or does not exist on Earth. */
export function storedPlace(metas: Metas | undefined): Place | undefined {
  const [lat, lng] = MEMBERS.map(({ key, max }) => degreesIn(metaOf(metas, key) ?? '', max));
  return lat === undefined || lng === undefined ? undefined : { lat, lng };
}

/** Returns the metas of coordinates that are no degrees. Empty ones are absent, not wrong. */
export const wrongCoordinates = (metas: readonly (readonly [key: string, value: string])[]): (readonly [key: string, value: string])[] =>
  metas.filter(([key, value]) => {
    const member = MEMBERS.find((one) => one.key === key);
    return member !== undefined && value.trim() !== '' && degreesIn(value, member.max) === undefined;
  });

function degreesIn(text: string, max: number): number | undefined {
  const degrees = isDecimalNumber(text) ? Number(text) : Number.NaN;
  return Math.abs(degrees) <= max ? degrees : undefined;
}
