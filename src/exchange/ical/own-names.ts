/** The property in which a calendar says what a site's own fields hold. */
export const CUSTOM_FIELD = 'x-fasti-field';

/** The parameter with the name of such a field, and with that of a contact or a place whose name has a comma. */
export const OWN_NAME = 'x-name';
