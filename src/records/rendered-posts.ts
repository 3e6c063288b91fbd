import type { PostFields, PostKind, PublishedRecord } from '../kinds/kind.ts';
import type { Bundle } from '../kinds/rendering.ts';
import type { Site } from '../site.ts';
import { addDependencies, type Dependency, termDependency } from '../storage/journal/dependencies.ts';
import type { ObjectMemory } from '../storage/journal/object-memory.ts';
import { loadBundle } from '../storage/rows/bundle.ts';
import { typedKeys } from '../typed-keys.ts';
import { mapYielding } from '../yielding.ts';
import { bundleOptions, type Caller } from './caller.ts';

/**
 * Renders the records of a list in this order; ids without a row are left out. If the answer is the same for all
 * anonymous callers (`Site.memory`), cached records are not loaded again. `expected`: ids that they are likely to refer
 * to.
 */
export async function renderedPosts<Published extends PublishedRecord>(
  site: Site,
  caller: Caller,
  kind: PostKind<PostFields, Published>,
  render: (id: number, bundle: Bundle) => Published,
  { ids, linked: expected }: { readonly ids: readonly number[]; readonly linked: readonly number[] },
): Promise<Published[]> {
  const { db, memory } = site;
  const keyOf = cacheKeyFunction(caller, kind);
  const records = new Map<number, Published>();
  for (const id of ids) {
    const known = memory?.recall(keyOf(id));
    if (!known) continue;
    addDependencies(db, known.dependencies);
    // The type holds: under the keys of a kind, only records of this kind are kept.
    records.set(id, known.value as Published);
  }
  const missing = ids.filter((id) => !records.has(id));
  if (missing.length > 0) {
    const named = missing.length === ids.length ? expected : [];
    const bundle = await loadBundle(db, kind, missing, { ...bundleOptions(caller), expected: named, memory });
    await mapYielding(missing, (id) => {
      if (bundle.posts.has(id))
        records.set(id, memory ? renderAndKeep(memory, keyOf(id), bundle, (of) => render(id, of)) : render(id, bundle));
    });
  }
  return ids.map((id) => records.get(id)).filter((record) => record !== undefined);
}

/** Renders a record, and caches it under `key` if all its dependencies are known. */
function renderAndKeep<Published>(memory: ObjectMemory, key: string, bundle: Bundle, render: (bundle: Bundle) => Published): Published {
  const tracked = trackBundle(bundle);
  const value = render(tracked.bundle);
  const dependencies = tracked.dependencies();
  if (dependencies) memory.keep(key, { value, dependencies });
  return value;
}

/** Members of a caller that may differ between anonymous callers and affect a record. */
const AFFECTS_RECORD = {
  content: true,
  language: true,
  home: true,
  namespace: true,
  uploads: true,
  free: true,
  viewer: false,
  settings: false,
  now: false,
  arrived: false,
  conditions: false,
} as const satisfies Readonly<Record<keyof Required<Caller>, boolean>>;
const KEY_MEMBERS = typedKeys(AFFECTS_RECORD).filter((member) => AFFECTS_RECORD[member]);

function cacheKeyFunction(caller: Caller, { name }: PostKind): (id: number) => string {
  const shared = JSON.stringify([name, KEY_MEMBERS.map((member) => caller[member])]);
  return (id) => `${shared} ${id}`;
}

/**
 * Wraps a bundle to record which objects are looked up in it. `dependencies` is undefined if the record depends on more
 * than these: galleries show the attachments of a post, and pages of single dates depend on several events. Such
 * records are not cached.
 */
function trackBundle(bundle: Bundle): { readonly bundle: Bundle; readonly dependencies: () => readonly Dependency[] | undefined } {
  const found = new Set<Dependency>();
  let isComplete = bundle.pages.size === 0;
  const tracking = <Found>(
    map: ReadonlyMap<number, Found>,
    note: (id: number, found: Found | undefined) => void,
  ): ReadonlyMap<number, Found> =>
    new Proxy(map, {
      get: (target, member) => {
        if (member === 'get' || member === 'has')
          return (id: number) => {
            note(id, target.get(id));
            return target[member](id);
          };
        isComplete = false;
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const noteId = (id: number): void => void found.add(id);
  const noteTerm = (id: number): void => void found.add(termDependency(id));
  const { languages } = bundle;
  const tracked: { readonly [Member in keyof Required<Bundle>]: Bundle[Member] } = {
    posts: tracking(bundle.posts, noteId),
    metas: tracking(bundle.metas, noteId),
    terms: tracking(bundle.terms, (id, terms) => {
      noteId(id);
      for (const term of terms ?? []) noteTerm(term.term_id);
    }),
    attached: tracking(bundle.attached, () => {
      isComplete = false;
    }),
    pages: tracking(bundle.pages, noteId),
    languages: languages && {
      posts: tracking(languages.posts, noteId),
      terms: tracking(languages.terms, noteTerm),
      siblings: tracking(languages.siblings, noteId),
      termMembers: tracking(languages.termMembers, noteTerm),
    },
  };
  return {
    bundle: tracked,
    dependencies: () => (isComplete ? [...found] : undefined),
  };
}
