import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sanitizeFileName, uniqueFileName } from '../../src/media/file-name.ts';
import { imageMimeOf, imageType } from '../../src/media/image-type.ts';
import { MAX_EXPONENT, measureGrowthExponent } from '../support/growth.ts';

const png = imageType(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))!;
const jpeg = imageType(Buffer.from([0xff, 0xd8, 0xff]))!;

describe('sanitizeFileName', () => {
  it.each([
    ['tiny.png', 'tiny.png'],
    ['My picture (1).png', 'My-picture-1.png'],
    ['Été à Zürich.png', 'Ete-a-Zurich.png'],
    ['a%20b+c.png', 'a-b-c.png'],
    ['  --.hidden.png', 'hidden.png'],
    ['PHOTO.PNG', 'PHOTO.png'],
    ['v1.2.png', 'v1.2.png'],
    ['写真.png', '写真.png'],
  ])('turns %s into %s', (wanted, name) => expect(sanitizeFileName(wanted, png)).toBe(name));

  it.each([
    ['photo.png', 'photo.jpg'],
    ['photo.jpeg', 'photo.jpeg'],
    ['photo', 'photo.jpg'],
    ['photo.svg', 'photo.jpg'],
    ['', 'image.jpg'],
    ['.jpg', 'jpg.jpg'],
    ['???', 'image.jpg'],
  ])('gives %j the extension of its content: %s', (wanted, name) => expect(sanitizeFileName(wanted, jpeg)).toBe(name));

  it('removes every invisible character', () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufeff]/u.test(character),
    );
    expect(all).toContain('\u0080');
    expect(all).toContain('\u2066');
    for (const character of all) expect(sanitizeFileName(`a${character}b.png`, png)).toMatch(/^a-?b\.png$/);
  });

  it.each(['shell.php', 'shell.php.jpg', 'shell.phtml.png', '.htaccess', 'a.jsp.b.jpg', 'shell.PHP5'])(
    'leaves no extension of a script in %s',
    (wanted) => {
      expect(sanitizeFileName(wanted, jpeg)).not.toMatch(/\.(php\d?|phtml|jsp|htaccess)(\.|$)/i);
    },
  );

  // biome-ignore format: a table
  const pieces = ['shell', 'php', 'PHP5', 'phtml', 'jpg', 'é', '写', '.', '..', '-', '_', ' ', '+', '%20', '?', '\u200b'];
  const longStart = fc.integer({ min: 185, max: 201 }).map((length) => 'a'.repeat(length));
  const anyName = fc
    .tuple(fc.oneof(fc.constant(''), longStart), fc.array(fc.constantFrom(...pieces), { maxLength: 8 }))
    .map(([start, parts]) => `${start}${parts.join('')}.jpg`);

  it('leaves no extension of a script in any name, and changes no clean name', () => {
    const check = (wanted: string): void => {
      const name = sanitizeFileName(wanted, jpeg);
      expect(name.split('.').slice(1, -1)).not.toContainEqual(expect.stringMatching(/^[a-z]{2,5}\d?$/i));
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(220);
      expect(sanitizeFileName(name, jpeg)).toBe(name);
    };
    for (const wanted of ['shell.php-.jpg', 'shell.php .jpg', 'shell.php+.jpg', `${'a'.repeat(196)}.php.jpg`]) check(wanted);
    fc.assert(fc.property(anyName, check), { numRuns: 5000 });
  });

  it.each([
    '../../etc/passwd',
    '..\\..\\boot.ini',
    '/etc/passwd',
    'C:\\x.jpg',
    '....//....//x',
    '%2e%2e%2fx',
    '..%c0%afx',
    'a\0b.jpg',
    'a\nb.jpg',
    '~/x',
    '-rf.jpg',
    '.',
    '..',
    '../',
    'a/../../b.jpg',
    '\u202egpj.exe',
    '|x',
    '$(x).jpg',
    '`x`.jpg',
    'a;b.jpg',
    "a'b.jpg",
    '\ud800.jpg',
  ])('leaves no part of a path or a command in %j', (wanted) => {
    // biome-ignore format: a table
    expect(sanitizeFileName(wanted, jpeg)).toMatch(/^[^./\\\s-][^/\\\s\0|$`;'~%]*\.jpe?g$/);
  });

  it('limits the name to the length that file systems accept, in whole characters', () => {
    const name = sanitizeFileName(`${'写'.repeat(1000)}.jpg`, jpeg);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(220);
    expect(name).toMatch(/^写+\.jpg$/);
  });
});

describe('uniqueFileName', () => {
  it.each([
    ['a.png', [], 'a.png'],
    ['a.png', ['a.png'], 'a-1.png'],
    ['a.png', ['A.PNG', 'a-1.png'], 'a-2.png'],
    ['a.png', ['a.jpg'], 'a.png'],
    ['a.png', ['a-300x200.png'], 'a-1.png'],
    ['a.jpg', ['a-scaled.jpg'], 'a-1.jpg'],
    ['a.png', ['a-b.png', 'ab.png'], 'a.png'],
    ['a.png', ['a', 'a-', 'a-scaled', 'a-300x200.tar.gz', '-scaled.png'], 'a.png'],
    ['a.png', ['a.b-scaled.png', 'A-SCALED.jpg', 'a-1-1x1.b-c'], 'a-2.png'],
    ['a-300x200.png', [], 'a-300x200-1.png'],
    ['a-scaled.jpg', [], 'a-scaled-1.jpg'],
  ])('gives %s next to %j the name %s', (name, present, result) => expect(uniqueFileName(name, present)).toBe(result));

  it('needs at most time proportional to the number of files in the folder', async () => {
    const folders = new Map<number, string[]>();
    for (const count of [1000, 4000, 16_000])
      folders.set(count, ['a.png', ...Array.from({ length: count - 1 }, (_, at) => `a-${at + 1}.png`)]);
    const work = (count: number) => expect(uniqueFileName('a.png', folders.get(count) ?? [])).toBe(`a-${count}.png`);
    const exponent = await measureGrowthExponent(work, { longest: 4000, floor: 20_000, confirmationFactor: 4 });
    expect(exponent ?? 0).toBeLessThan(MAX_EXPONENT);
  });
});

describe('imageMimeOf', () => {
  it.each([
    ['https://example.org/uploads/photo.jpg', 'image/jpeg'],
    ['photo.JPE', 'image/jpeg'],
    ['https://example.org/logo.svg?v=2.1', 'image/svg+xml'],
    ['https://example.org/a.b/scan.tif#page', 'image/tiff'],
    ['https://example.org/photo', undefined],
    ['https://example.org/photo?file=a.png', undefined],
    ['https://example.org', undefined],
    ['programme.pdf', undefined],
  ])('gives the type of %s: %s', (address, type) => expect(imageMimeOf(address)).toBe(type));
});
