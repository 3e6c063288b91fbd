import type { Knex } from 'knex';
import type { Database } from './database.ts';
import type { Sql } from './dialect.ts';
import { asId } from './expressions.ts';

const EARTH_RADIUS_KM = 6371;

/** Coordinates (`lat`, `lng`) of the public venue that a post links to. */
export function placed(db: Database, sub: Knex.QueryBuilder, link: string | undefined): Knex.QueryBuilder {
  return sub
    .from({ l: db.table('postmeta') })
    .join({ v: db.table('posts') }, 'v.ID', asId(db, 'l.meta_value'))
    .join({ lat: db.table('postmeta') }, (join) => join.on('lat.post_id', 'v.ID').andOnVal('lat.meta_key', '_VenueLat'))
    .join({ lng: db.table('postmeta') }, (join) => join.on('lng.post_id', 'v.ID').andOnVal('lng.meta_key', '_VenueLng'))
    .where({ 'l.meta_key': link ?? '', 'v.post_status': 'publish', 'v.post_password': '' })
    .whereNot('lat.meta_value', '')
    .whereNot('lng.meta_value', '');
}

/** Great-circle distance in km (haversine) from a point to the coordinates of `placed`. */
export function distance(db: Database, { lat, lng }: { lat: number; lng: number }): Sql {
  const [latitude, latitudeColumns] = db.dialect.asNumber('lat.meta_value');
  const [longitude, longitudeColumns] = db.dialect.asNumber('lng.meta_value');
  const half = (difference: string) => `POWER(SIN(RADIANS(${difference}) / 2), 2)`;
  return [
    `(${2 * EARTH_RADIUS_KM} * ASIN(SQRT(${half(`${latitude} - ?`)} + COS(RADIANS(?)) * COS(RADIANS(${latitude})) * ${half(`${longitude} - ?`)})))`,
    [...latitudeColumns, lat, lat, ...latitudeColumns, ...longitudeColumns, lng],
  ];
}
