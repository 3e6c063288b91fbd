import { expect, it } from '@jest/globals';
import { sentFile } from '../../src/http/upload.ts';

const NAME = 'Caffè perché – 日本.png';

/** The name of a file whose headers are these bytes, which Node gives as letters of Latin-1. */
const nameIn = (disposition: Buffer) =>
  sentFile({
    body: Buffer.from('x'),
    empty: false,
    type: 'image/png',
    disposition: disposition.toString('latin1'),
    digest: undefined,
  }).name;

it.each([
  ['in UTF-8, as programs send it', Buffer.from(`attachment; filename="${NAME}"`), NAME],
  ['in Latin-1', Buffer.from('attachment; filename="Caffè.png"', 'latin1'), 'Caffè.png'],
  ['as RFC 8187 says', Buffer.from(`attachment; filename="x.png"; filename*=UTF-8''${encodeURIComponent(NAME)}`), NAME],
])('a name of a file is read %s', (_, bytes, name) => expect(nameIn(bytes)).toBe(name));

it('a name that is text already, as within a batch, is left alone', () =>
  expect(
    sentFile({ body: Buffer.from('x'), empty: false, type: 'image/png', disposition: `attachment; filename="${NAME}"`, digest: undefined })
      .name,
  ).toBe(NAME));
