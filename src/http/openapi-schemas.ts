import { z } from 'zod';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { languageShape } from '../kinds/shapes.ts';
import type { Say } from '../texts.ts';
import { tableOf } from '../wordpress/table.ts';
import type { Route } from './route.ts';

/** A part of the document. */
export type Json = Record<string, unknown>;

/**
 * Types that the reference's own document declares for its records, although its answers differ. Clients have been
 * generated from that document, so these schemas keep their names and types. The true shapes are published beside them
 * as `EventRecord` and so on, and the paths refer to those.
 */
const REFERENCE_TYPES: ReadonlyMap<string, Readonly<Record<string, string>>> = tableOf({
  CostDetails: { 'currency_position ': 'string' },
  Term: { urls: 'array' },
  Image: { sizes: 'array' },
  DateDetails: { year: 'integer', month: 'integer', day: 'integer', hour: 'integer', minutes: 'integer', seconds: 'integer' },
  Event: {
    author: 'integer',
    image: 'object',
    start_date_details: 'array',
    end_date_details: 'array',
    utc_start_date_details: 'array',
    utc_end_date_details: 'array',
    cost_details: 'array',
    venue: 'object',
  },
  Venue: { author: 'integer', image: 'string' },
  Organizer: { author: 'integer', image: 'string' },
});

/** Refers to a component of the document: `schemas/Event`. */
export const ref = (name: string) => ({ $ref: `#/components/${name}` });

interface ObjectSchema extends Json {
  readonly properties?: Readonly<Record<string, Json>>;
}

/** Returns the name under which a shape is declared. */
export const idOf = (shape: z.ZodType): string => String(shape.meta()?.id);
/** Returns the name of the schema of a kind's records as they are served. */
export const recordName = (kind: Kind) => servedName(idOf(kind.record));
const servedName = (id: string) => (REFERENCE_TYPES.has(id) ? `${id}Record` : id);
const groupOf = (id: string) => id.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase();

/** Returns the shapes of the answers that hold no records of a kind. */
export const answerShapes = (routes: readonly Route[]): z.ZodObject[] =>
  routes.flatMap(({ endpoints }) => endpoints.flatMap(({ answer }) => answer ?? []));

/** Returns all schemas: true shapes of the answers, shapes of the earlier document, and the shape of an error. */
export function schemas(say: Say, answers: readonly z.ZodObject[], languages: boolean): Json {
  const shapes = Object.entries(publishedShapes(answers, languages));
  const describedShapes = shapes.map(([id, schema]) => [id, withDescriptions(id, schema, say)] as const);
  const referenceSchemas = describedShapes
    .filter(([id]) => REFERENCE_TYPES.has(id))
    .map(([id, schema]) => [id, referenceSchema(id, schema, say)]);
  return {
    ...Object.fromEntries(referenceSchemas),
    ...Object.fromEntries(describedShapes.map(([id, schema]) => [servedName(id), schema])),
    Error: errorSchema(say),
  };
}

/**
 * Returns the schemas of the records of all kinds, of the other answers, and of their parts, by the ids of their
 * shapes. `languages`: whether the content has languages.
 */
function publishedShapes(answers: readonly z.ZodObject[], languages: boolean): Record<string, ObjectSchema> {
  const allShapes = z.object(Object.fromEntries([...kinds.map((kind) => kind.record), ...answers].map((shape) => [idOf(shape), shape])));
  const { definitions } = z.toJSONSchema(allShapes, {
    target: 'openapi-3.0',
    override: ({ jsonSchema }) => withoutSafeRange(jsonSchema),
  }) as {
    definitions?: unknown;
  };
  const renamedJson = JSON.stringify(definitions).replace(/"#\/definitions\/(\w+)"/g, (_, id: string) =>
    JSON.stringify(ref(`schemas/${servedName(id)}`).$ref),
  );
  const shapes = JSON.parse(renamedJson) as Record<string, ObjectSchema>;
  return languages
    ? shapes
    : Object.fromEntries(
        Object.entries(shapes).flatMap(([id, shape]) => (id === TRANSLATION ? [] : [[id, withoutLanguageMembers(shape)]])),
      );
}

/** The shape id of a translation in a record. */
const TRANSLATION = 'Translation';

const withoutLanguageMembers = (shape: ObjectSchema): ObjectSchema =>
  shape.properties
    ? { ...shape, properties: Object.fromEntries(Object.entries(shape.properties).filter(([name]) => !Object.hasOwn(languageShape, name))) }
    : shape;

/** Removes the limits of JavaScript's safe integers, which say nothing about the records. */
function withoutSafeRange(schema: Json): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

function withDescriptions(id: string, schema: ObjectSchema, say: Say): ObjectSchema {
  if (!schema.properties) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const description = say(memberTextKeys(id, name));
    return [name, '$ref' in property ? { allOf: [property], description } : { ...property, description }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Returns the keys of the sentences that may describe a member of a record, most specific first. */
function memberTextKeys(id: string, name: string): string[] {
  return [`fields:${groupOf(id)}.${name}`, `fields:common.${name}`];
}

function referenceSchema(id: string, { properties = {} }: ObjectSchema, say: Say): Json {
  const types = REFERENCE_TYPES.get(id) ?? {};
  const members = [...Object.keys(properties), ...Object.keys(types).filter((name) => !(name in properties))].flatMap((name) => {
    const type = types[name] ?? properties[name]?.type;
    const description = properties[name]?.description ?? say(memberTextKeys(id, name.trim()));
    return type === undefined ? [] : [[name, { type, ...(type === 'array' ? { items: {} } : {}), description }]];
  });
  return {
    type: 'object',
    deprecated: true,
    description: say('site:doc-earlier', { name: servedName(id) }),
    properties: Object.fromEntries(members),
  };
}

/** Returns the schema of the body of an error. */
function errorSchema(say: Say): Json {
  return {
    type: 'object',
    properties: {
      code: { type: 'string', description: say('fields:error.code') },
      message: { type: 'string', description: say('fields:error.message') },
      data: { type: 'object', nullable: true, properties: { status: { type: 'integer' } }, description: say('fields:error.data') },
    },
    required: ['code', 'message'],
  };
}
