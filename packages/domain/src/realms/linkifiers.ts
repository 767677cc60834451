import { DomainError } from '../kernel/errors.js';
import { type FeatureParts, wholeRealm } from '../kernel/event.js';
import type { RealmPart } from '../kernel/export-parts.js';
import type { RealmId } from '../kernel/ids.js';
import type { RealmRow, RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { compareCodePoints, trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { LinkifierRule } from '../markdown/markdown.js';

/** Linkifier rule with data for clients (organization §6). */
export interface LinkifierFields extends LinkifierRule {
  /** Text that matches the pattern. */
  readonly exampleInput: string | null;
  /** Template for converting a URL back to text with the same groups, such as `#{id}`. */
  readonly reverseTemplate: string | null;
  /** Additional URL templates that clients recognize. They create no links. */
  readonly alternativeUrlTemplates: readonly string[];
}

export interface Linkifier extends LinkifierFields {
  /** Unique on the server and never reused. */
  readonly id: number;
}

/** Limit, because every message is matched against all linkifiers and clients receive all on each change. */
export const MAX_LINKIFIERS = 1000;
/** Maximum total length of a realm's linkifiers, in UTF-16 units. */
export const MAX_LINKIFIER_TEXT = 500_000;

/** @throws DomainError TOO_MANY_LINKIFIERS if the list or its total text is too long */
export function requireRoomForLinkifiers(linkifiers: readonly LinkifierFields[]): void {
  if (linkifiers.length > MAX_LINKIFIERS)
    throw new DomainError('TOO_MANY_LINKIFIERS', `Too many linkifiers (limit: ${MAX_LINKIFIERS}).`);
  const length = linkifiers.reduce((sum, linkifier) => sum + textLength(linkifier), 0);
  if (length > MAX_LINKIFIER_TEXT)
    throw new DomainError('TOO_MANY_LINKIFIERS', `Linkifiers are too long (limit: ${MAX_LINKIFIER_TEXT} characters).`);
}

const textLength = ({
  pattern,
  urlTemplate,
  exampleInput,
  reverseTemplate,
  alternativeUrlTemplates,
}: LinkifierFields) =>
  [pattern, urlTemplate, exampleInput ?? '', reverseTemplate ?? '', ...alternativeUrlTemplates].join('').length;

export const unknownLinkifier = (): DomainError => new DomainError('UNKNOWN_LINKIFIER', 'Linkifier not found.');

export interface LinkifierRow extends Linkifier, RealmRow {
  /** Order of application. */
  readonly position: number;
}

export const LINKIFIER_ROWS: RowRules<LinkifierRow> = {
  kind: 'linkifier',
  owner: 'realm',
  order: ['position'],
  place: 'position',
};

/** Sent to everyone on any change (organization §6). */
export interface LinkifierEventTypes {
  'realm.linkifiers_changed': { readonly linkifiers: readonly Linkifier[] };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    /** Changes appear in `Realm.linkifiers`. */
    linkifiers: [reads: RealmRowReads<LinkifierRow>, repository: RealmRows<LinkifierRow, 'position'>];
  }
  interface DomainEventTypes extends LinkifierEventTypes {}
  interface RealmCopyParts {
    /** All linkifiers in order of application. */
    readonly linkifiers: readonly Linkifier[];
  }
  interface IdKindParts {
    linkifier: number;
  }
}

const template = shape.text(10_000);

const realmPart: RealmPart<'linkifiers'> = {
  none: { linkifiers: [] },
  idKinds: ['linkifier'],
  shapes: {
    linkifiers: shape.list(
      shape.object({
        id: shape.integer,
        pattern: template,
        urlTemplate: template,
        exampleInput: shape.orNull(template),
        reverseTemplate: shape.orNull(template),
        alternativeUrlTemplates: shape.list(template, 1000),
      }),
      10_000,
    ),
  },
  async read(reads, { realmId }) {
    const { linkifiers } = await reads.realms.get(realmId);
    return { linkifiers };
  },
  async add(tx, { realmId }, { linkifiers }, ids) {
    const positions = new Map(linkifiers.map(({ id }, position) => [id, position]));
    await ids.addAll(tx, 'linkifier', 'linkifier', linkifiers, ({ id, ...fields }) =>
      tx.linkifiers.add({ ...fields, realmId, position: getOrThrow(positions, id) }),
    );
  },
};

export const LINKIFIER_FEATURE = {
  eventFormats: { 'realm.linkifiers_changed': 1 },
  notExported: {
    linkifiers: 'They are read with the organization.',
  },
  realmPart,
  rows: { linkifiers: LINKIFIER_ROWS },
} satisfies FeatureParts<LinkifierEventTypes>;

/** Texts of the named groups of a match; null for groups that did not participate. */
export type GroupTexts = Readonly<Record<string, string | null>>;

export interface CompiledPattern {
  /** Names of the groups in the pattern. */
  readonly groups: readonly string[];
  /** Returns the first match in the text, or null. */
  find(text: string): GroupTexts | null;
}

/** Syntax of patterns and templates, implemented by the renderer. */
export interface LinkifierSyntax {
  /** Compiles a pattern to a matcher with linear running time, or returns the problem. */
  compile(pattern: string): CompiledPattern | { readonly problem: string };
  /** Returns the variables of an RFC 6570 template, or null if it is invalid. */
  templateVariables(template: string): ReadonlySet<string> | null;
}

/** Error texts by field; `general` has errors about several fields. Every list is nonempty. */
export interface LinkifierProblems {
  readonly pattern?: readonly string[];
  readonly urlTemplate?: readonly string[];
  readonly general?: readonly string[];
}

/** URL schemes that run code or show foreign content in the client's page. */
const SCRIPT_SCHEME = /^(?:javascript|data|vbscript):/i;

/**
 * True if the template can produce URLs with such a scheme. Browsers ignore control characters and spaces in a scheme,
 * and variables may be empty.
 */
export const canBeScript = (template: string): boolean =>
  SCRIPT_SCHEME.test(template.replace(/\{[^}]*\}/g, '').replace(/[\p{Cc}\s]/gu, ''));

const BLANK = 'This field cannot be blank.';
const BAD_TEMPLATE = 'Invalid URL template.';

/**
 * Returns trimmed fields, with null for blank ones.
 * @throws DomainError INVALID_LINKIFIER with all errors of organization §6.1
 */
export function checkLinkifier(
  input: LinkifierFields,
  others: readonly LinkifierRule[],
  syntax: LinkifierSyntax,
): LinkifierFields {
  const linkifier: LinkifierFields = {
    pattern: trim(input.pattern),
    urlTemplate: trim(input.urlTemplate),
    exampleInput: textOrNull(input.exampleInput),
    reverseTemplate: textOrNull(input.reverseTemplate),
    alternativeUrlTemplates: input.alternativeUrlTemplates,
  };
  const { pattern, urlTemplate } = linkifier;
  const errors: { -readonly [K in keyof LinkifierProblems]: LinkifierProblems[K] } = {};
  if (pattern === '') errors.pattern = [BLANK];
  if (urlTemplate === '') errors.urlTemplate = [BLANK];
  else if (canBeScript(urlTemplate) || syntax.templateVariables(urlTemplate) === null)
    errors.urlTemplate = [BAD_TEMPLATE];

  const general: string[] = [];
  const fault = generalFault(linkifier, syntax);
  if (fault !== null) general.push(fault);
  if (pattern !== '' && others.some((other) => other.pattern === pattern)) {
    general.push('Realm filter with this Realm and Pattern already exists.');
  }
  if (general.length > 0) errors.general = general;
  const [first] = [...(errors.pattern ?? []), ...(errors.urlTemplate ?? []), ...general];
  if (first !== undefined) throw new DomainError('INVALID_LINKIFIER', first, { errors });
  return linkifier;
}

function textOrNull(text: string | null): string | null {
  const trimmed = trim(text ?? '');
  return trimmed === '' ? null : trimmed;
}

/** Returns the first inconsistency between fields according to organization §6.1 rows 3–7. */
function generalFault(linkifier: LinkifierFields, syntax: LinkifierSyntax): string | null {
  const compiled = syntax.compile(linkifier.pattern);
  if ('problem' in compiled) return `Bad regular expression: ${compiled.problem}`;
  return exampleFault(linkifier, compiled) ?? templatesFault(linkifier, compiled.groups, syntax);
}

function exampleFault({ exampleInput, reverseTemplate }: LinkifierFields, compiled: CompiledPattern): string | null {
  if (exampleInput === null) {
    return reverseTemplate === null ? null : 'Example text is required when auto-conversion field is set.';
  }
  const groups = compiled.find(exampleInput);
  if (groups === null) return 'Example input does not match the linkifier pattern.';
  if (reverseTemplate === null) return null;
  const expanded = expandReverseTemplate(reverseTemplate, groups);
  if ('fault' in expanded) return expanded.fault;
  return trim(expanded.text) === exampleInput ? null : 'Example text does not match auto-conversion field.';
}

function templatesFault(
  { urlTemplate, alternativeUrlTemplates }: LinkifierFields,
  groups: readonly string[],
  syntax: LinkifierSyntax,
): string | null {
  for (const template of [urlTemplate, ...alternativeUrlTemplates]) {
    const variables = canBeScript(template) ? null : syntax.templateVariables(template);
    // An invalid `urlTemplate` is reported under its own field.
    if (variables === null && template !== urlTemplate) return BAD_TEMPLATE;
    if (variables === null) continue;
    const inTemplate = firstOf([...variables].filter((name) => !groups.includes(name)));
    if (inTemplate !== undefined) return `Group '${inTemplate}' in URL template is not present in linkifier pattern.`;
    const inPattern = firstOf(groups.filter((name) => !variables.has(name)));
    if (inPattern !== undefined) return `Group '${inPattern}' in linkifier pattern is not present in URL template.`;
  }
  return null;
}

const firstOf = (names: readonly string[]): string | undefined => [...names].sort(compareCodePoints)[0];

/** Expands a reverse template: `{{` and `}}` are braces, and `{name}` is the group's text (organization §6.1). */
export function expandReverseTemplate(
  template: string,
  groups: GroupTexts,
): { readonly text: string } | { readonly fault: string } {
  let text = '';
  for (let at = 0; at < template.length; at++) {
    const character = template[at]!;
    if (character === template[at + 1] && (character === '{' || character === '}')) {
      text += character;
      at++;
    } else if (character === '{') {
      const end = template.indexOf('}', at);
      if (end === -1) return { fault: "Invalid auto-conversion field: missing '}' character." };
      const name = template.slice(at + 1, end);
      if (name === '') return { fault: 'Invalid auto-conversion field: empty field name.' };
      if (!Object.hasOwn(groups, name)) {
        return { fault: `Group '${name}' in auto-conversion field is not present in linkifier pattern.` };
      }
      text += groups[name] ?? '';
      at = end;
    } else text += character;
  }
  return { text };
}

/** Publishes the current linkifiers. @throws DomainError TOO_MANY_LINKIFIERS */
export async function publishLinkifiers(tx: Transaction, realmId: RealmId): Promise<void> {
  const { linkifiers } = await tx.realms.get(realmId);
  requireRoomForLinkifiers(linkifiers);
  await tx.events.append(realmId, {
    event: { type: 'realm.linkifiers_changed', linkifiers },
    audience: wholeRealm,
  });
}
