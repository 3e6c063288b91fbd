import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { textOrder } from '../../src/html/i18n.ts';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '../../src');

describe('texts in order', () => {
  it.each([
    ['en', ['Åre', 'Arezzo', 'Örebro', 'Zürich']],
    ['sv-SE', ['Arezzo', 'Zürich', 'Åre', 'Örebro']],
  ])('are sorted as in %s, wherever the server runs', (locale, names) =>
    expect([...names].reverse().sort(textOrder({ locale }))).toEqual(names),
  );

  it('are nowhere sorted by the language of the process', () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    expect(files.filter((name) => /\.localeCompare\([^,)]*\)|Intl\.Collator\(\)/.test(readFileSync(join(SOURCE, name), 'utf8')))).toEqual(
      [],
    );
  });
});
