import { expect, it } from '@jest/globals';
import { sentFile } from '../../src/http/upload.ts';

const NAME = 'Caffè perché – 日本.png';

/** The file name in a header of these bytes, which Node decodes as Latin-1. */
const nameIn = (disposition: Buffer) =>
  sentFile({
    body: Buffer.from('x'),
    isEmpty: false,
    type: 'image/png',
    disposition: disposition.toString('latin1'),
    digest: undefined,
  }).name;

it.each([
  ['in UTF-8, as programs send it', Buffer.from(`attachment; filename="${NAME}"`), NAME],
  ['in Latin-1', Buffer.from('attachment; filename="Caffè.png"', 'latin1'), 'Caffè.png'],
  ['as RFC 8187 says', Buffer.from(`attachment; filename="x.png"; filename*=UTF-8''${encodeURIComponent(NAME)}`), NAME],
])('the file name of an upload is read %s', (_, bytes, name) => expect(nameIn(bytes)).toBe(name));

it('the file name of an upload within a batch, which is text already, is kept', () =>
  expect(
    sentFile({
      body: Buffer.from('x'),
      isEmpty: false,
      type: 'image/png',
      disposition: `attachment; filename="${NAME}"`,
      digest: undefined,
    }).name,
  ).toBe(NAME));
