import { memoize } from '../memo.ts';
import { trimEndOf } from './trim.ts';

/**
 * Returns the id of a record across sites: host and path of the site's home URL without scheme and port, and the
 * record's id, such as `example.com/it?id=6`. `home`: absolute URL. Throws a TypeError if it is invalid.
 */
export function globalId(home: string, id: number): string {
  return `${hostAndPath(home)}?id=${id}`;
}

const hostAndPath = memoize((home) => {
  const { hostname, pathname } = new URL(home);
  return hostname + trimEndOf(pathname, '/');
});
