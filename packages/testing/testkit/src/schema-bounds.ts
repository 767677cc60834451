/** Subset of JSON Schema that describes parameters. */
export interface ParameterSchema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object';
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ParameterSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: ParameterSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, ParameterSchema>>;
  readonly required?: readonly string[];
  /** True if additional properties are ignored. */
  readonly additionalProperties?: boolean | ParameterSchema;
  readonly propertyNames?: ParameterSchema;
  readonly maxProperties?: number;
}

/** Encodes a value for a form: bare text if the parameter accepts it, else JSON. */
export function fieldTextOf({ decode }: { decode(text: string): unknown }, value: unknown): string {
  const json = JSON.stringify(value);
  return typeof value === 'string' && decode(json) !== value ? value : json;
}

/** Positions in a schema without a maximum; empty if everything is bounded. */
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

/** Smallest valid value, ignoring text patterns. */
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

/** Schemas without `anyOf`: one per alternative of each `anyOf`, combined with the first alternatives elsewhere. */
export function alternativesOf(schema: ParameterSchema): readonly ParameterSchema[] {
  if (schema.anyOf) return schema.anyOf.flatMap(alternativesOf);
  if (schema.items) return alternativesOf(schema.items).map((items) => ({ ...schema, items }));
  if (!schema.properties) return [schema];
  const members = Object.entries(schema.properties).map(([key, one]) => [key, alternativesOf(one)] as const);
  const properties = Object.fromEntries(members.map(([key, [first]]) => [key, first!]));
  const others = members.flatMap(([key, [, ...rest]]) =>
    rest.map((one) => ({ ...schema, properties: { ...properties, [key]: one } })),
  );
  return [{ ...schema, properties }, ...others];
}

/** JSON overhead per element: quotes, comma, digits of a number. */
const ELEMENT_LENGTH = 8;

/**
 * Returns the largest value within about `room` UTF-16 units of JSON: the maximum number of elements with distinct
 * texts as long as possible. Numbers count from 1 like ids. Uses first alternatives; see `alternativesOf`.
 * @param filling single code point that fills texts
 */
export function largestOf(schema: ParameterSchema, room: number, filling = 'x'): unknown {
  let count = 0;
  const largest = (one: ParameterSchema, space: number): unknown => {
    if (one.anyOf) return largest(one.anyOf[0]!, space);
    if (one.enum) return one.enum[count++ % one.enum.length];
    switch (one.type) {
      case 'string': {
        const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = one;
        const length = Math.max(minLength, Math.min(maxLength, Math.floor((space - 2) / filling.length)));
        const name = String(++count).slice(0, length);
        return name + filling.repeat(length - name.length);
      }
      case 'integer':
      case 'number':
        return Math.max(one.minimum ?? 1, Math.min(++count, one.maximum ?? count));
      case 'array': {
        const { items = {}, minItems = 0, maxItems = 0 } = one;
        const fitting = Math.floor(space / (JSON.stringify(leastOf(items)).length + ELEMENT_LENGTH));
        const length = Math.max(minItems, Math.min(maxItems, fitting));
        return Array.from({ length }, () => largest(items, (space - 2) / length - 1));
      }
      case 'object': {
        const { properties = {}, additionalProperties: others, propertyNames, maxProperties = 0 } = one;
        const members = Object.entries(properties);
        const share = (space - Object.keys(properties).join('').length) / Math.max(1, members.length) - ELEMENT_LENGTH;
        const known = members.map(([key, member]) => [key, largest(member, share)] as const);
        if (typeof others !== 'object') return Object.fromEntries(known);
        const fitting = Math.floor(space / (JSON.stringify(leastOf(others)).length + 2 * ELEMENT_LENGTH));
        const length = Math.min(maxProperties, fitting);
        const key: ParameterSchema = { ...propertyNames, type: 'string' };
        const entries = Array.from({ length }, () => {
          const half = space / length / 2 - 2;
          return [largest(key, half), largest(others, half)] as const;
        });
        return Object.fromEntries([...known, ...entries]);
      }
      case 'boolean':
        return true;
      default:
        return null;
    }
  };
  return largest(schema, room);
}

/** Value that exceeds one maximum and is otherwise minimal. */
export interface Excess {
  readonly value: unknown;
  /** End of the error message (protocol §3), for example `is too long (limit: 100 characters)`. */
  readonly refusal: string;
}

/** Returns one value for each maximum in a schema. */
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

function excessOfText({ maxLength }: ParameterSchema): readonly Excess[] {
  if (maxLength === undefined) return [];
  return [{ value: 'x'.repeat(maxLength + 1), refusal: tooLong(maxLength, 'characters') }];
}

function excessesOfList({ items = {}, minItems = 0, maxItems }: ParameterSchema): readonly Excess[] {
  const least = leastOf(items);
  const inside = excessesOf(items).map(({ value, refusal }) => ({
    value: [value, ...Array(Math.max(0, minItems - 1)).fill(least)],
    refusal,
  }));
  // Operations report a wrong fixed length with their own error message.
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
