import { describe, expect, it } from '@jest/globals';
import { eventJsonLd } from '../../src/calendar/json-ld.ts';
import { addToCount, newTally } from '../../src/exchange/items/report.ts';
import { runShortcodes } from '../../src/wordpress/content/shortcodes.ts';
import { tableOf } from '../../src/wordpress/table.ts';
import { INHERITED } from '../fuzz/inherited.ts';

/** A name that is in no table and that objects do not inherit. */
const UNKNOWN = 'nowhere';
const image = {
  url: 'http://x.test/a.png',
  width: 1000,
  height: 800,
  sizes: { medium: { url: 'http://x.test/b.png', width: 300, height: 240 } },
};
const event = {
  title: '', content: '', excerpt: '', status: 'publish', protected: false, url: '', start: '', end: '', location: false, organizer: false, cost: '', costs: [], currencyCode: '',
  published: '',
} as const; // biome-ignore format: an event

describe.each(INHERITED)('inherited object property %s', (name) => {
  it('is not found in tables', () => {
    expect(tableOf({ a: 1 }).get(name)).toBeUndefined();
  });

  it.each<[string, (name: string) => string]>([
    ['the size of a gallery', (size) => runShortcodes(`[gallery ids="10" size="${size}"]`, { images: () => image })],
    ['the ending of a sound', (ending) => runShortcodes(`[audio src="/a.${ending}" mp3="/a.mp3"]`, { images: () => undefined })],
    ['the ending of a film', (ending) => runShortcodes(`[video mp4="/a.${ending}"]`, { images: () => undefined })],
    ['the state of an event', (state) => JSON.stringify(eventJsonLd({ ...event, eventStatus: state }))],
  ])('is treated like any unknown name, as %s', (_, written) => {
    expect(written(name).replaceAll(name, UNKNOWN)).toBe(written(UNKNOWN));
  });
});

it.each(INHERITED.filter((name) => name !== '__proto__'))('counts skipped records under the inherited name %s', (name) => {
  const { skipped } = newTally();
  addToCount(skipped, name);
  addToCount(skipped, name, 2);
  expect(skipped[name]).toBe(3);
});
