import type { JSX } from 'preact';
import { postKind } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { VenueRecord } from '../kinds/venue.ts';
import { listPosts } from '../records/posts.ts';
import type { Visit } from './visit.ts';

/*
 * The map in the form of a venue, where the site has one (`MAP_TILES`). It is a script's: without it, there are the two
 * fields of the coordinates.
 */

/** What of the world a map shows at first. */
export interface MapView {
  /** The address of its pieces. */
  readonly tiles: string;
  readonly lat: number;
  readonly lng: number;
  readonly zoom: number;
}

/** The field that the map stands below. */
export const MAP_BELOW = 'geo_lng';

/** The files that it needs. */
export const MAP_FILES = { styles: ['desk-map.css'], scripts: ['desk-map.js'] };

/** The map of a form of this kind; undefined: it has none. A new venue is looked for around those that there are. */
export async function mapOf({ site, caller }: Visit, kind: PostKind): Promise<MapView | undefined> {
  const tiles = site.config.mapTiles;
  if (tiles === undefined || !(MAP_BELOW in kind.fields)) return undefined;
  const { records } = await listPosts(site, caller, postKind('venue'), { per_page: MOST_NEIGHBOURS, orderby: 'modified', order: 'desc' });
  const near = (records as readonly VenueRecord[]).find(({ geo_lat: lat, geo_lng: lng }) => lat !== undefined && lng !== undefined);
  return { tiles, ...(near ? { lat: near.geo_lat ?? 0, lng: near.geo_lng ?? 0, zoom: TOWN } : WORLD) };
}

const MOST_NEIGHBOURS = 20;
const TOWN = 13;
const WORLD = { lat: 30, lng: 0, zoom: 2 };

export function PlaceMap({ visit, map }: { readonly visit: Visit; readonly map: MapView }): JSX.Element {
  const { say } = visit.i18n;
  return (
    <section
      class="field"
      aria-label={say('desk:map.title')}
      hidden
      data-tiles={map.tiles}
      data-lat={String(map.lat)}
      data-lng={String(map.lng)}
      data-zoom={String(map.zoom)}
      data-attribution={visit.site.config.mapAttribution}
      data-pin-label={say('desk:map.pin')}
      data-nearer-label={say('desk:map.nearer')}
      data-farther-label={say('desk:map.farther')}
    >
      <p class="hint">{say('desk:map.about')}</p>
    </section>
  );
}
