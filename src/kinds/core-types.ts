import { restUrl } from '../wordpress/links.ts';
import { category } from './category.ts';
import { CURIES, inView, type View, WHOLE } from './core-view.ts';
import type { RenderContext, TermKind } from './kind.ts';
import { tag } from './tag.ts';

type Place = Pick<RenderContext, 'home' | 'settings'>;
/** A word in the caller's language. */
type Say = (name: string) => string;

/** A type of posts as WordPress's own routes tell it. `words`: the name of the texts of its name. */
interface CoreType {
  readonly slug: string;
  readonly restBase: string;
  readonly icon: string | null;
  readonly hasArchive: boolean;
  readonly taxonomies: readonly string[];
  readonly template: readonly unknown[];
}

/** Blocks that the calendar's editor begins with. */
const eventTemplate = (say: Say) => [
  ['tribe/event-datetime'],
  ['core/paragraph', { placeholder: say('description-hint') }],
  ...['price', 'organizer', 'venue', 'website', 'links'].map((name) => [`tribe/event-${name}`]),
];

const types = (say: Say): readonly CoreType[] => [
  { slug: 'attachment', restBase: 'media', icon: 'dashicons-admin-media', hasArchive: false, taxonomies: [], template: [] },
  { slug: 'tribe_venue', restBase: 'tribe_venue', icon: null, hasArchive: false, taxonomies: [], template: [] },
  { slug: 'tribe_organizer', restBase: 'tribe_organizer', icon: null, hasArchive: false, taxonomies: [], template: [] },
  {
    slug: 'tribe_events',
    restBase: 'tribe_events',
    icon: 'dashicons-calendar-alt',
    hasArchive: true,
    taxonomies: ['post_tag', 'tribe_events_cat'],
    template: eventTemplate(say),
  },
];

const TAXONOMIES: readonly { readonly kind: TermKind; readonly types: readonly string[] }[] = [
  { kind: tag, types: ['post', 'tribe_events', 'tec_calendar_embed'] },
  { kind: category, types: ['tribe_events', 'tec_calendar_embed'] },
];

const SHOWN: Readonly<Record<string, readonly View[]>> = {
  description: WHOLE, hierarchical: WHOLE, has_archive: WHOLE, taxonomies: WHOLE, template: WHOLE, template_lock: WHOLE, types: WHOLE,
}; // biome-ignore format: pairs

/** The types of posts that are served, by slug (`WP_REST_Post_Types_Controller::prepare_item_for_response`). */
export function coreTypes(place: Place, view: View, say: Say): ReadonlyMap<string, Record<string, unknown>> {
  return new Map(
    types(say).map(({ slug, restBase, icon, hasArchive, taxonomies, template }) => {
      const record = {
        description: '',
        hierarchical: false,
        has_archive: hasArchive,
        name: say(slug),
        slug,
        icon,
        taxonomies,
        rest_base: restBase,
        rest_namespace: 'wp/v2',
        template,
        template_lock: false,
      };
      return [slug, { ...inView(record, view, SHOWN), _links: links(place, 'types', restBase) }];
    }),
  );
}

/** The taxonomies that are served, by slug (`WP_REST_Taxonomies_Controller::prepare_item_for_response`). `type`: of this type of posts alone. */
export function coreTaxonomies(place: Place, view: View, say: Say, type?: string): ReadonlyMap<string, Record<string, unknown>> {
  const wanted = TAXONOMIES.filter(({ types: of }) => type === undefined || of.includes(type));
  return new Map(
    wanted.map(({ kind: { taxonomy: slug, restBase, hierarchical }, types: of }) => {
      const record = { name: say(slug), slug, description: '', types: of, hierarchical, rest_base: restBase, rest_namespace: 'wp/v2' };
      return [slug, { ...inView(record, view, SHOWN), _links: links(place, 'taxonomies', restBase) }];
    }),
  );
}

const links = (place: Place, collection: string, items: string) => ({
  collection: [{ href: restUrl(place, `wp/v2/${collection}`) }],
  'wp:items': [{ href: restUrl(place, `wp/v2/${items}`) }],
  curies: CURIES,
});
