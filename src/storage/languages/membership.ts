import { type ContentLanguages, languageOfCode, type Membership } from '../../wordpress/content-languages.ts';

/**
 * A record's group as the rest of the program sees it, from its own language and the stored members. Members of
 * languages that the site lacks do not count, and a record is a member under its own language alone, whatever the group
 * says of it.
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
