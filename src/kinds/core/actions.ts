import type { Can } from '../grammars/grammar.ts';
import type { PostKind } from '../kind.ts';
import { coreTerms } from './term.ts';

/**
 * Returns the actions that the caller may take on a record in the editing form, as names of its links
 * (`WP_REST_Posts_Controller::get_available_actions`). Only that form shows them.
 */
export function postActions(kind: Pick<PostKind, 'capabilities' | 'terms'>, can: Can): string[] {
  return [
    ...(can(`publish_${kind.capabilities}`) ? ['publish'] : []),
    ...authorActions(can, kind.capabilities),
    ...coreTerms(kind).flatMap(({ coreCapabilities, restBase }) => [
      ...(can(coreCapabilities.create) ? [`create-${restBase}`] : []),
      ...(can(coreCapabilities.assign) ? [`assign-${restBase}`] : []),
    ]),
  ];
}

/** Actions for a file of the library. */
export const fileActions = (can: Can): string[] => authorActions(can, 'posts');

const authorActions = (can: Can, capabilities: string): string[] => [
  ...(can('unfiltered_html') ? ['unfiltered-html'] : []),
  ...(can(`edit_others_${capabilities}`) ? ['assign-author'] : []),
];

/** The links for these actions; `href`: the URL of the record. */
export const actionLinks = (actions: readonly string[], href: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(actions.map((name) => [`wp:action-${name}`, [{ href }]]));
