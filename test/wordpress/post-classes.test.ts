import { expect, it } from '@jest/globals';
import { postClasses } from '../../src/wordpress/post-classes.ts';
import type { Term } from '../../src/wordpress/rows.ts';

const term = (term_id: number, taxonomy: string, slug: string): Term => ({
  term_id, taxonomy, slug, name: slug, term_group: 0, term_taxonomy_id: term_id, description: '', parent: 0, count: 1,
}); // biome-ignore format: pairs
const post = { ID: 44, post_type: 'tribe_events', post_status: 'publish' };

it('postClasses lists the type, the status, the properties and the terms of a post', () =>
  expect(postClasses(post, { locked: true, hasPicture: true, terms: [term(3, 'tribe_events_cat', 'jazz'), term(11, 'post_tag', 'free')] })).toEqual([
    'post-44', 'tribe_events', 'type-tribe_events', 'status-publish', 'post-password-required', 'has-post-thumbnail', 'hentry', 'tag-free', 'tribe_events_cat-jazz', 'cat_jazz',
  ])); // biome-ignore format: a list

it.each([
  ['%e6%97%a5%e6%9c%ac', 'tag-15'],
  ['2030', 'tag-15'],
  ['caf%c3%a9', 'tag-caf'],
  ['r-b', 'tag-r-b'],
])('postClasses of a term with the slug %s is %s', (slug, name) =>
  expect(postClasses(post, { locked: false, hasPicture: false, terms: [term(15, 'post_tag', slug)] }).at(-1)).toBe(name),
);
