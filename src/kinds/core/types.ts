import { coreUrl } from '../../wordpress/links.ts';
import type { Post } from '../../wordpress/rows.ts';
import { category } from '../category.ts';
import type { Can } from '../grammars/grammar.ts';
import type { RenderContext } from '../rendering.ts';
import { tag } from '../tag.ts';
import { BLOG_BASES } from './blog.ts';
import { postLabels, type Say, termLabels } from './labels.ts';
import { blogCategory, type CoreTaxonomy } from './term.ts';
import { CURIES, EDIT_ONLY, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

type UrlContext = Pick<RenderContext, 'home' | 'settings'>;

/** A post type as WordPress's own routes show it. */
interface CoreType {
  readonly slug: string;
  readonly restBase: string;
  readonly icon: string | null;
  readonly hasArchive: boolean;
  /** Whether posts of the type have parents. */
  readonly hierarchical?: true;
  readonly taxonomies: readonly string[];
  /** Blocks that a new post starts with in the editor. */
  readonly template: (say: Say) => readonly unknown[];
  /** Singular and plural words in its capabilities. */
  readonly capability: readonly [string, string];
  /** The capability to create one, if it is not the one to edit them. */
  readonly creates?: string;
  readonly viewable: boolean;
  readonly inMenus: boolean;
  /** Whether events link to posts of this type. */
  readonly isLinked: boolean;
  readonly supports: readonly string[];
}

/** Features of the editor for events; below, those for venues and organizers. */
const EVENT_SUPPORTS = ['title', 'editor', 'excerpt', 'author', 'thumbnail', 'revisions', 'autosave', 'custom-fields'];
const LINKED_SUPPORTS = ['title', 'editor', 'revisions', 'custom-fields', 'excerpt', 'author', 'thumbnail', 'autosave'];
const noTemplate = () => [];
const LINKED_TYPE = {
  icon: null,
  hasArchive: false,
  taxonomies: [],
  template: noTemplate,
  viewable: false,
  inMenus: false,
  isLinked: true,
  supports: LINKED_SUPPORTS,
};

const eventTemplate = (say: Say) => [
  ['tribe/event-datetime'],
  ['core/paragraph', { placeholder: say('words.description-hint') }],
  ...['price', 'organizer', 'venue', 'website', 'links'].map((name) => [`tribe/event-${name}`]),
];

/** Blog posts and pages. */
const BLOG_TYPE = { hasArchive: false, template: noTemplate, viewable: true, inMenus: true, isLinked: false };
const BLOG_SUPPORTS = ['title', 'editor', 'author', 'thumbnail', 'custom-fields', 'comments', 'revisions', 'autosave'];

const TYPES: readonly CoreType[] = [
  {
    ...BLOG_TYPE,
    slug: 'post',
    restBase: BLOG_BASES.post,
    icon: 'dashicons-admin-post',
    taxonomies: ['category', 'post_tag'],
    capability: ['post', 'posts'],
    supports: [...BLOG_SUPPORTS, 'excerpt', 'trackbacks', 'post-formats'],
  },
  {
    ...BLOG_TYPE,
    slug: 'page',
    restBase: BLOG_BASES.page,
    icon: 'dashicons-admin-page',
    hierarchical: true,
    taxonomies: [],
    capability: ['page', 'pages'],
    supports: [...BLOG_SUPPORTS, 'page-attributes'],
  },
  {
    slug: 'attachment',
    restBase: 'media',
    icon: 'dashicons-admin-media',
    hasArchive: false,
    taxonomies: [],
    template: noTemplate,
    capability: ['post', 'posts'],
    creates: 'upload_files',
    viewable: true,
    inMenus: false,
    isLinked: false,
    supports: ['title', 'author', 'comments'],
  },
  { ...LINKED_TYPE, slug: 'tribe_venue', restBase: 'tribe_venue', capability: ['tribe_venue', 'tribe_venues'] },
  { ...LINKED_TYPE, slug: 'tribe_organizer', restBase: 'tribe_organizer', capability: ['tribe_organizer', 'tribe_organizers'] },
  {
    slug: 'tribe_events',
    restBase: 'tribe_events',
    icon: 'dashicons-calendar-alt',
    hasArchive: true,
    taxonomies: ['post_tag', 'tribe_events_cat'],
    template: eventTemplate,
    capability: ['tribe_event', 'tribe_events'],
    viewable: true,
    inMenus: true,
    isLinked: false,
    supports: EVENT_SUPPORTS,
  },
];

/**
 * A taxonomy as WordPress's own routes show it. `hasColumn`: lists of posts in the admin area have a column of its
 * terms.
 */
interface ShownTaxonomy {
  readonly kind: CoreTaxonomy;
  readonly types: readonly string[];
  readonly capabilities: Readonly<Record<string, string>>;
  /** The capability that `assign_terms` stands for (`map_meta_cap`). */
  readonly assigns: string;
  readonly hasColumn: boolean;
}

const TAXONOMIES: readonly ShownTaxonomy[] = [
  {
    kind: blogCategory,
    types: ['post'],
    capabilities: {
      manage_terms: 'manage_categories',
      edit_terms: 'edit_categories',
      delete_terms: 'delete_categories',
      assign_terms: 'assign_categories',
    },
    assigns: 'edit_posts',
    hasColumn: true,
  },
  {
    kind: tag,
    types: ['post', 'tribe_events', 'tec_calendar_embed'],
    capabilities: {
      manage_terms: 'manage_post_tags',
      edit_terms: 'edit_post_tags',
      delete_terms: 'delete_post_tags',
      assign_terms: 'assign_post_tags',
    },
    assigns: tag.coreCapabilities.assign,
    hasColumn: true,
  },
  {
    kind: category,
    types: ['tribe_events', 'tec_calendar_embed'],
    capabilities: {
      manage_terms: 'publish_tribe_events',
      edit_terms: 'publish_tribe_events',
      delete_terms: 'publish_tribe_events',
      assign_terms: 'edit_tribe_events',
    },
    assigns: category.coreCapabilities.assign,
    hasColumn: false,
  },
];

/** Returns the route of a post in `wp/v2`, whatever its type (`rest_get_route_for_post`). */
export const routeOfPost = ({ post_type: type, ID: id }: Pick<Post, 'post_type' | 'ID'>): string =>
  `${TYPES.find(({ slug }) => slug === type)?.restBase ?? type}/${id}`;

/** Returns whether posts of a type can have terms of a taxonomy (`is_object_in_taxonomy`). */
export const carriesTerms = (postType: string, taxonomy: string): boolean =>
  TAXONOMIES.some(({ kind, types }) => kind.taxonomy === taxonomy && types.includes(postType));

/** Returns the slugs of the types that a caller may see for editing: those whose posts the caller may edit. */
export const editableTypes = (can: Can): string[] => TYPES.filter(({ capability: [, all] }) => can(`edit_${all}`)).map(({ slug }) => slug);

/**
 * Returns the slugs of the taxonomies that a caller may see for editing: those whose terms the caller may assign.
 * `type`: only those of this post type.
 */
export const editableTaxonomies = (can: Can, type?: string): string[] =>
  taxonomiesOf(type)
    .filter(({ assigns }) => can(assigns))
    .map(({ kind: { taxonomy } }) => taxonomy);

/** Returns the taxonomies of a post type, or all of them. */
const taxonomiesOf = (type: string | undefined): readonly ShownTaxonomy[] =>
  TAXONOMIES.filter(({ types: of }) => type === undefined || of.includes(type));

const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  description: VIEW_AND_EDIT, hierarchical: VIEW_AND_EDIT, has_archive: VIEW_AND_EDIT, taxonomies: VIEW_AND_EDIT, types: VIEW_AND_EDIT, capabilities: EDIT_ONLY, visibility: EDIT_ONLY, viewable: EDIT_ONLY,
  labels: EDIT_ONLY, supports: EDIT_ONLY, show_cloud: EDIT_ONLY,
}; // biome-ignore format: pairs

/** Returns the post types that are served, by slug (`WP_REST_Post_Types_Controller::prepare_item_for_response`). */
export function coreTypes(context: UrlContext, view: View, say: Say): ReadonlyMap<string, Record<string, unknown>> {
  return new Map(
    TYPES.map((type) => {
      const { slug, restBase, icon, hasArchive, hierarchical = false, taxonomies, template } = type;
      const record = {
        capabilities: capabilitiesOf(type),
        description: '',
        hierarchical,
        has_archive: hasArchive,
        visibility: { show_in_nav_menus: type.inMenus, show_ui: true },
        viewable: type.viewable,
        labels: postLabels(slug, say, { isLinked: type.isLinked, hierarchical }),
        name: say(`words.${slug}`),
        slug,
        icon,
        supports: Object.fromEntries(type.supports.map((name) => [name, true])),
        taxonomies,
        rest_base: restBase,
        rest_namespace: 'wp/v2',
        template: template(say),
        template_lock: false,
      };
      return [slug, { ...membersInView(record, view, MEMBER_VIEWS), _links: links(context, 'types', restBase) }];
    }),
  );
}

/** Returns the capabilities of a type, by what they allow (`get_post_type_capabilities`). */
function capabilitiesOf({ capability: [singular, plural], creates = `edit_${plural}` }: CoreType): Readonly<Record<string, string>> {
  return {
    edit_post: `edit_${singular}`,
    read_post: `read_${singular}`,
    delete_post: `delete_${singular}`,
    edit_posts: `edit_${plural}`,
    edit_others_posts: `edit_others_${plural}`,
    delete_posts: `delete_${plural}`,
    publish_posts: `publish_${plural}`,
    read_private_posts: `read_private_${plural}`,
    read: 'read',
    delete_private_posts: `delete_private_${plural}`,
    delete_published_posts: `delete_published_${plural}`,
    delete_others_posts: `delete_others_${plural}`,
    edit_private_posts: `edit_private_${plural}`,
    edit_published_posts: `edit_published_${plural}`,
    create_posts: creates,
  };
}

/**
 * Returns the taxonomies that are served, by slug (`WP_REST_Taxonomies_Controller::prepare_item_for_response`). `type`:
 * only those of this post type.
 */
export function coreTaxonomies(context: UrlContext, view: View, say: Say, type?: string): ReadonlyMap<string, Record<string, unknown>> {
  return new Map(
    taxonomiesOf(type).map(({ kind: { taxonomy: slug, restBase, hierarchical }, types: typeNames, capabilities, hasColumn }) => {
      const record = {
        name: say(`words.${slug}`),
        slug,
        capabilities,
        description: '',
        labels: termLabels(slug, say, hierarchical),
        types: typeNames,
        show_cloud: true,
        hierarchical,
        rest_base: restBase,
        rest_namespace: 'wp/v2',
        visibility: { ...VISIBILITY, show_admin_column: hasColumn },
      };
      return [slug, { ...membersInView(record, view, MEMBER_VIEWS), _links: links(context, 'taxonomies', restBase) }];
    }),
  );
}

/** Visibility of taxonomies: they are visible everywhere. */
const VISIBILITY = { public: true, publicly_queryable: true, show_in_nav_menus: true, show_in_quick_edit: true, show_ui: true };

const links = (context: UrlContext, collection: string, items: string) => ({
  collection: [{ href: coreUrl(context, collection) }],
  'wp:items': [{ href: coreUrl(context, items) }],
  curies: CURIES,
});
