import { type Member, membersOfDto, type Route } from '@parley/http';
import { alternativesOf, fieldTextOf, HOSTILE_TEXTS, largestOf, type ParameterSchema } from '@parley/testkit';
import { type Fields, hasQuery } from './routes.js';
import { IS_LONG } from './scale.js';

export interface GeneratedInput {
  readonly description: string;
  /** Returns smaller fields if the full ones do not fit into a body or query. */
  fieldsFor(room: number): Fields;
}

const BODY_ROOM = 1_000_000;
const QUERY_ROOM = 110_000;

/** Initial size limit of a request; see `GeneratedInput.fieldsFor`. */
export const roomOf = (route: Route): number => (hasQuery(route) ? QUERY_ROOM : BODY_ROOM);

/** Expensive code points: outside the basic plane, longer in lower case, stripped, escaped in JSON, syntax. */
const FILLINGS = ['x', '😀', '\u0130', ' ', '\0', '['];

/** JSON at and slightly above the limits of depth, width and length, regardless of the parameter. */
const RAW_TEXTS: Readonly<Record<string, (room: number) => string>> = {
  'brackets, 500 deep': () => '['.repeat(500) + ']'.repeat(500),
  'brackets left open': (room) => '['.repeat(room),
  'empty dictionaries': (room) => `[${Array(Math.min(29_000, Math.floor(room / 3) - 1)).fill('{}')}]`,
  keys: (room) => `{${Array.from({ length: Math.min(29_000, Math.floor(room / 12)) }, (_, n) => `"a${n}":0`)}}`,
  numbers: (room) => `[${Array(Math.floor(room / 2) - 2).fill(0)}]`,
  digits: (room) => '9'.repeat(room),
  escapes: (room) => `"${'\\u0000'.repeat(Math.floor(room / 6) - 1)}"`,
  commas: (room) => '1,'.repeat(Math.floor(room / 2)),
};

/** Types by schema. A short run tests each type only in the first operation that uses it. */
const seenInAll = new Set<string>();

/**
 * Yields the largest inputs permitted by parameter types: everything at its maximum, then each parameter with each
 * alternative and script, and JSON without a matching type. Other parameters are as in `base`. Rendered texts include
 * those that slow down careless parsers.
 */
export function* generatedInputs(route: Route, base: Fields): Generator<GeneratedInput> {
  // A wrong key ends the connection before the body is read.
  const members = membersOfDto(route.dto).filter(({ name }) => !(route.takesKeyParameter && name === 'api_key'));
  /** True for path parameters, which stay fixed so that operations do not destroy each other's objects. */
  const isInPath = ({ name }: Member): boolean => new RegExp(`[:*]${name}(?=/|$)`).test(route.path);
  if (members.length > 0) {
    yield {
      description: 'everything',
      fieldsFor: (room) =>
        Object.fromEntries(
          members.map((member) => [
            member.name,
            isInPath(member) ? base[member.name] : largestText(member, schemaOf(member), room / members.length),
          ]),
        ),
    };
  }
  const seen = IS_LONG ? new Set<string>() : seenInAll;
  for (const member of members) {
    const vary = (description: string, textFor: (room: number) => string): GeneratedInput => ({
      description: `${member.name}: ${description}`,
      fieldsFor: (room) => ({ ...base, [member.name]: textFor(room) }),
    });
    // The same code parses all parameters of one type.
    const isRepeated = seen.has(JSON.stringify(schemaOf(member)));
    seen.add(JSON.stringify(schemaOf(member)));
    for (const schema of alternativesOf(schemaOf(member))) {
      const kind = schema.type ?? 'one of';
      if (kind === 'boolean' || kind === 'null' || (kind === 'integer' && isInPath(member))) continue;
      for (const filling of hasText(schema) && !isRepeated ? FILLINGS : ['x']) {
        yield vary(`${kind} of ${JSON.stringify(filling)}`, (room) => largestText(member, schema, room, filling));
      }
    }
    if (!isRepeated) for (const [description, text] of Object.entries(RAW_TEXTS)) yield vary(description, text);
    if (member.name === 'content' && (IS_LONG || members.length === 1)) {
      for (const [description, text] of Object.entries(HOSTILE_TEXTS)) yield vary(description, () => text);
    }
  }
  const junk = (room: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 'x'.repeat(Math.max(0, room / count - 8))]));
  yield { description: 'one field nobody reads', fieldsFor: (room) => ({ ...base, ...junk(room, 1) }) };
  yield { description: 'many fields nobody reads', fieldsFor: (room) => ({ ...base, ...junk(room, 900) }) };
}

const schemaOf = ({ type }: Member) => type.schema as ParameterSchema;

function largestText(member: Member, schema: ParameterSchema, room: number, filling?: string): string {
  return fieldTextOf(member.type, largestOf(schema, Math.min(room, member.type.jsonLength), filling));
}

function hasText({ type, enum: words, anyOf, items, properties = {}, propertyNames }: ParameterSchema): boolean {
  if (words) return false;
  const parts = [...(anyOf ?? []), ...(items ? [items] : []), ...Object.values(properties)];
  return type === 'string' || propertyNames !== undefined || parts.some(hasText);
}
