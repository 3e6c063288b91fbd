/** A location: its coordinates, or else its address in one line. */
export interface MapLocation {
  readonly lat: number | undefined;
  readonly lng: number | undefined;
  readonly address: string;
}

/**
 * Returns the URL of a location on the map of OpenStreetMap, with a pin if its coordinates are known; undefined if
 * nothing is known. Nothing is loaded from there unless the user follows the link.
 */
export function mapUrl({ lat, lng, address }: MapLocation): string | undefined {
  if (lat !== undefined && lng !== undefined) return `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=17/${lat}/${lng}`;
  return address === '' ? undefined : `https://www.openstreetmap.org/search?query=${encodeURIComponent(address)}`;
}
