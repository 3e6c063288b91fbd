import type { Can } from '../grammars/grammar.ts';
import type { PostKind } from '../kind.ts';
import { coreTerms } from './term.ts';

/**
 * What a caller may do to a record in the form for editing, by the names of its links
 * (`WP_REST_Posts_Controller::get_available_actions`). They are shown there alone.
 */
export function postActions(kind: Pick<PostKind, 'capabilities' | 'terms'>, can: Can): string[] {
  return [
    ...(can(`publish_${kind.capabilities}`) ? ['publish'] : []),
    ...authoring(can, kind.capabilities),
    ...coreTerms(kind).flatMap(({ inCore, restBase }) => [
      ...(can(inCore.create) ? [`create-${restBase}`] : []),
      ...(can(inCore.assign) ? [`assign-${restBase}`] : []),
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
