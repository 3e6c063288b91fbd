import { extname } from 'node:path';
import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import { leadsOutside } from '../media/library.ts';
import { isPrivateFile } from '../media/private-files.ts';
import { uploadsUrl } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { uploadsOfSite } from '../wordpress/network.ts';
import { disconnectSlowDownload } from './limits.ts';
import { notesOf } from './request-notes.ts';
import { setSecurityHeaders } from './security.ts';

/** The path of WordPress's uploaded files, below the home of the site. */
const UPLOADS_PATH = /^(?:\/[\w.~-]+)*?\/wp-content\/uploads(?=\/)/;
/** Types that browsers show without running any content. */
const INERT_TYPES = /^(image\/(?!svg)|audio\/|video\/|text\/plain\b|application\/pdf\b)/;
/**
 * Bytes of a file that are read at a time; the library passes this on to `fs.createReadStream`. A client that reads
 * slowly keeps a few times as much in memory.
 */
const CHUNKS = { highWaterMark: 16 * 1024 };
/** A file that is deleted and uploaded again has the same address. */
const HOUR_SECONDS = 3600;

/**
 * Serves uploaded files. It serves nothing outside the folder, not even through a symbolic link, no directory listings,
 * no hidden files, and neither the database nor backups if they lie in the folder. Files that could run scripts in a
 * browser are sent as downloads, whatever their names.
 */
export function serveUploads(config: Config): RequestHandler {
  const strip = stripUploadsPath(config);
  const router = filesRouter(config, strip).use(() => fail('rest_no_route'));
  return (req, res, next) => {
    if (!UPLOADS_PATH.test(req.url)) return next();
    notesOf(req).route = 'uploads';
    router(req, res, next);
  };
}

/**
 * Serves the same files at the address that WordPress gives them by its options (`upload_path`, `upload_url_path`,
 * `ms_files_rewriting`), if that is on the site's own host. A path without a file is passed on.
 */
export function serveMovedUploads(site: Site): RequestHandler {
  const { config } = site;
  const router = filesRouter(config);
  return async (req, res, next) => {
    // Pages and feeds have no extension, so the settings need not be read for them here.
    if (extname(req.path) === '') return next();
    const settings = await site.forAnonymousReads().settings();
    const [home, uploads] = [URL.parse(settings.home), URL.parse(uploadsUrl(settings, config))];
    const path = uploads?.pathname ?? '/';
    if (path === '/' || uploads?.host !== home?.host || !req.url.startsWith(`${path}/`)) return next();
    const { url } = req;
    req.url = url.slice(path.length);
    router(req, res, (error) => {
      req.url = url;
      next(error);
    });
  };
}

/** `before`: handlers that prepare the address. */
const filesRouter = (config: Config, ...before: readonly RequestHandler[]): Router =>
  Router().use(setSecurityHeaders, ...before, refusePrivateFiles(config), filesOf(config), refuseUnmetConditions);

/** Sends the files of the folder. */
const filesOf = (config: Config): RequestHandler =>
  express.static(config.uploadsDir, {
    index: false,
    redirect: false,
    dotfiles: 'ignore',
    ...CHUNKS,
    setHeaders: (res, path, { size }) => {
      disconnectSlowDownload(res, size);
      res.type(extname(path));
      res.set({
        'Cache-Control': `public, max-age=${HOUR_SECONDS}`,
        // Browsers load audio and video that is opened at its address a second time, for their player.
        'Content-Security-Policy': "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
        'Access-Control-Allow-Origin': '*',
      });
      if (!INERT_TYPES.test(String(res.get('Content-Type')))) res.set('Content-Disposition', 'attachment');
    },
  });

/**
 * Answers requests for an existing file whose conditions it does not meet (412; RFC 9110, 13.1), or for a part that it
 * does not have (416; RFC 9110, 14.2), without a body. Other errors are passed on.
 */
const refuseUnmetConditions: ErrorRequestHandler = (error: { readonly status?: number; readonly headers?: object }, _req, res, next) => {
  if (res.headersSent || (error.status !== 412 && error.status !== 416)) return next(error);
  for (const name of ['Cache-Control', 'Content-Disposition', 'Content-Type', 'Last-Modified', 'ETag']) res.removeHeader(name);
  res
    .status(error.status)
    .set({ ...error.headers })
    .end();
};

/**
 * Refuses files that a symbolic link leads to outside the folder, and private files within it. The folder itself may be
 * a symbolic link.
 */
function refusePrivateFiles(config: Config): RequestHandler {
  return async (req, _res, next) => {
    const path = decoded(req.path);
    if ((await leadsOutside(config.uploadsDir, path)) || (await isPrivateFile(config, path))) fail('rest_no_route');
    next();
  };
}

/** Decodes a path; an invalid one becomes empty and names no file. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

/** Strips the path of the uploads, so that the library sees only the file's path. */
function stripUploadsPath({ networkSite }: Config): RequestHandler {
  const sitePrefix = `${uploadsOfSite(networkSite)}/`;
  return (req, _res, next) => {
    const path = req.url.replace(UPLOADS_PATH, '');
    req.url = path.startsWith(sitePrefix) ? path.slice(sitePrefix.length - 1) : path;
    next();
  };
}
