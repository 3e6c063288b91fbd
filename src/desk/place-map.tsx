import type { JSX } from 'preact';
import type { PostKind } from '../kinds/kind.ts';
import { venue } from '../kinds/venue.ts';
import { listPosts } from '../records/posts.ts';
import type { Visit } from './visit.ts';

/*
 * The map in the form of a venue, if the site has map tiles configured (`MAP_TILES`). It needs a script; without it,
 * there are only the two fields of the coordinates.
 */

/** Initial viewport of the map. */
export interface MapView {
  /** URL template of the map tiles. */
  readonly tiles: string;
  readonly lat: number;
  readonly lng: number;
  readonly zoom: number;
}

/** The field after which the map is inserted. */
export const MAP_AFTER_FIELD = 'geo_lng';

/** Stylesheets and scripts of the map. */
export const MAP_ASSETS = { styles: ['desk-map.css'], scripts: ['desk-map.js'] };

/**
 * Returns the map for a form of this kind; undefined if it has none. For a new venue it initially shows the area of a
 * recently changed venue.
 */
export async function loadMapView({ site, caller }: Visit, kind: PostKind): Promise<MapView | undefined> {
  const tiles = site.config.mapTiles;
  if (tiles === undefined || !(MAP_AFTER_FIELD in kind.fields)) return undefined;
  const values = { per_page: MAX_NEIGHBOURS, orderby: 'modified', order: 'desc' } as const;
  const { records } = await listPosts(site, caller, venue, values, MAX_NEIGHBOURS);
  const neighbour = records.find(({ geo_lat: lat, geo_lng: lng }) => lat !== undefined && lng !== undefined);
  return { tiles, ...(neighbour ? { lat: neighbour.geo_lat ?? 0, lng: neighbour.geo_lng ?? 0, zoom: TOWN_ZOOM } : WORLD_VIEW) };
}

const MAX_NEIGHBOURS = 20;
const TOWN_ZOOM = 13;
const WORLD_VIEW = { lat: 30, lng: 0, zoom: 2 };

/** The map, hidden until its script runs. */
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
