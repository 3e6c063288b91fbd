import type { Can } from '../grammars/grammar.ts';
import type { PostKind } from '../kind.ts';
import type { TermKindName } from '../kind-names.ts';
import { coreTerms } from './term.ts';

/**
 * What it takes to make new terms and to give a record existing ones (`register_taxonomy`). Whoever may give a record
 * tags may make new ones for it (`WP_REST_Terms_Controller::create_item_permissions_check`).
 */
export const TERM_RIGHTS: Readonly<Record<TermKindName, { readonly create: string; readonly assign: string }>> = {
  category: { create: 'publish_tribe_events', assign: 'edit_tribe_events' },
  tag: { create: 'edit_posts', assign: 'edit_posts' },
};

/**
 * What a caller may do to a record in the form for editing, by the names of its links
 * (`WP_REST_Posts_Controller::get_available_actions`). They are shown there alone.
 */
export function postActions(kind: Pick<PostKind, 'capabilities' | 'terms'>, can: Can): string[] {
  return [
    ...(can(`publish_${kind.capabilities}`) ? ['publish'] : []),
    ...authoring(can, kind.capabilities),
    ...coreTerms(kind).flatMap(({ name, restBase }) => [
      ...(can(TERM_RIGHTS[name].create) ? [`create-${restBase}`] : []),
      ...(can(TERM_RIGHTS[name].assign) ? [`assign-${restBase}`] : []),
    ]),
  ];
}

/** The same of a file of the library. */
export const fileActions = (can: Can): string[] => authoring(can, 'posts');

const authoring = (can: Can, capabilities: string): string[] => [
  ...(can('unfiltered_html') ? ['unfiltered-html'] : []),
  ...(can(`edit_others_${capabilities}`) ? ['assign-author'] : []),
];

/** The links that stand for them; `href`: the address of the record. */
export const actionLinks = (actions: readonly string[], href: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(actions.map((name) => [`wp:action-${name}`, [{ href }]]));
