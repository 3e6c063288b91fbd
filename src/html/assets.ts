import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A static file for browsers. */
export interface Asset {
  /** File name with a digest of the content, so that it can be cached forever: `base.3f2a9c1d.css`. */
  readonly file: string;
  readonly type: string;
  readonly body: Buffer;
}

/** Stylesheets, scripts and pictures of the pages. */
export interface Assets {
  /** Returns the file at the end of a URL. */
  readonly find: (file: string) => FoundAsset | undefined;
  /** Returns the URL of a file, below the path of the site's home. Throws if there is no file with this name. */
  readonly urlOf: (base: string, name: string) => string;
}

/** A file, and the form of name under which it was found. */
export interface FoundAsset {
  readonly asset: Asset;
  /**
   * `digest`: the name with the digest of this content; `plain`: the name without one; `other-digest`: the name with
   * that of another version, which a process of that version has put into a page.
   */
  readonly name: 'digest' | 'plain' | 'other-digest';
}

/** The path of these files below the site's home. */
export const ASSETS_PATH = '/_fasti/';

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=UTF-8'],
  ['.js', 'text/javascript; charset=UTF-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.webp', 'image/webp'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
]);

/** Reads the files that come with Fasti, and adds others by name. */
export function loadAssets(extraFiles: ReadonlyMap<string, Buffer> = new Map()): Assets {
  const ownFiles = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name))] as const);
  const byName = new Map([...ownFiles, ...extraFiles].flatMap(([name, body]) => createAsset(name, body)));
  const byFile = new Map([...byName.values()].map((asset) => [asset.file, asset]));
  return {
    find: (file) =>
      foundAs('digest', byFile.get(file)) ??
      foundAs('plain', byName.get(file)) ??
      foundAs('other-digest', byName.get(file.replace(DIGEST, ''))),
    urlOf: (base, name) => {
      const asset = byName.get(name);
      if (!asset) throw new Error(`There is no file ${name} for browsers.`);
      return `${base}${ASSETS_PATH}${asset.file}`;
    },
  };
}

const foundAs = (name: FoundAsset['name'], asset: Asset | undefined): FoundAsset | undefined => asset && { asset, name };

function createAsset(name: string, body: Buffer): [string, Asset][] {
  const extension = extname(name);
  const type = CONTENT_TYPES.get(extension);
  if (type === undefined) return [];
  return [[name, { file: `${name.slice(0, -extension.length)}.${hash('sha256', body).slice(0, DIGEST_LENGTH)}${extension}`, type, body }]];
}

const DIGEST_LENGTH = 10;
/** Matches the digest in the name of a file. */
const DIGEST = new RegExp(`\\.[\\da-f]{${DIGEST_LENGTH}}(?=\\.\\w+$)`);

/** The folder is next to the sources, or next to the compiled files. */
const FOLDER =
  ['./assets/', '../assets/', '../../assets/']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? 'dist/assets/';
