import { type ContentLanguages, languageOfCode, type Membership } from '../../wordpress/content-languages.ts';

/**
 * Returns a record's group as used by the rest of the program, from its own language and the stored members. Members in
 * languages that the site does not have are ignored. A record is a member only in its own language, whatever the group
 * contains.
 */
export function membershipOf(
  languages: ContentLanguages,
  id: number,
  code: string | undefined,
  stored: ReadonlyMap<string, number>,
): Membership {
  const own = languageOfCode(languages, code)?.code;
  if (own === undefined) return { language: null, members: new Map() };
  const members = languages.languages.flatMap((language) => {
    const member = language.code === own ? id : stored.get(language.code);
    return member === undefined || (member === id && language.code !== own) ? [] : [[language.code, member] as const];
  });
  return { language: own, members: new Map(members) };
}
