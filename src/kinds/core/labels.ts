import { tableOf } from '../../wordpress/table.ts';

/** Names of the labels of post types (`get_post_type_labels`), in WordPress's order. */
const POST_LABELS = [
  'name', 'singular_name', 'add_new', 'add_new_item', 'edit_item', 'new_item', 'view_item', 'view_items', 'search_items', 'not_found', 'not_found_in_trash', 'parent_item_colon', 'all_items', 'archives', 'attributes', 'insert_into_item', 'uploaded_to_this_item', 'featured_image', 'set_featured_image', 'remove_featured_image', 'use_featured_image', 'filter_items_list', 'filter_by_date', 'items_list_navigation', 'items_list', 'item_published', 'item_published_privately', 'item_reverted_to_draft', 'item_trashed', 'item_scheduled', 'item_updated', 'item_link', 'item_link_description', 'menu_name', 'singular_name_lowercase', 'plural_name_lowercase', 'name_admin_bar', 'template_name',
] as const; // biome-ignore format: a list of names

/** Names of the labels of taxonomies (`get_taxonomy_labels`). */
const TERM_LABELS = [
  'name', 'singular_name', 'search_items', 'popular_items', 'all_items', 'parent_item', 'parent_item_colon', 'name_field_description', 'slug_field_description', 'parent_field_description', 'desc_field_description', 'edit_item', 'view_item', 'update_item', 'add_new_item', 'new_item_name', 'separate_items_with_commas', 'add_or_remove_items', 'choose_from_most_used', 'not_found', 'no_terms', 'filter_by_item', 'items_list_navigation', 'items_list', 'most_used', 'back_to_items', 'item_link', 'item_link_description', 'menu_name', 'name_admin_bar', 'archives', 'template_name',
] as const; // biome-ignore format: a list of names

/** Labels that only venues and organizers have. */
const LINKED_ONLY_LABELS: ReadonlySet<string> = new Set(['singular_name_lowercase', 'plural_name_lowercase']);
/** Labels that are null for flat taxonomies (`HIERARCHICAL_ONLY_LABELS`) or hierarchical ones (`FLAT_ONLY_LABELS`). */
const HIERARCHICAL_ONLY_LABELS: ReadonlySet<string> = new Set([
  'parent_item',
  'parent_item_colon',
  'parent_field_description',
  'filter_by_item',
]);
const FLAT_ONLY_LABELS: ReadonlySet<string> = new Set([
  'popular_items',
  'separate_items_with_commas',
  'add_or_remove_items',
  'choose_from_most_used',
]);

/** A sentence of the group `site` in the caller's language, by its key. */
export type Say = (key: string, words?: Readonly<Record<string, string>>) => string;
type Labels = Readonly<Record<string, string | null>>;

/** Properties of a post type. `isLinked`: it is that of venues or organizers; `hierarchical`: posts have parents. */
interface LabelOptions {
  readonly isLinked: boolean;
  readonly hierarchical: boolean;
}

/** Returns the labels of a post type. */
export function postLabels(slug: string, say: Say, { isLinked, hierarchical }: LabelOptions): Labels {
  const words = wordsOf(slug, say);
  const labelNames = POST_LABELS.filter((name) => isLinked || !LINKED_ONLY_LABELS.has(name));
  const label = (name: string) =>
    name === 'parent_item_colon' && !hierarchical ? null : (words.names.get(name) ?? say(`post-labels.${name}`, words.texts));
  return Object.fromEntries(labelNames.map((name) => [name, label(name)]));
}

/** Returns the labels of a taxonomy. */
export function termLabels(slug: string, say: Say, hierarchical: boolean): Labels {
  const words = wordsOf(slug, say);
  const nullLabels = hierarchical ? FLAT_ONLY_LABELS : HIERARCHICAL_ONLY_LABELS;
  const label = (name: string) => (nullLabels.has(name) ? null : (words.names.get(name) ?? say(`term-labels.${name}`, words.texts)));
  return Object.fromEntries(TERM_LABELS.map((name) => [name, label(name)]));
}

/**
 * Returns the singular and plural name of a type: as words for the sentences of its labels, and as the labels that
 * consist of these words alone.
 */
function wordsOf(slug: string, say: Say) {
  const [singular, plural] = [say(`singular.${slug}`), say(`words.${slug}`)];
  const names: ReadonlyMap<string, string> = tableOf({
    name: plural,
    singular_name: singular,
    menu_name: plural,
    singular_name_lowercase: singular.toLowerCase(),
    plural_name_lowercase: plural.toLowerCase(),
    name_admin_bar: singular,
  });
  return { texts: { singular, plural }, names };
}
