import { describe, expect, it } from '@jest/globals';
import { defaultRoles, mapMetaCap, parseRoles, userCapabilities } from '../../src/wordpress/capabilities.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { ANONYMOUS, type Viewer } from '../../src/wordpress/viewer.ts';

const roles = parseRoles(toSerialized(defaultRoles()));
const capabilities = (role: string) => userCapabilities(toSerialized({ [role]: true }), roles);

function viewer(id: number, role: string): Viewer {
  const held = capabilities(role);
  return { id, login: role, can: (capability) => held.has(capability) };
}

describe('defaultRoles', () => {
  it.each([
    ['administrator', 101],
    ['editor', 74],
    ['author', 30],
    ['contributor', 13],
    ['subscriber', 2],
  ])('gives %s %i capabilities', (role, count) => expect(Object.keys(roles.get(role)!.capabilities)).toHaveLength(count));
  it.each([
    ['administrator', 'manage_options', true],
    ['administrator', 'publish_tribe_organizers', true],
    ['editor', 'unfiltered_html', true],
    ['editor', 'manage_options', false],
    ['editor', 'delete_private_tribe_venues', true],
    ['author', 'upload_files', true],
    ['author', 'publish_tribe_events', true],
    ['author', 'edit_others_tribe_events', false],
    ['author', 'manage_categories', false],
    ['contributor', 'delete_tribe_events', true],
    ['contributor', 'publish_tribe_events', false],
    ['subscriber', 'read', true],
    ['subscriber', 'edit_tribe_events', false],
  ])('gives the role %s the capability %s: %s', (role, capability, granted) => expect(capabilities(role).has(capability)).toBe(granted));
});

describe('parseRoles', () => {
  it.each(['', 'broken', 'O:8:"stdClass":0:{}', undefined, null, 5])('reads no roles from %j', (stored) =>
    expect(parseRoles(stored).size).toBe(0),
  );
  it('accepts a parsed value', () =>
    expect(parseRoles({ guide: { name: 'Guide', capabilities: { read: true } } }).get('guide')).toEqual({
      name: 'Guide',
      capabilities: { read: true },
    }));
});

describe('userCapabilities', () => {
  it('joins the capabilities of all roles and adds the names of the roles', () => {
    const held = userCapabilities({ author: true, contributor: true }, roles);
    expect(['author', 'contributor', 'publish_tribe_events', 'exist'].every((one) => held.has(one))).toBe(true);
  });
  it('gives grants and denials of the user precedence', () => {
    const held = userCapabilities('a:3:{s:6:"author";b:1;s:12:"upload_files";b:0;s:17:"manage_categories";b:1;}', roles);
    expect([held.has('upload_files'), held.has('manage_categories'), held.has('edit_posts')]).toEqual([false, true, true]);
  });
  it('ignores roles that were removed', () => expect(userCapabilities({ author: false }, roles)).toEqual(new Set(['exist'])));
  it('lets a later role deny a capability', () => {
    const two = parseRoles({ a: { name: 'A', capabilities: { x: true, y: true } }, b: { name: 'B', capabilities: { x: false } } });
    expect([...userCapabilities({ a: true, b: true }, two)].sort()).toEqual(['a', 'b', 'exist', 'y']);
  });
  it.each([undefined, '', 'broken'])('grants only the capability exist for %j', (stored) =>
    expect(userCapabilities(stored, roles)).toEqual(new Set(['exist'])),
  );
});

describe('mapMetaCap', () => {
  const OWNER = 7;
  const STATES = ['publish', 'future', 'draft', 'pending', 'private', 'trash of publish', 'trash of draft'] as const;
  const post = (state: string) => {
    const [status, trashedFrom] = state.split(' of ');
    return { author: OWNER, status: status!, trashedFrom };
  };
  /**
   * Permissions by state, as letters: edit own, edit another's, delete own, delete another's, read own, read another's.
   */
  const MAY: Record<string, Record<(typeof STATES)[number], string>> = {
    administrator: {
      publish: 'eEdDrR',
      future: 'eEdDrR',
      draft: 'eEdDrR',
      pending: 'eEdDrR',
      private: 'eEdDrR',
      'trash of publish': 'eEdDrR',
      'trash of draft': 'eEdDrR',
    },
    editor: {
      publish: 'eEdDrR',
      future: 'eEdDrR',
      draft: 'eEdDrR',
      pending: 'eEdDrR',
      private: 'eEdDrR',
      'trash of publish': 'eEdDrR',
      'trash of draft': 'eEdDrR',
    },
    author: {
      publish: 'e-d-rR',
      future: 'e-d-r-',
      draft: 'e-d-r-',
      pending: 'e-d-r-',
      private: 'e-d-r-',
      'trash of publish': 'e-d-r-',
      'trash of draft': 'e-d-r-',
    },
    contributor: {
      publish: '----rR',
      future: '----r-',
      draft: 'e-d-r-',
      pending: 'e-d-r-',
      private: 'e-d-r-',
      'trash of publish': '----r-',
      'trash of draft': 'e-d-r-',
    },
    subscriber: {
      publish: '----rR',
      future: '----r-',
      draft: '----r-',
      pending: '----r-',
      private: '----r-',
      'trash of publish': '----r-',
      'trash of draft': '----r-',
    },
  };
  const rows = Object.entries(MAY).flatMap(([role, states]) => Object.entries(states).map(([state, may]) => [role, state, may] as const));
  it.each(rows)('gives the expected permissions: %s, %s: %s', (role, state, may) => {
    const shown = (['edit', 'delete', 'read'] as const)
      .flatMap((verb) => [
        mapMetaCap(verb, viewer(OWNER, role), post(state), 'tribe_events') ? verb[0]! : '-',
        mapMetaCap(verb, viewer(8, role), post(state), 'tribe_events') ? verb[0]!.toUpperCase() : '-',
      ])
      .join('');
    expect(shown).toBe(may);
  });

  it('lets anonymous visitors read only published posts', () => {
    expect(STATES.filter((state) => mapMetaCap('read', ANONYMOUS, post(state), 'tribe_events'))).toEqual(['publish']);
  });
  it('does not treat a post without an author as the post of an anonymous caller', () => {
    const own = (name: string) => !/_others_|_private_/.test(name);
    const viewers: readonly Viewer[] = [ANONYMOUS, { ...ANONYMOUS, can: own }];
    for (const viewer of viewers)
      for (const verb of ['read', 'edit', 'delete'] as const)
        expect(mapMetaCap(verb, viewer, { author: 0, status: 'draft' }, 'tribe_events')).toBe(false);
  });
  it('checks the capabilities of the post type', () => {
    const only: Viewer = {
      id: 8,
      login: 'x',
      can: (capability) => ['edit_others_tribe_venues', 'edit_private_tribe_venues'].includes(capability),
    };
    expect(mapMetaCap('edit', only, post('private'), 'tribe_venues')).toBe(true);
    expect(mapMetaCap('edit', only, post('publish'), 'tribe_venues')).toBe(false);
    expect(mapMetaCap('edit', only, post('private'), 'tribe_events')).toBe(false);
  });
});
