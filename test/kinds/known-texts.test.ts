import { expect, it } from '@jest/globals';
import { publishedText } from '../../src/kinds/cached-texts.ts';
import { memoizeText } from '../../src/memo.ts';

const options = { smilies: false, images: () => undefined };

it.each([10, 1000, 300_000])('memoizeText converts a text of %d characters once', (length) => {
  let made = 0;
  const shout = memoizeText(`shout ${length}`, (text) => {
    made += 1;
    return text.toUpperCase();
  });
  const text = 'a'.repeat(length);
  expect([shout(text), shout(text), shout(`${text}b`)]).toEqual([text.toUpperCase(), text.toUpperCase(), `${text}b`.toUpperCase()]);
  expect(made).toBe(2);
});

it('publishedText keeps the results of one long text apart', () => {
  const text = 'One two. '.repeat(20_000);
  const [content, words] = [publishedText('content', text, options), publishedText('words', text, options)];
  expect(content.length).toBeGreaterThan(text.length - 2);
  expect(words.length).toBeLessThan(1000);
  expect(publishedText('content', text, options)).toBe(content);
});
