import { describe, expect, it } from '@jest/globals';
import { convertSmilies } from '../../../src/wordpress/content/smilies.ts';

describe('convertSmilies', () => {
  it.each([
    [':-)', '🙂'],
    ['a :) b ;-) c', 'a 🙂 b 😉 c'],
    ['a:)', 'a:)'],
    [':).', ':).'],
    ['<b>:D</b>', '<b>😀</b>'],
    ['<a title=" :) ">x</a>', '<a title=" :) ">x</a>'],
    ['<code>:) </code> :)', '<code>:) </code> 🙂'],
    [':) :) :)', '🙂 🙂 🙂'],
    ['x&nbsp;:lol:', 'x&nbsp;😆'],
    [':roll:', ':roll:'],
  ])('converts %j', (text, html) => {
    expect(convertSmilies(text)).toBe(html);
  });

  it('shows smilies that are images if the folder is known', () => {
    const img = '<img src="https://x.test/smilies/rolleyes.png" alt=":roll:" class="wp-smiley" style="height: 1em; max-height: 1em;" />';
    expect(convertSmilies('a :roll:', 'https://x.test/smilies')).toBe(`a ${img}`);
  });
});
