import { serializedMembers } from '../wordpress/php/serialized.ts';
import { tableOf } from '../wordpress/table.ts';
import { CALENDAR_OPTION } from './settings.ts';

/**
 * The option with WordPress's rules for addresses, which it makes anew when the option is empty
 * (`WP_Rewrite::wp_rewrite_rules`). Until then it does not find pages at addresses that follow from other settings.
 */
export const ADDRESS_RULES_OPTION = 'rewrite_rules';

/** The options from which the rules are made, and the members of those that are arrays. */
const RULE_SOURCES = tableOf<'whole' | readonly string[]>({
  permalink_structure: 'whole',
  category_base: 'whole',
  tag_base: 'whole',
  [CALENDAR_OPTION]: ['eventsSlug', 'singleEventSlug'],
});

/** Returns whether WordPress's rules for addresses depend on an option. */
export const isRuleSource = (name: string): boolean => RULE_SOURCES.has(name);

/** Returns whether WordPress's rules for addresses change with an option. `before`, `after`: its values as stored. */
export function changesRules(name: string, before: string, after: string): boolean {
  const members = RULE_SOURCES.get(name);
  if (members === undefined || before === after) return false;
  if (members === 'whole') return true;
  const [old, present] = [serializedMembers(before), serializedMembers(after)];
  return members.some((member) => old[member] !== present[member]);
}
