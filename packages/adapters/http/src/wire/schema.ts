/** JSON Schema 2020-12, as used by OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Combinable response schema, for example `fields({ members: listOf(integer()) })`. Responses have no other fields,
 * because strict clients reject them.
 */
export interface WireSchema<T> {
  readonly json: JsonSchema;
  /** Type marker for `WireOf`; never set. */
  readonly type?: T;
}

export type WireOf<S> = S extends WireSchema<infer T> ? T : never;

interface OptionalField<T> {
  readonly optional: WireSchema<T>;
}

/** Fields of an object by name. */
export type Shape = Readonly<Record<string, WireSchema<unknown> | OptionalField<unknown>>>;
/** Schemas by name. */
export type Schemas = Readonly<Record<string, WireSchema<unknown>>>;
type OptionalNames<S extends Shape> = { [K in keyof S]: S[K] extends OptionalField<unknown> ? K : never }[keyof S];
type ObjectOf<S extends Shape> = {
  readonly [K in Exclude<keyof S, OptionalNames<S>>]: S[K] extends WireSchema<infer T> ? T : never;
} & { readonly [K in OptionalNames<S>]?: S[K] extends OptionalField<infer T> ? T : never };

const schema = <T>(json: JsonSchema): WireSchema<T> => ({ json });

export const text = (): WireSchema<string> => schema({ type: 'string' });
export const integer = (): WireSchema<number> => schema({ type: 'integer', format: 'int64' });
export const number = (): WireSchema<number> => schema({ type: 'number' });
export const boolean = (): WireSchema<boolean> => schema({ type: 'boolean' });
export const oneOf = <const V extends string | number | boolean>(...values: readonly V[]): WireSchema<V> =>
  // Generators reject `enum` for booleans.
  schema(typeof values[0] === 'boolean' && values.length === 1 ? { const: values[0] } : { enum: values });
/** Value left open by the contract. */
export const anything = (): WireSchema<unknown> => schema({});

export const nullable = <T>({ json }: WireSchema<T>): WireSchema<T | null> =>
  schema(typeof json.type === 'string' ? { ...json, type: [json.type, 'null'] } : { anyOf: [json, { type: 'null' }] });

export const listOf = <T>(items: WireSchema<T>): WireSchema<readonly T[]> =>
  schema({ type: 'array', items: items.json });

/** Dictionary keyed by name or id. */
export const dictionaryOf = <T>(values: WireSchema<T>): WireSchema<Readonly<Record<string, T>>> =>
  schema({ type: 'object', additionalProperties: values.json });

export const anyOf = <T extends readonly WireSchema<unknown>[]>(...schemas: T): WireSchema<WireOf<T[number]>> =>
  schema({ anyOf: schemas.map(({ json }) => json) });

/** Optional field. */
export const optional = <T>(field: WireSchema<T>): OptionalField<T> => ({ optional: field });

/** Makes every field optional. */
export const optionalFields = (shape: Shape): Shape =>
  Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, 'optional' in field ? field : optional(field)]),
  );

/** Object with exactly these fields. */
export function fields<S extends Shape>(shape: S): WireSchema<ObjectOf<S>> {
  const entries = Object.entries(shape).map(([name, field]) =>
    'optional' in field
      ? { name, json: field.optional.json, isRequired: false }
      : { name, json: field.json, isRequired: true },
  );
  return schema({
    type: 'object',
    properties: Object.fromEntries(entries.map(({ name, json }) => [name, json])),
    required: entries.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  });
}

/** Lists the schema in the document under this name, and replaces it by a reference elsewhere. */
export const named = <T>(name: string, { json }: WireSchema<T>): WireSchema<T> => schema({ title: name, ...json });

/** Marks a format kept for older clients; `description` names them. */
export const deprecated = <T>({ json }: WireSchema<T>, description: string): WireSchema<T> =>
  schema({ ...json, deprecated: true, description });
