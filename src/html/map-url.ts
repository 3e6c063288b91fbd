/** Where something is: its coordinates, or else its address in one line. */
export interface Where {
  readonly lat: number | undefined;
  readonly lng: number | undefined;
  readonly address: string;
}

/**
 * An address that shows a place on the map of OpenStreetMap, with a pin where its coordinates are known; undefined
 * where nothing is known of it. Nothing is loaded from there before somebody follows it.
 */
export function mapUrl({ lat, lng, address }: Where): string | undefined {
  if (lat !== undefined && lng !== undefined) return `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=17/${lat}/${lng}`;
  return address === '' ? undefined : `https://www.openstreetmap.org/search?query=${encodeURIComponent(address)}`;
}
