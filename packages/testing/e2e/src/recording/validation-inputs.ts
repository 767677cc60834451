import { type Member, membersOfDto, type Route } from '@parley/http';
import { fieldTextOf, leastOf, type ParameterSchema } from '@parley/testkit';
import { type EncodedRequest, encodeRequest } from '../hostile/encode.js';
import type { Fields } from '../hostile/routes.js';

export interface DescribedRequest {
  readonly what: string;
  readonly request: EncodedRequest;
}

/** Field texts tested with every parameter. */
const TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '\t',
    'x',
    '"x"',
    "'x'",
    'null',
    'true',
    'false',
    'True',
    'undefined',
    '\0',
    '\ufeff1',
    '😀',
    '"\\ud800"',
  ],
  ...['0', '-1', '1', '+1', ' 1', '007', '1.5', '1e3', '1e400', 'NaN', '-0', '9'.repeat(23), `-${'9'.repeat(23)}`],
  ...['[]', '{}', '[1]', '["x"]', '[null]', '[[]]', '{"a":1}', '{"', '[1,', '[1] x', '['.repeat(200), '9'.repeat(5000)],
];

/** Field texts for parameters with a type already tested in another operation. */
const FEW_TEXTS: readonly string[] = [
  ...['', ' ', 'x', '"x"', 'null', 'true', '-1', '1.5', '9'.repeat(23), '[]', '{}', '[{}]', '[[1]]', '{"', '\0'],
];

const VALUES: readonly unknown[] = [null, true, 1, -1, 1.5, 1e30, 'x', '', ' ', '1', [], {}, [1], { a: 1 }];
/** Values for further list elements, which have the type of the first. */
const FEW_VALUES: readonly unknown[] = [null, -1, 'x', '', [], {}];
const MAX_LISTED = 10_000;
const MAX_TEXT = 20_000;

type Variant = readonly [what: string, value: unknown];

/** Creates a value with up to three elements or entries per list or map. */
function sampleOf(schema: ParameterSchema, n = 1): unknown {
  if (schema.enum) return schema.enum[n % schema.enum.length];
  if (schema.anyOf) return sampleOf(schema.anyOf[0]!, n);
  const { items = {}, minItems = 0, maxItems = 3, properties = {}, additionalProperties: others } = schema;
  switch (schema.type) {
    case 'string':
      return String(n).padEnd(schema.minLength ?? 1, 'x');
    case 'integer':
    case 'number':
      return Math.min(schema.maximum ?? n, Math.max(schema.minimum ?? n, n));
    case 'array':
      return Array.from({ length: Math.max(minItems, Math.min(3, maxItems)) }, (_, index) =>
        sampleOf(items, index + 1),
      );
    case 'object': {
      const existing = Object.entries(properties).map(([key, one]) => [key, sampleOf(one, n)] as const);
      const entry = typeof others === 'object' ? [['1', sampleOf(others, n)] as const] : [];
      return Object.fromEntries([...existing, ...entry]);
    }
    default:
      return leastOf(schema);
  }
}

const only = (values: readonly unknown[]): readonly Variant[] =>
  values.map((value) => [`is ${JSON.stringify(value).slice(0, 30)}`, value]);

function* textVariants({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: ParameterSchema): Generator<Variant> {
  yield* only([' x ', '\u0000', 'a\nb', '\ud800', '\u00a0', 'İ']);
  if (minLength > 0) yield ['is one too short', 'x'.repeat(minLength - 1)];
  if (maxLength > MAX_TEXT) return;
  for (const filling of ['x', '😀', ' ']) {
    yield [`is the longest of “${filling}”`, filling.repeat(maxLength)];
    yield [`is one too long of “${filling}”`, filling.repeat(maxLength + 1)];
  }
}

function* listVariants(schema: ParameterSchema, isDeep: boolean): Generator<Variant> {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const sample = sampleOf(schema) as unknown[];
  for (const position of sample.keys()) {
    const few = position === 0 && isDeep ? variantsOf(items, false) : only(FEW_VALUES);
    for (const [what, value] of few) yield [`[${position}] ${what}`, sample.with(position, value)];
  }
  yield ['has two bad elements', [...sample, {}, null]];
  yield ['has an element twice', [sampleOf(items), sampleOf(items)]];
  if (minItems > 0) yield ['has too few elements', sample.slice(0, minItems - 1)];
  if (maxItems > MAX_LISTED) return;
  yield ['has one element too many', Array.from({ length: maxItems + 1 }, (_, n) => sampleOf(items, n + 1))];
  yield ['has only bad elements', Array(maxItems).fill({})];
}

function* objectVariants(schema: ParameterSchema, isDeep: boolean): Generator<Variant> {
  const { properties = {}, additionalProperties: others, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const sample = sampleOf(schema) as Record<string, unknown>;
  for (const [key, one] of Object.entries(properties)) {
    const { [key]: _, ...rest } = sample;
    yield [`is without ${key}`, rest];
    const few = isDeep ? variantsOf(one, false) : only(FEW_VALUES);
    for (const [what, value] of few) yield [`.${key} ${what}`, { ...sample, [key]: value }];
  }
  const keys = Object.keys(sample);
  yield ['has only bad values', Object.fromEntries(keys.map((key) => [key, {}]))];
  yield ['has its keys in another order', Object.fromEntries(Object.entries(sample).reverse())];
  for (const key of ['unknown', '', '-1', '1.5', 'constructor', 'k'.repeat(2000)]) {
    yield [
      `has the key “${key.slice(0, 20)}”`,
      { ...sample, [key]: typeof others === 'object' ? sampleOf(others) : 1 },
    ];
  }
  if (typeof others !== 'object') return;
  for (const [what, value] of variantsOf(others, false)) yield [`.1 ${what}`, { ...sample, 1: value }];
  if (maxProperties > MAX_LISTED) return;
  const many = Array.from({ length: maxProperties + 1 }, (_, n) => [`${n}`, sampleOf(others, n)] as const);
  yield ['has one entry too many', Object.fromEntries(many)];
}

/** Yields valid and invalid values at and near the limits of a schema. */
function* variantsOf(schema: ParameterSchema, isDeep = true): Generator<Variant> {
  if (schema.anyOf) {
    for (const [index, one] of schema.anyOf.entries()) {
      for (const [what, value] of variantsOf(one, isDeep)) yield [`|${index} ${what}`, value];
    }
    return;
  }
  yield ['is good', sampleOf(schema)];
  yield* only(VALUES);
  if (schema.enum) {
    yield* only(schema.enum.flatMap((word) => [word, `${word} `, String(word).toUpperCase()]));
    return;
  }
  const { minimum, maximum } = schema;
  if (minimum !== undefined) yield* only([minimum, minimum - 1]);
  if (maximum !== undefined) yield* only([maximum, maximum + 1]);
  if (schema.type === 'string') yield* textVariants(schema);
  if (schema.type === 'array') yield* listVariants(schema, isDeep);
  if (schema.type === 'object') yield* objectVariants(schema, isDeep);
}

/** Yields a valid value, and the longest text or list with one that exceeds the limit. */
function* fewVariantsOf(schema: ParameterSchema): Generator<Variant> {
  const { maxLength = MAX_TEXT, maxItems = MAX_LISTED, items = {} } = schema;
  yield ['is good', sampleOf(schema)];
  if (maxLength < MAX_TEXT) yield* only(['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)]);
  if (schema.type === 'array') yield ['has a bad second element', [sampleOf(items), { a: [] }, null]];
  if (maxItems < MAX_LISTED) yield ['has one element too many', Array(maxItems + 1).fill(sampleOf(items))];
}

/** Types by schema, which are tested in full only once. */
const triedTypes = new Set<string>();

/** Yields texts for one parameter: common ones, those derived from its type, and JSON with a duplicate key. */
function* textsFor({ type }: Member): Generator<readonly [what: string, text: string]> {
  const isTried = triedTypes.has(JSON.stringify(type.schema));
  triedTypes.add(JSON.stringify(type.schema));
  for (const text of isTried ? FEW_TEXTS : TEXTS) yield [`is the text ${JSON.stringify(text.slice(0, 30))}`, text];
  const schema = type.schema as ParameterSchema;
  for (const [what, value] of isTried ? fewVariantsOf(schema) : variantsOf(schema))
    yield [what, fieldTextOf(type, value)];
  const sample = JSON.stringify(sampleOf(schema));
  const key = /\{("\w+"):/.exec(sample)?.[1];
  if (key === undefined) return;
  yield ['names a key twice, the first time badly', sample.replace('{', `{${key}:[[]],`)];
  yield ['names a key twice, the last time badly', sample.replace('}', `,${key}:[[]]}`)];
  yield ['has the key __proto__', sample.replace('{', '{"__proto__":{"a":1},')];
}

/**
 * Yields requests for one operation with wrong or unusual parameters. Other parameters have the minimal values of their
 * types.
 * @param existing Existing values by parameter name.
 */
export async function* validationInputs(route: Route, existing: Fields): AsyncGenerator<DescribedRequest> {
  const members = membersOfDto(route.dto);
  const isInPath = ({ name }: Member) => new RegExp(`[:*]${name}(?=/|$)`).test(route.path);
  const leastFor = ({ name, type }: Member): string =>
    fieldTextOf(type, existing[name] ?? leastOf(type.schema as ParameterSchema));
  const inPath = Object.fromEntries(
    [...route.path.matchAll(/[:*](\w+)/g)].map(([, name]) => [name!, String(existing[name!] ?? 1)]),
  );
  const base: Record<string, string> = { ...inPath };
  for (const member of members) if (member.isRequired || isInPath(member)) base[member.name] = leastFor(member);
  const asked = async function* (what: string, fields: Fields): AsyncGenerator<DescribedRequest> {
    const request = await encodeRequest(route, fields);
    if (request) yield { what, request };
  };

  yield* asked('nothing', inPath);
  for (const member of members) {
    const { name } = member;
    const { [name]: _, ...others } = base;
    if (member.isRequired && !isInPath(member)) yield* asked(`without ${name}`, others);
    for (const [what, text] of textsFor(member)) {
      // Half of a surrogate pair cannot be sent.
      yield* asked(`${name} ${what}`, { ...base, [name]: Buffer.from(text).toString() });
    }
    for (const alias of member.aliases) {
      yield* asked(`${name} as ${alias}`, { ...others, [alias]: leastFor(member) });
      yield* asked(`${name} and ${alias}`, { ...others, [name]: leastFor(member), [alias]: leastFor(member) });
    }
  }
  const all = (text: string) =>
    Object.fromEntries(members.filter((it) => !isInPath(it)).map(({ name }) => [name, text]));
  for (const text of ['', 'x', '[[]]', '{"']) yield* asked(`everything is ${text}`, { ...base, ...all(text) });
  yield* asked('unknown parameters', { ...base, zeta: 'x', alpha: '1', client: 'website', constructor: 'x' });
  yield* asked('what there is', base);

  const encoded = await encodeRequest(route, base);
  if (!encoded) return;
  for (const { name } of members.filter((it) => !isInPath(it))) {
    for (const addition of [`${name}=x&${name}=%5B%5D`, `${name}=%ff`, `${name}=%zz`, `${name}`]) {
      yield { what: `and ${addition}`, request: withAddition(encoded, addition) };
    }
    if (encoded.body !== null) {
      yield { what: `${name} in the query`, request: { ...encoded, target: `${encoded.target}?${name}=x` } };
    }
  }
}

function withAddition({ body, target, ...rest }: EncodedRequest, addition: string): EncodedRequest {
  if (typeof body === 'string') return { ...rest, target, body: body === '' ? addition : `${body}&${addition}` };
  return { ...rest, body, target: `${target}${target.includes('?') ? '&' : '?'}${addition}` };
}
