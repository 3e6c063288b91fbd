type Json = Record<string, unknown>;

/**
 * Converts JSON Schema to OpenAPI 3.0, which allows one type only; several become alternatives, and the type `null`
 * becomes the mark `nullable` of each of them ("Schema Object"). WordPress marks each member as required or not, and
 * writes an object without members as an empty list.
 */
export function schemaOf(schema: Readonly<Json>): Json {
  const { type, items, properties, additionalProperties: otherMembers, ...rest } = schema;
  const members = Array.isArray(properties) ? [] : Object.entries((properties ?? {}) as Record<string, Json>);
  const requiredNames = members.filter(([, member]) => member.required === true).map(([name]) => name);
  const itemParts = items === undefined ? {} : { items: schemaOf(items as Json) };
  const memberParts = {
    ...(members.length > 0
      ? { properties: Object.fromEntries(members.map(([name, { required: _, ...member }]) => [name, schemaOf(member)])) }
      : {}),
    ...(requiredNames.length > 0 ? { required: requiredNames } : {}),
    ...(otherMembers === undefined
      ? {}
      : { additionalProperties: typeof otherMembers === 'object' ? schemaOf(otherMembers as Json) : otherMembers }),
  };
  if (!Array.isArray(type)) return { ...(type === undefined ? {} : { type }), ...itemParts, ...memberParts, ...rest };
  const nullable = type.includes('null') ? { nullable: true } : {};
  const alternatives = type
    .filter((one: string) => one !== 'null')
    .map((one: string) => ({
      type: one,
      ...nullable,
      // An array must say what it contains.
      ...(one === 'array' ? { items: {}, ...itemParts } : one === 'object' ? memberParts : {}),
    }));
  return { ...(alternatives.length === 1 ? alternatives[0] : { anyOf: alternatives }), ...rest };
}
