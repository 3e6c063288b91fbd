import { describe, expect, it } from '@jest/globals';
import { homeAddress, movedAddresses, publicWordpressAddress, siteAddress, uploadsAddress } from '../../src/wordpress/site-address.ts';

describe('siteAddress', () => {
  it.each([
    ['https://example.org', 'https://example.org'],
    ['https://example.org/blog/', 'https://example.org/blog'],
    ['HTTP://Example.org:8080', 'HTTP://Example.org:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    [' https://example.org ', 'https://example.org'],
    ['//example.org/blog', 'http://example.org/blog'],
    ['example.org', 'http://example.org'],
    ['localhost:8080/blog', 'http://localhost:8080/blog'],
    ['', undefined],
    ['/', undefined],
    ['/blog', undefined],
    ['https://', undefined],
    ['https:///blog', undefined],
    ['http://?x', undefined],
    ['https://exa mple.org', undefined],
    ['https://example.org:99999', undefined],
    ['ftp://example.org', undefined],
    ['javascript:alert(1)', undefined],
    ['garbage', undefined],
    ['<b>', undefined],
    [undefined, undefined],
  ])('reads %j as %j', (stored, address) => expect(siteAddress(stored)).toBe(address));
});

describe('homeAddress', () => {
  it.each([
    ['https://example.org', 'https://other.example', 'https://example.org'],
    ['/blog', 'https://other.example', 'https://other.example'],
    ['/blog/', '', 'http://localhost:8080/blog'],
    ['/blog?x=<b>', '', 'http://localhost:8080'],
    ['', '', 'http://localhost:8080'],
  ])('with home %j and siteurl %j is %j', (home, siteurl, address) =>
    expect(homeAddress({ home, siteurl }, 'http://localhost:8080')).toBe(address),
  );
});

describe('uploadsAddress', () => {
  const HOME = 'https://example.org';
  it.each([
    ['the site', HOME, { home: HOME, siteurl: HOME }, `${HOME}/wp-content/uploads`],
    ['a folder of the site', HOME, { home: HOME, siteurl: `${HOME}/wp/` }, `${HOME}/wp/wp-content/uploads`],
    ['a folder, by another scheme', HOME, { home: HOME, siteurl: 'http://example.org/wp' }, `${HOME}/wp/wp-content/uploads`],
    ['a host of its own', HOME, { home: HOME, siteurl: 'https://wp.example' }, 'https://wp.example/wp-content/uploads'],
    [
      'a folder of a site that has moved',
      'https://new.example',
      { home: HOME, siteurl: `${HOME}/wp` },
      'https://new.example/wp/wp-content/uploads',
    ],
    [
      'the host of a site that has moved',
      'https://new.example',
      { home: HOME, siteurl: 'https://wp.example' },
      'https://new.example/wp-content/uploads',
    ],
    [
      'the same host with www, and the site has not moved',
      'https://a.example',
      { home: 'https://a.example', siteurl: 'https://www.a.example/wp' },
      'https://www.a.example/wp/wp-content/uploads',
    ],
    [
      'the same host with www, and the site has moved',
      HOME,
      { home: 'https://a.example', siteurl: 'https://www.a.example/wp' },
      `${HOME}/wp/wp-content/uploads`,
    ],
    ['nowhere', HOME, { home: HOME, siteurl: 'garbage' }, `${HOME}/wp-content/uploads`],
    [
      'a folder, with files elsewhere',
      HOME,
      { home: HOME, siteurl: `${HOME}/wp`, upload_url_path: 'https://files.example/' },
      'https://files.example',
    ],
    [
      'the site, with files at a path',
      `${HOME}/blog`,
      { home: `${HOME}/blog`, siteurl: `${HOME}/blog`, upload_url_path: '/files' },
      `${HOME}/files`,
    ],
  ])('where WordPress is at %s', (_, home, options, address) =>
    expect(uploadsAddress(home, new Map(Object.entries(options)), 1)).toBe(address),
  );
  it.each([
    ['a folder of its own', 1, { upload_path: 'media/files/' }, `${HOME}/media/files`],
    ['the usual folder', 1, { upload_path: 'wp-content/uploads' }, `${HOME}/wp-content/uploads`],
    ['an absolute folder', 1, { upload_path: '/srv/media' }, `${HOME}/wp-content/uploads`],
    ['a folder with an address', 1, { upload_path: 'media', upload_url_path: 'https://files.example' }, 'https://files.example'],
    ['a site of a network', 2, { ms_files_rewriting: '0' }, `${HOME}/wp-content/uploads/sites/2`],
    ['a site of a network, with a folder', 2, { upload_path: 'media' }, `${HOME}/media/sites/2`],
    ['a site of an old network', 2, { ms_files_rewriting: '1', upload_path: 'wp-content/blogs.dir/2/files' }, `${HOME}/files`],
    ['the first site of an old network', 1, { ms_files_rewriting: '1' }, `${HOME}/wp-content/uploads`],
  ])('where files are in %s', (_, site, options, address) =>
    expect(uploadsAddress(HOME, new Map(Object.entries({ home: HOME, siteurl: HOME, ...options })), site)).toBe(address),
  );
});

describe('publicWordpressAddress', () => {
  const [HTTP, HTTPS] = ['http://a.example', 'https://a.example'];
  it.each([
    ['as stored', HTTP, { home: HTTP, siteurl: `${HTTPS}/` }, HTTPS],
    ['as stored, below the site', HTTP, { home: `${HTTP}/`, siteurl: `${HTTPS}/wp` }, `${HTTPS}/wp`],
    ['as stored, without encryption', HTTPS, { home: HTTPS, siteurl: HTTP }, HTTP],
    ['as stored, on a host of its own', HTTPS, { home: HTTPS, siteurl: 'https://wp.example' }, 'https://wp.example'],
    ['that of the site if none is stored', HTTPS, { home: HTTPS, siteurl: 'garbage' }, HTTPS],
    ['that of a site that is now encrypted', HTTPS, { home: HTTP, siteurl: HTTP }, HTTPS],
    ['below a site that is now encrypted', HTTPS, { home: HTTP, siteurl: `${HTTP}/wp` }, `${HTTPS}/wp`],
    ['below a site that has moved', 'https://b.example', { home: HTTP, siteurl: `${HTTPS}/wp` }, 'https://b.example/wp'],
  ])('is %s', (_, home, options, address) => expect(publicWordpressAddress(home, new Map(Object.entries(options)))).toBe(address));
});

describe('movedAddresses', () => {
  const [OLD, NEW] = ['https://old.example', 'https://new.example/town'];
  it.each([
    ['at the address of the site', { home: OLD, siteurl: OLD }, NEW],
    ['at the address of the site, by another scheme', { home: OLD, siteurl: 'http://old.example/' }, NEW],
    ['in a folder of the site', { home: OLD, siteurl: `${OLD}/wp/` }, `${NEW}/wp`],
    ['in a folder of the site, by another scheme', { home: `${OLD}/`, siteurl: 'http://old.example/wp' }, `${NEW}/wp`],
    ['at the address of the site, with www', { home: OLD, siteurl: 'https://www.old.example' }, NEW],
    ['in a folder of the site, without www', { home: 'https://www.old.example', siteurl: `${OLD}/wp` }, `${NEW}/wp`],
    ['on a host of its own', { home: OLD, siteurl: 'https://wp.example' }, undefined],
    ['on a host that begins with that of the site', { home: OLD, siteurl: `${OLD}.org/wp` }, undefined],
    ['above the site', { home: `${OLD}/blog`, siteurl: OLD }, undefined],
    ['nowhere', { home: OLD, siteurl: 'garbage' }, NEW],
    ['at the only address', { home: '', siteurl: `${OLD}/wp` }, NEW],
    ['not there yet', {}, NEW],
  ])('where WordPress is %s', (_, options, siteurl) =>
    expect(movedAddresses(NEW, new Map(Object.entries(options)))).toEqual(siteurl === undefined ? { home: NEW } : { home: NEW, siteurl }),
  );
  it('stays as it is with the same address', () => {
    const options = { home: OLD, siteurl: `${OLD}/wp` };
    expect(movedAddresses(OLD, new Map(Object.entries(options)))).toEqual(options);
    expect(
      movedAddresses(
        OLD,
        new Map([
          ['home', OLD],
          ['siteurl', 'https://www.old.example'],
        ]),
      ),
    ).toEqual({ home: OLD });
  });
});
