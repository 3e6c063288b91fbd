import { describe, expect, it } from '@jest/globals';
import { allPosts, type Dependency } from '../../src/storage/journal/dependencies.ts';
import type { JournalEntry } from '../../src/storage/journal/entries.ts';
import type { JournalFeed, JournalListener } from '../../src/storage/journal/feed.ts';
import { followChanges } from '../../src/storage/journal/latest-changes.ts';

/** A feed to which the test passes entries, and the changes that follow it. */
function setting({ position = 10, most = 100 } = {}) {
  const listeners: JournalListener[] = [];
  const feed: JournalFeed = {
    position: () => position,
    advanceTo: async () => undefined,
    subscribe: (listener) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const changes = followChanges(feed, most);
  const tell = (number: number, object: number, kind: JournalEntry['kind'] = 'post', type = 'tribe_events') => {
    const entry: JournalEntry = {
      number,
      object,
      kind,
      type,
      at: '',
      what: 'changed',
      writer: 'fasti',
      user: 0,
      wasPublic: true,
      isPublic: true,
    };
    for (const listener of listeners) listener([entry]);
  };
  const held = (count: number, ...dependencies: Dependency[]) => ({ count, dependencies, era: changes.era(), checkedUntil: count });
  return { changes, tell, held };
}

describe('value computed at a count of the change counter', () => {
  it('is current until one of its dependencies changes', () => {
    const { changes, tell, held } = setting();
    const [one, other, list] = [held(10, 44), held(10, 45), held(10, allPosts('tribe_events'))];
    expect([one, other, list].map(changes.isCurrent)).toEqual([true, true, true]);
    tell(11, 44);
    expect([one, other, list].map(changes.isCurrent)).toEqual([false, true, false]);
    // A value computed after the change is current again.
    expect(changes.isCurrent(held(11, 44))).toBe(true);
    tell(12, 44, 'term', 'post_tag');
    expect([held(11, 44), held(11, -44)].map(changes.isCurrent)).toEqual([true, false]);
  });

  it('is current only until the next entry if its dependencies are unknown', () => {
    const { changes, tell, held } = setting();
    const anything = { ...held(10), dependencies: undefined };
    expect(changes.isCurrent(anything)).toBe(true);
    tell(11, 7, 'user', '');
    expect([changes.isCurrent(anything), changes.isCurrent(held(10, 44))]).toEqual([false, true]);
  });

  it.each(['option', 'all'] as const)('is outdated after an entry of the kind %s, whatever its count', (kind) => {
    const { changes, tell, held } = setting();
    const before = held(500, 44);
    tell(3, 0, kind, '');
    expect(changes.isCurrent(before)).toBe(false);
    expect(changes.isCurrent(held(3 + 10, 44))).toBe(true);
  });

  it('is current again after an entry with a lower number than the last change, as after an older dump', () => {
    const { changes, tell, held } = setting({ position: 10, most: 2 });
    for (const [number, object] of [
      [20, 43],
      [400, 44],
    ] as const)
      tell(number, object);
    tell(3, 0, 'all', '');
    const [one, other, list] = [held(3, 44), held(3, 45), held(3, allPosts('tribe_events'))];
    expect([one, other, list].map(changes.isCurrent)).toEqual([true, true, true]);
    tell(4, 44);
    expect([one, other, list].map(changes.isCurrent)).toEqual([false, true, false]);
  });

  it('is outdated if it is older than the oldest known change', () => {
    const { changes, tell, held } = setting({ position: 10, most: 4 });
    expect(changes.isCurrent(held(9, 44))).toBe(false);
    const kept = held(10, 1);
    for (const object of [44, 45, 46, 47]) tell(object, object, 'post', String(object));
    expect(changes.isCurrent(kept)).toBe(false);
  });
});
