import type { RequestHandler } from 'express';
import { ASSETS_PATH, type Assets } from '../html/assets.ts';
import { deliver, etagOf } from './deliver.ts';

/** Matches assets below the home of the site in any folder, since a proxy may strip the home's path. */
const ASSET_PATH = new RegExp(`^(?:/[\\w.~-]+)*?${ASSETS_PATH}(?<file>[\\w.-]+)$`);
const YEAR_SECONDS = 365 * 24 * 3600;

/**
 * Serves the stylesheets and scripts of the pages, to other sites too. A file requested by its name with the digest
 * never changes; under its plain name it is revalidated every hour.
 */
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
        'Cache-Control': servedAsset.hasDigest ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, max-age=3600',
        ETag: etagOf(body),
        Vary: 'Origin, Accept-Encoding',
      },
      body,
      expiresAt: 0,
      isShareable: false,
    });
  };
}
