/** Levels of schemas, including those behind references. */
export const MAX_SCHEMA_DEPTH = 20;
/**
 * Maximum weight of a schema, in which a subschema counts as one. References count as what they refer to, so that a
 * value is checked against at most this many subschemas.
 */
export const MAX_SUBSCHEMAS = 150;
/** Maximum number of values of `enum`, and of names of `required`, `dependentRequired` and `type`. */
export const MAX_LISTED_VALUES = 1500;
export const MAX_PATTERN_LENGTH = 100;
export const MAX_PATTERN_REPETITIONS = 100;

/** Weight of keywords that cost more than a subschema: compiling a pattern, comparing all pairs of items. */
const PATTERN_WEIGHT = 5;
const UNIQUE_ITEMS_WEIGHT = 15;

type Check = (value: unknown, keyword: string, walk: Walk, depth: number) => void;
type Fields = Readonly<Record<string, unknown>>;

interface Walk {
  readonly definitions: Fields;
  weight: number;
  listed: number;
  /** Definitions that are being expanded. */
  readonly open: Set<string>;
}

class Unsupported extends Error {}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(value: unknown, keyword: string): Fields {
  if (!isObject(value)) throw new Unsupported(`${keyword} must be an object`);
  return value;
}

function listOf(value: unknown, keyword: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unsupported(`${keyword} must be an array`);
  return value;
}

function weigh(walk: Walk, weight: number): void {
  walk.weight += weight;
  if (walk.weight > MAX_SUBSCHEMAS) throw new Unsupported(`it has more than ${MAX_SUBSCHEMAS} subschemas`);
}

function count(walk: Walk, values: readonly unknown[]): void {
  walk.listed += values.length;
  if (walk.listed > MAX_LISTED_VALUES) throw new Unsupported(`it lists more than ${MAX_LISTED_VALUES} values`);
}

const anything: Check = () => {};
const one: Check = (value, _, walk, depth) => checkSchema(value, walk, depth + 1);
const many: Check = (value, keyword, walk, depth) => {
  for (const each of listOf(value, keyword)) checkSchema(each, walk, depth + 1);
};
const named: Check = (value, keyword, walk, depth) => {
  for (const each of Object.values(fieldsOf(value, keyword))) checkSchema(each, walk, depth + 1);
};
const listed: Check = (value, keyword, walk) => count(walk, listOf(value, keyword));
const pattern: Check = (value, keyword, walk) => {
  if (typeof value !== 'string') throw new Unsupported(`${keyword} must be a text`);
  weigh(walk, PATTERN_WEIGHT);
  checkPattern(value);
};

/** Keywords of the subset, which extensions §14 names. */
const KEYWORDS: Readonly<Record<string, Check>> = {
  additionalProperties: one,
  contains: one,
  else: one,
  if: one,
  items: one,
  not: one,
  propertyNames: one,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: one,
  allOf: many,
  anyOf: many,
  oneOf: many,
  prefixItems: many,
  dependentSchemas: named,
  properties: named,
  patternProperties(value, keyword, walk, depth) {
    named(value, keyword, walk, depth);
    for (const each of Object.keys(value as Fields)) pattern(each, keyword, walk, depth);
  },
  $ref(value, _, walk, depth) {
    const name = typeof value === 'string' ? /^#\/\$defs\/([A-Za-z][\w-]*)$/.exec(value)?.[1] : undefined;
    if (name === undefined || !Object.hasOwn(walk.definitions, name)) {
      throw new Unsupported('$ref must be #/$defs/ and a name of $defs');
    }
    if (walk.open.has(name)) throw new Unsupported(`$defs/${name} refers to itself`);
    walk.open.add(name);
    checkSchema(walk.definitions[name], walk, depth + 1);
    walk.open.delete(name);
  },
  dependentRequired(value, keyword, walk) {
    for (const each of Object.values(fieldsOf(value, keyword))) count(walk, listOf(each, keyword));
  },
  enum: listed,
  required: listed,
  type: (value, _, walk) => count(walk, Array.isArray(value) ? value : [value]),
  pattern,
  uniqueItems: (_, __, walk) => weigh(walk, UNIQUE_ITEMS_WEIGHT),
  ...Object.fromEntries(
    [
      ...['$comment', 'default', 'deprecated', 'description', 'examples', 'readOnly', 'title', 'writeOnly'],
      ...['const', 'exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
      ...['maxContains', 'maxItems', 'maxLength', 'maxProperties'],
      ...['minContains', 'minItems', 'minLength', 'minProperties'],
    ].map((keyword) => [keyword, anything]),
  ),
};

/** Keywords of the outermost schema. */
const ROOT_KEYWORDS: Readonly<Record<string, Check>> = { ...KEYWORDS, $defs: named, $id: anything, $schema: anything };

function checkSchema(schema: unknown, walk: Walk, depth: number): void {
  if (depth > MAX_SCHEMA_DEPTH) throw new Unsupported(`it has more than ${MAX_SCHEMA_DEPTH} levels`);
  weigh(walk, 1);
  if (typeof schema === 'boolean') return;
  if (!isObject(schema)) throw new Unsupported('a schema must be an object, true or false');
  const keywords = depth === 1 ? ROOT_KEYWORDS : KEYWORDS;
  for (const [keyword, value] of Object.entries(schema)) {
    const check = Object.hasOwn(keywords, keyword) ? keywords[keyword]! : null;
    if (!check) throw new Unsupported(`the keyword ${keyword.slice(0, 50)} is not supported here`);
    check(value, keyword, walk, depth);
  }
}

/** Escapes and classes, as RE2 reads them. */
const ONE_CHARACTER = /\\.|\[(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]/gs;
const REPETITION = /(\)?)\{(\d+)(?:,(\d*))?\}/g;

/** Bounds the program of a pattern, which repetitions enlarge. The engine checks its syntax. */
function checkPattern(text: string): void {
  if (text.length > MAX_PATTERN_LENGTH) {
    throw new Unsupported(`a pattern has more than ${MAX_PATTERN_LENGTH} characters`);
  }
  // Engines disagree on these.
  if (/\\Q|\[\^?\]/.test(text)) throw new Unsupported('a pattern contains \\Q, [] or [^]');
  for (const [, group, least, most] of text.replace(ONE_CHARACTER, 'x').matchAll(REPETITION)) {
    if (group) throw new Unsupported('a pattern repeats a group by {}');
    if (Math.max(Number(least), Number(most ?? 0)) > MAX_PATTERN_REPETITIONS) {
      throw new Unsupported(`a pattern repeats a character more than ${MAX_PATTERN_REPETITIONS} times`);
    }
  }
}

/** Returns why a text is outside of the subset of JSON Schema with bounded cost; null if it is not. */
export function dataSchemaProblem(text: string): string | null {
  try {
    const schema: unknown = JSON.parse(text);
    const defined = isObject(schema) && isObject(schema.$defs) ? schema.$defs : {};
    checkSchema(schema, { definitions: defined, weight: 0, listed: 0, open: new Set() }, 1);
    return null;
  } catch (error) {
    if (error instanceof Unsupported) return error.message;
    if (error instanceof SyntaxError) return 'it is not JSON';
    throw error;
  }
}
