import type { PostFields, PostKind, PublishedRecord } from '../kinds/kind.ts';
import type { Bundle } from '../kinds/rendering.ts';
import { keyText } from '../memo.ts';
import type { Site } from '../site.ts';
import { addDependencies, type Dependency, termDependency } from '../storage/journal/dependencies.ts';
import type { ObjectMemory } from '../storage/journal/object-memory.ts';
import { loadBundle } from '../storage/rows/bundle.ts';
import { typedKeys } from '../typed-keys.ts';
import { mapYielding } from '../yielding.ts';
import { bundleOptions, type Caller } from './caller.ts';

/**
 * Renders the records of a list in this order; ids without a row are left out. If the answer is the same for all
 * anonymous callers (`Site.memory`), cached records are not loaded again. `linked`: ids that they are likely to refer
 * to.
 */
export async function renderedPosts<Published extends PublishedRecord>(
  site: Site,
  caller: Caller,
  kind: PostKind<PostFields, Published>,
  render: (id: number, bundle: Bundle) => Published,
  { ids, linked: linkedIds }: { readonly ids: readonly number[]; readonly linked: readonly number[] },
): Promise<Published[]> {
  const { db, memory } = site;
  const load = (missingIds: readonly number[], expected: readonly number[]) =>
    loadBundle(db, kind, missingIds, { ...bundleOptions(caller), expected, memory });
  if (!memory) {
    const bundle = await load(ids, linkedIds);
    return mapYielding(
      ids.filter((id) => bundle.posts.has(id)),
      (id) => render(id, bundle),
    );
  }
  const keyOf = cacheKeyFunction(caller, kind);
  const records = new Map<number, Published>();
  for (const id of ids) {
    const entry = memory.recall(keyOf(id));
    if (!entry) continue;
    addDependencies(db, entry.dependencies);
    // The type holds: under the keys of a kind, only records of this kind are kept.
    records.set(id, entry.value as Published);
  }
  const missingIds = ids.filter((id) => !records.has(id));
  if (missingIds.length > 0) {
    const bundle = await load(missingIds, missingIds.length === ids.length ? linkedIds : []);
    await mapYielding(missingIds, (id) => {
      if (bundle.posts.has(id))
        records.set(
          id,
          renderAndKeep(memory, keyOf(id), bundle, (trackedBundle) => render(id, trackedBundle)),
        );
    });
  }
  return ids.map((id) => records.get(id)).filter((record) => record !== undefined);
}

/** Renders a record, and caches it under `key` if all its dependencies are known. */
function renderAndKeep<Published>(memory: ObjectMemory, key: string, bundle: Bundle, render: (bundle: Bundle) => Published): Published {
  const tracker = trackBundle(bundle);
  const value = render(tracker.bundle);
  const dependencies = tracker.dependencies();
  if (dependencies) memory.keep(key, { value, dependencies });
  return value;
}

/** Members of a caller that may differ between anonymous callers and affect a record. */
const AFFECTS_RECORD = {
  content: true,
  language: true,
  recordLanguage: true,
  home: true,
  namespace: true,
  uploads: true,
  freeLabel: true,
  viewer: false,
  settings: false,
  now: false,
  receivedAt: false,
  conditions: false,
} as const satisfies Readonly<Record<keyof Required<Caller>, boolean>>;
type AffectsRecord = typeof AFFECTS_RECORD;
type KeyMember = { [Member in keyof AffectsRecord]: AffectsRecord[Member] extends true ? Member : never }[keyof AffectsRecord];
const KEY_MEMBERS = typedKeys(AFFECTS_RECORD).filter((member): member is KeyMember => AFFECTS_RECORD[member]);

function cacheKeyFunction(caller: Caller, { name }: PostKind): (id: number) => string {
  const prefix = keyText([name, KEY_MEMBERS.map((member) => caller[member])]);
  return (id) => `${prefix} ${id}`;
}

/**
 * Wraps a bundle to record which objects are looked up in it. `dependencies` is undefined if the record depends on more
 * than these: galleries show the attachments of a post, and pages of single dates depend on several events. Such
 * records are not cached.
 */
function trackBundle(bundle: Bundle): { readonly bundle: Bundle; readonly dependencies: () => readonly Dependency[] | undefined } {
  const dependencies = new Set<Dependency>();
  let isComplete = bundle.pages.size === 0;
  const track = <Found>(
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
  const noteId = (id: number): void => void dependencies.add(id);
  const noteTerm = (id: number): void => void dependencies.add(termDependency(id));
  const { languages } = bundle;
  const trackedBundle: { readonly [Member in keyof Required<Bundle>]: Bundle[Member] } = {
    posts: track(bundle.posts, noteId),
    metas: track(bundle.metas, noteId),
    terms: track(bundle.terms, (id, terms) => {
      noteId(id);
      for (const term of terms ?? []) noteTerm(term.term_id);
    }),
    attached: track(bundle.attached, () => {
      isComplete = false;
    }),
    pages: track(bundle.pages, noteId),
    languages: languages && {
      posts: track(languages.posts, noteId),
      terms: track(languages.terms, noteTerm),
      siblings: track(languages.siblings, noteId),
      termMembers: track(languages.termMembers, noteTerm),
    },
  };
  return {
    bundle: trackedBundle,
    dependencies: () => (isComplete ? [...dependencies] : undefined),
  };
}
