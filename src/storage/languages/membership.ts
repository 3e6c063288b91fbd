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
  const ownCode = languageOfCode(languages, code)?.code;
  if (ownCode === undefined) return { language: null, members: new Map() };
  const members = languages.languages.flatMap((language) => {
    const member = language.code === ownCode ? id : stored.get(language.code);
    return member === undefined || (member === id && language.code !== ownCode) ? [] : [[language.code, member] as const];
  });
  return { language: ownCode, members: new Map(members) };
}
