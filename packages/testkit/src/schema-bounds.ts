/** The part of JSON Schema that describes parameters. */
export interface ParameterSchema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object';
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ParameterSchema[];
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: ParameterSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, ParameterSchema>>;
  readonly required?: readonly string[];
  /** True: whatever else there is, is ignored. */
  readonly additionalProperties?: boolean | ParameterSchema;
  readonly propertyNames?: ParameterSchema;
  readonly maxProperties?: number;
}

/** Everything in a schema of which there may be any amount, by its position; empty when all of it has a maximum. */
export function unboundedIn(schema: ParameterSchema, position = ''): readonly string[] {
  if (schema.enum) return [];
  if (schema.anyOf) return schema.anyOf.flatMap((one, index) => unboundedIn(one, `${position}|${index}`));
  switch (schema.type) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return [];
    case 'string':
      return Number.isFinite(schema.maxLength) ? [] : [`${position} (text)`];
    case 'array':
      return [
        ...(Number.isFinite(schema.maxItems) ? [] : [`${position} (list)`]),
        ...unboundedIn(schema.items ?? {}, `${position}[]`),
      ];
    case 'object': {
      const { properties = {}, additionalProperties: others, propertyNames, maxProperties } = schema;
      const known = Object.entries(properties).flatMap(([key, one]) => unboundedIn(one, `${position}.${key}`));
      if (typeof others !== 'object') return known;
      return [
        ...known,
        ...(Number.isFinite(maxProperties) ? [] : [`${position} (dictionary)`]),
        ...(Number.isFinite(propertyNames?.maxLength) ? [] : [`${position} (keys)`]),
        ...unboundedIn(others, `${position}.*`),
      ];
    }
    default:
      return [`${position} (anything)`];
  }
}

/** The least that fits. Of a text with a pattern it is any text. */
export function leastOf(schema: ParameterSchema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return leastOf(schema.anyOf[0]!);
  switch (schema.type) {
    case 'string':
      return 'x'.repeat(schema.minLength ?? 1);
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return Array(schema.minItems ?? 0).fill(leastOf(schema.items!));
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((key) => [key, leastOf(schema.properties![key]!)]));
    default:
      return null;
  }
}

/** A value that is too much in one place and the least everywhere else. */
export interface Excess {
  readonly value: unknown;
  /** The end of the refusal (protocol §3): `is too long (limit: 100 characters)`. */
  readonly refusal: string;
}

/** One for each maximum in a schema, wherever it is. */
export function excessesOf(schema: ParameterSchema): readonly Excess[] {
  if (schema.enum) return [];
  if (schema.anyOf) return schema.anyOf.flatMap(excessesOf);
  switch (schema.type) {
    case 'string':
      return excessOfText(schema);
    case 'array':
      return excessesOfList(schema);
    case 'object':
      return excessesOfDictionary(schema);
    default:
      return [];
  }
}

const tooLong = (limit: number, unit: string) => `is too long (limit: ${limit} ${unit})`;

function excessOfText({ minLength, maxLength }: ParameterSchema): readonly Excess[] {
  if (maxLength === undefined) return [];
  const refusal = minLength === maxLength ? `is not length ${maxLength}` : tooLong(maxLength, 'characters');
  return [{ value: 'x'.repeat(maxLength + 1), refusal }];
}

function excessesOfList({ items = {}, minItems = 0, maxItems }: ParameterSchema): readonly Excess[] {
  const least = leastOf(items);
  const inside = excessesOf(items).map(({ value, refusal }) => ({
    value: [value, ...Array(Math.max(0, minItems - 1)).fill(least)],
    refusal,
  }));
  // Where there must be so many, operations say so in words of their own.
  if (maxItems === undefined || minItems === maxItems) return inside;
  return [{ value: Array(maxItems + 1).fill(least), refusal: tooLong(maxItems, 'items') }, ...inside];
}

function excessesOfDictionary(schema: ParameterSchema): readonly Excess[] {
  const { properties = {}, additionalProperties: others, propertyNames, maxProperties } = schema;
  const least = leastOf(schema) as object;
  const inside = Object.entries(properties).flatMap(([key, one]) =>
    excessesOf(one).map(({ value, refusal }) => ({ value: { ...least, [key]: value }, refusal })),
  );
  if (typeof others !== 'object') return inside;
  const other = leastOf(others);
  const keys = Array.from({ length: (maxProperties ?? 0) + 1 }, (_, index) => index.toString(36));
  return [
    ...inside,
    ...excessesOf(others).map(({ value, refusal }) => ({ value: { x: value }, refusal })),
    ...(propertyNames?.maxLength === undefined
      ? []
      : [
          {
            value: { ['x'.repeat(propertyNames.maxLength + 1)]: other },
            refusal: tooLong(propertyNames.maxLength, 'characters'),
          },
        ]),
    ...(maxProperties === undefined
      ? []
      : [{ value: Object.fromEntries(keys.map((key) => [key, other])), refusal: tooLong(maxProperties, 'items') }]),
  ];
}
