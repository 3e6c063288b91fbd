import type { RequestHandler } from 'express';
import { ASSETS_PATH, type Assets, type FoundAsset } from '../html/assets.ts';
import { deliver, etagOf } from './deliver.ts';

/** Matches assets below the home of the site in any folder, since a proxy may strip the home's path. */
const ASSET_PATH = new RegExp(`^(?:/[\\w.~-]+)*?${ASSETS_PATH}(?<file>[\\w.-]+)$`);
const YEAR_SECONDS = 365 * 24 * 3600;

/**
 * `Cache-Control` by the name under which a file was found. A file under the name with its digest never changes; under
 * its plain name it is revalidated every hour. During an upgrade, processes of two versions serve the site, so that a
 * file may be requested from the version that does not have it. It sends its own instead, which no one may keep in
 * place of the right one.
 */
const CACHE_CONTROL: Readonly<Record<FoundAsset['name'], string>> = {
  digest: `public, max-age=${YEAR_SECONDS}, immutable`,
  plain: 'public, max-age=3600',
  'other-digest': 'no-cache',
};

/** Serves the stylesheets and scripts of the pages, to other sites too. */
export function serveAssets(assets: Assets): RequestHandler {
  return async (req, res, next) => {
    const file = req.method === 'GET' || req.method === 'HEAD' ? ASSET_PATH.exec(req.path)?.groups?.file : undefined;
    const servedAsset = file === undefined ? undefined : assets.find(file);
    if (!servedAsset) return next();
    const { type, body } = servedAsset.asset;
    await deliver(req, res, {
      status: 200,
      headers: {
        'Content-Type': type,
        'Cache-Control': CACHE_CONTROL[servedAsset.name],
        ETag: etagOf(body),
        Vary: 'Origin, Accept-Encoding',
      },
      body,
      expiresAt: 0,
      isShareable: false,
    });
  };
}
