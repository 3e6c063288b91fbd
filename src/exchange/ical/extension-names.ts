/** Property with the value of one of the site's own fields. */
export const CUSTOM_FIELD_PROPERTY = 'x-fasti-field';

/** Parameter with the name of such a field, or with the name of a contact or venue if it contains a comma. */
export const NAME_PARAMETER = 'x-name';
