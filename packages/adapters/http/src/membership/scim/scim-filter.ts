import { firstOf } from '@parley/domain/kernel';
/** Error of a SCIM request (RFC 7644, section 3.12). */
export class ScimError extends Error {
  constructor(
    readonly status: number,
    readonly scimType:
      | 'invalidFilter'
      | 'invalidPath'
      | 'invalidSyntax'
      | 'invalidValue'
      | 'mutability'
      | 'uniqueness'
      | null,
    message: string,
  ) {
    super(message);
    this.name = 'ScimError';
  }
}

/** Attribute or subattribute, in lower case and without the URN of the core schema. */
export interface AttributePath {
  readonly attribute: string;
  readonly sub: string | null;
}

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
type Comparison = (typeof COMPARISONS)[number];
type Literal = string | number | boolean | null;

/** Filter of RFC 7644, section 3.4.2.2. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | { readonly kind: 'compare'; readonly path: AttributePath; readonly by: Comparison; readonly value: Literal }
  /** List elements that match the inner filter: `emails[type eq "work"]`. */
  | { readonly kind: 'some'; readonly attribute: string; readonly filter: Filter };

/** Path of a PATCH operation: `active`, `name.givenName`, `members[value eq "5"]`, `emails[type eq "work"].value`. */
export interface PatchPath extends AttributePath {
  readonly filter: Filter | null;
}

const MAX_FILTER_LENGTH = 2000;
const MAX_DEPTH = 10;
/** String, bracket or word, after optional white space. */
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y;
const ATTRIBUTE = /^[a-z$][\w$-]*(?:\.[a-z$][\w$-]*)?$/i;
const CORE_URN = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;

/** @throws ScimError invalidFilter */
export function parseFilter(text: string): Filter {
  return new FilterParser(text, 'invalidFilter').whole();
}

/** Returns null for attributes of unsupported schemas. @throws ScimError invalidPath */
export function parsePatchPath(text: string): PatchPath | null {
  const path = text.replace(CORE_URN, '');
  if (/^urn:/i.test(path)) return null;
  return new FilterParser(path, 'invalidPath').patchPath();
}

/** Parses by recursive descent; `and` binds closer than `or`. */
class FilterParser {
  private readonly tokens: string[] = [];
  private next = 0;
  private depth = 0;

  constructor(
    text: string,
    private readonly scimType: 'invalidFilter' | 'invalidPath',
  ) {
    if (text.length > MAX_FILTER_LENGTH) throw this.invalid(`It has more than ${MAX_FILTER_LENGTH} characters.`);
    TOKEN.lastIndex = 0;
    const trimmed = text.trimEnd();
    while (TOKEN.lastIndex < trimmed.length) {
      const from = TOKEN.lastIndex;
      const match = TOKEN.exec(trimmed);
      if (!match) throw this.invalid(`It cannot be read from character ${from + 1} on.`);
      this.tokens.push(match[1] ?? match[2] ?? match[3]!);
    }
  }

  whole(): Filter {
    const filter = this.either();
    if (this.next < this.tokens.length) throw this.invalid(`'${this.tokens[this.next]}' is not expected.`);
    return filter;
  }

  patchPath(): PatchPath {
    const path = this.path();
    const filter = this.bracketed();
    let { sub } = path;
    if (filter && this.next < this.tokens.length) sub = this.subAttribute();
    if (this.next < this.tokens.length) throw this.invalid(`'${this.tokens[this.next]}' is not expected.`);
    return { ...path, sub, filter };
  }

  private either(): Filter {
    return this.joined('or', () => this.joined('and', () => this.single()));
  }

  private joined(kind: 'and' | 'or', part: () => Filter): Filter {
    const filters = [part()];
    while (this.isNext(kind)) {
      this.next++;
      filters.push(part());
    }
    return filters.length === 1 ? firstOf(filters) : { kind, filters };
  }

  private single(): Filter {
    if (++this.depth > MAX_DEPTH) throw this.invalid('It is nested too deeply.');
    try {
      if (this.isNext('not') && this.tokens[this.next + 1] === '(') {
        this.next++;
        return { kind: 'not', filter: this.inBrackets('(', ')') };
      }
      if (this.isNext('(')) return this.inBrackets('(', ')');
      const path = this.path();
      const inner = this.bracketed();
      if (!inner) return this.test(path);
      const { attribute } = path;
      if (!this.tokens[this.next]?.startsWith('.')) return { kind: 'some', attribute, filter: inner };
      // Entra appends the compared attribute: emails[type eq "work"].value eq "…".
      const test = this.test({ attribute: this.subAttribute(), sub: null });
      return { kind: 'some', attribute, filter: { kind: 'and', filters: [inner, test] } };
    } finally {
      this.depth--;
    }
  }

  private test(path: AttributePath): Filter {
    const by = this.take().toLowerCase();
    if (by === 'pr') return { kind: 'present', path };
    if (!COMPARISONS.includes(by as Comparison)) throw this.invalid(`'${by}' is not an operator.`);
    return { kind: 'compare', path, by: by as Comparison, value: this.literal() };
  }

  /** Parses the attribute after a bracket. */
  private subAttribute(): string {
    const word = this.take();
    if (!/^\.[a-z$][\w$-]*$/i.test(word)) throw this.invalid(`'${word}' is not expected.`);
    return word.slice(1).toLowerCase();
  }

  private bracketed(): Filter | null {
    return this.isNext('[') ? this.inBrackets('[', ']') : null;
  }

  private inBrackets(open: string, close: string): Filter {
    this.expect(open);
    const filter = this.either();
    this.expect(close);
    return filter;
  }

  private path(): AttributePath {
    const word = this.take().replace(CORE_URN, '');
    if (!ATTRIBUTE.test(word)) throw this.invalid(`'${word}' is not an attribute.`);
    const [attribute, sub = null] = word.toLowerCase().split('.') as [string, string?];
    return { attribute, sub };
  }

  private literal(): Literal {
    const token = this.take();
    try {
      const value: unknown = JSON.parse(/^(?:true|false|null)$/i.test(token) ? token.toLowerCase() : token);
      if (typeof value !== 'object' || value === null) return value as Literal;
    } catch {
      // Handled below.
    }
    throw this.invalid(`'${token}' is not a value.`);
  }

  private isNext(word: string): boolean {
    return this.tokens[this.next]?.toLowerCase() === word;
  }

  private expect(token: string): void {
    if (this.take() !== token) throw this.invalid(`'${token}' is missing.`);
  }

  private take(): string {
    const token = this.tokens[this.next++];
    if (token === undefined) throw this.invalid('It is incomplete.');
    return token;
  }

  private invalid(reason: string): ScimError {
    const what = this.scimType === 'invalidFilter' ? 'filter' : 'path';
    return new ScimError(400, this.scimType, `The ${what} is not valid. ${reason}`.slice(0, 300));
  }
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a property of an object, ignoring case. */
export function memberOf(object: Json, name: string): unknown {
  const key = Object.keys(object).find((each) => each.toLowerCase() === name);
  return key === undefined ? undefined : object[key];
}

/** True if the resource matches the filter. */
export function matches(filter: Filter, resource: Json): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => matches(each, resource));
    case 'or':
      return filter.filters.some((each) => matches(each, resource));
    case 'not':
      return !matches(filter.filter, resource);
    case 'some':
      return [memberOf(resource, filter.attribute)]
        .flat()
        .some((member) => isObject(member) && matches(filter.filter, member));
    case 'present':
      return valuesAt(resource, filter.path).some((value) => value !== '' && value !== null);
    case 'compare': {
      const isExact = EXACT.has(filter.path.attribute);
      const holds = (value: unknown) =>
        compares(comparable(value, isExact), comparable(filter.value, isExact), filter.by);
      const values = valuesAt(resource, filter.path);
      return filter.by === 'ne'
        ? !values.some((value) => comparable(value, isExact) === comparable(filter.value, isExact))
        : values.some(holds);
    }
  }
}

/** Attributes with case-sensitive values. */
const EXACT: ReadonlySet<string> = new Set(['id', 'externalid', 'members', 'value']);

/** Returns the values of an attribute; for a list of objects, their `value` property by default. */
function valuesAt(resource: Json, { attribute, sub }: AttributePath): readonly unknown[] {
  const values = [memberOf(resource, attribute)].flat().filter((value) => value !== undefined);
  return values
    .map((value) => (isObject(value) ? memberOf(value, sub ?? 'value') : sub === null ? value : undefined))
    .filter((value) => value !== undefined);
}

/** SCIM clients also send booleans as text. */
const comparable = (value: unknown, isExact: boolean): unknown => {
  const text = typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && !isExact ? text.toLowerCase() : text;
};

function compares(value: unknown, other: unknown, by: Comparison): boolean {
  if (by === 'eq') return value === other;
  if (typeof value !== typeof other || (typeof value !== 'string' && typeof value !== 'number')) return false;
  const [one, two] = [value, other as typeof value];
  switch (by) {
    case 'co':
      return String(one).includes(String(two));
    case 'sw':
      return String(one).startsWith(String(two));
    case 'ew':
      return String(one).endsWith(String(two));
    case 'gt':
      return one > two;
    case 'ge':
      return one >= two;
    case 'lt':
      return one < two;
    case 'le':
      return one <= two;
    default:
      return false;
  }
}

/** Returns the value that the filter requires an attribute to equal; undefined if there is none. */
export function requiredValue(filter: Filter, attribute: string, subs: readonly (string | null)[]): string | undefined {
  if (filter.kind === 'and') {
    for (const each of filter.filters) {
      const value = requiredValue(each, attribute, subs);
      if (value !== undefined) return value;
    }
  }
  if (filter.kind === 'some' && filter.attribute === attribute && subs.includes('value')) {
    return requiredValue(filter.filter, 'value', [null]);
  }
  if (filter.kind !== 'compare' || filter.by !== 'eq' || filter.path.attribute !== attribute) return undefined;
  return subs.includes(filter.path.sub) && typeof filter.value === 'string' ? filter.value : undefined;
}

/**
 * Returns the values of `value eq "…"` conditions, joined by `or` if several. @throws ScimError invalidPath for other
 * filters
 */
export function namedValues(filter: Filter): readonly string[] {
  if (filter.kind === 'or') return filter.filters.flatMap(namedValues);
  const value = requiredValue(filter, 'value', [null]);
  if (value === undefined) throw new ScimError(400, 'invalidPath', 'Members are selected by value eq "…" only.');
  return [value];
}
