/** How a calendar says what a site's own fields hold: the property, and the parameter with the name of the field. */
export const CUSTOM_FIELD = { property: 'x-fasti-field', name: 'x-name' } as const;
