import { extname } from 'node:path';
import express, { type RequestHandler, Router } from 'express';
import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import { leadsOutside } from '../media/library.ts';
import { isPrivateFile } from '../media/private-files.ts';
import { notesOf } from './answered.ts';
import { secure } from './security.ts';

/** Where WordPress keeps uploaded files, below the home of the site. */
const PLACE = /^(?:\/[\w.~-]+)*?\/wp-content\/uploads(?=\/)/;
/** What browsers show without running anything in it. */
const HARMLESS = /^(image\/(?!svg)|audio\/|video\/|text\/plain\b|application\/pdf\b)/;
const A_MONTH_S = 30 * 24 * 3600;

/**
 * Serves uploaded files: nothing outside the folder, not by a link in it either, no lists of folders, no hidden files,
 * and neither the database nor backups where they lie among them.
 * What could run in a browser is offered as a download, whatever its name says.
 */
export function uploads(config: Config): RequestHandler {
  const files = express.static(config.uploadsDir, {
    index: false,
    redirect: false,
    dotfiles: 'ignore',
    setHeaders: (res, path) => {
      res.type(extname(path));
      res.set({
        'Cache-Control': `public, max-age=${A_MONTH_S}`,
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'Access-Control-Allow-Origin': '*',
      });
      if (!HARMLESS.test(String(res.get('Content-Type')))) res.set('Content-Disposition', 'attachment');
    },
  });
  const router = Router().use(secure, withoutPlace, withoutSecrets(config), files, () => fail('rest_no_route'));
  return (req, res, next) => {
    if (!PLACE.test(req.url)) return next();
    notesOf(req).route = 'uploads';
    router(req, res, next);
  };
}

/**
 * Passes over what a symbolic link leads to outside of the folder, which may be one itself, and what is private in it.
 */
function withoutSecrets(config: Config): RequestHandler {
  return async (req, _res, next) => {
    const path = decoded(req.path);
    if ((await leadsOutside(config.uploadsDir, path)) || (await isPrivateFile(config, path))) fail('rest_no_route');
    next();
  };
}

/** An address that can't be decoded names no file. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

/** Leaves the name of the file, as the library wants it. */
const withoutPlace: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(PLACE, '');
  next();
};
