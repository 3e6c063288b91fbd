/** Columns of posts that contain texts of users. */
export const TEXT_COLUMNS = ['post_title', 'post_content', 'post_excerpt'] as const;

const TEXT_METAS =
  /^_(Event|Venue|Organizer)(URL|Website|Cost|Currency\w+|Phone|Email|Address|City|State|Province|StateProvince|Country|Zip|TimezoneAbbr)$|^_ecp_custom|^_fasti_suggestion$|alt$/;

/** Whether a meta contains a text of a user. */
export const isTextMeta = (key: string): boolean => TEXT_METAS.test(key);
