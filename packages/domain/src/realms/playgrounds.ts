import { DomainError } from '../kernel/errors.js';
import { type FeatureParts, wholeRealm } from '../kernel/event.js';
import type { Caller, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmRow, RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { canBeScript, type LinkifierSyntax } from './linkifiers.js';
import { canManagePlaygrounds } from './realm-permissions.js';

/** External site for trying out code blocks of a language (organization §7). */
export interface PlaygroundFields {
  readonly name: string;
  /** Language name used by the highlighter, such as `Python`. */
  readonly language: string;
  /** RFC 6570 template with the single variable `code`. */
  readonly urlTemplate: string;
}

/** Ids are unique on the server and never reused. */
export interface Playground extends PlaygroundFields, RealmRow {}

/** Error texts by field; `general` has errors about several fields. Every list is nonempty. */
export type PlaygroundProblems = { readonly [K in keyof PlaygroundFields | 'general']?: readonly string[] };

/** Limit, because clients receive all playgrounds on each change. */
export const MAX_PLAYGROUNDS = 200;

/**
 * Validates and trims the fields, considering the existing playgrounds.
 * @throws DomainError INVALID_PLAYGROUND_LANGUAGE, INVALID_PLAYGROUND, TOO_MANY_PLAYGROUNDS
 */
export function checkPlayground(
  input: PlaygroundFields,
  others: readonly PlaygroundFields[],
  syntax: Pick<LinkifierSyntax, 'templateVariables'>,
): PlaygroundFields {
  const playground = { name: trim(input.name), language: trim(input.language), urlTemplate: trim(input.urlTemplate) };
  const { name, language, urlTemplate } = playground;
  if (!isCodeLanguage(language)) {
    throw new DomainError('INVALID_PLAYGROUND_LANGUAGE', 'Invalid characters in pygments language');
  }
  const errors: { -readonly [K in keyof PlaygroundProblems]: PlaygroundProblems[K] } = {};
  if (name === '') errors.name = [BLANK];
  if (language === '') errors.language = [BLANK];
  const variables = isScript(urlTemplate) ? null : syntax.templateVariables(urlTemplate);
  if (urlTemplate === '') errors.urlTemplate = [BLANK];
  else if (variables === null) errors.urlTemplate = ['Invalid URL template.'];

  const general: string[] = [];
  if (variables !== null && !variables.has('code')) {
    general.push('Missing the required variable "code" in the URL template');
  } else if (variables !== null && variables.size > 1) {
    general.push('"code" should be the only variable present in the URL template');
  }
  const isTaken = others.some((other) => other.name === name && other.language === language);
  if (isTaken && !errors.name && !errors.language) {
    general.push('Realm playground with this Realm, Pygments language and Name already exists.');
  }
  if (general.length > 0) errors.general = general;
  const [first] = [errors.name, errors.language, errors.urlTemplate, errors.general].flatMap((texts) => texts ?? []);
  if (first !== undefined) throw new DomainError('INVALID_PLAYGROUND', first, { errors });
  if (others.length >= MAX_PLAYGROUNDS) {
    throw new DomainError('TOO_MANY_PLAYGROUNDS', `Too many playgrounds (limit: ${MAX_PLAYGROUNDS}).`);
  }
  return playground;
}

export const isCodeLanguage = (name: string): boolean => /^[\p{L}\p{N} _+\-./#]*$/u.test(name);

/** Clients expand the template. A variable in its scheme would let the author of a code block complete `javascript`. */
export const isScript = (urlTemplate: string): boolean =>
  canBeScript(urlTemplate) || /^[\p{Cc}\s]*\{\+/u.test(urlTemplate) || /^[^:/?#]*\{[^}]*\}[^:/?#]*:/.test(urlTemplate);

const BLANK = 'This field cannot be blank.';

export const PLAYGROUND_ROWS: RowRules<Playground> = {
  kind: 'playground',
  owner: 'realm',
  order: ['id'],
  exported: {
    noun: 'playground',
    shape: { name: shape.name, language: shape.name, urlTemplate: shape.text(10_000) },
    max: 10_000,
  },
};

/** Sent to everyone on any change (organization §7). */
export interface PlaygroundEventTypes {
  'realm.playgrounds_changed': { readonly playgrounds: readonly Omit<Playground, 'realmId'>[] };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    playgrounds: [reads: RealmRowReads<Playground>, repository: RealmRows<Playground>];
  }
  interface DomainEventTypes extends PlaygroundEventTypes {}
  interface RealmCopyParts {
    readonly playgrounds: readonly Omit<Playground, 'realmId'>[];
  }
  interface IdKindParts {
    playground: number;
  }
}

export const PLAYGROUND_FEATURE = {
  eventFormats: { 'realm.playgrounds_changed': 1 },
  rows: { playgrounds: PLAYGROUND_ROWS },
} satisfies FeatureParts<PlaygroundEventTypes>;

/** Publishes the current playgrounds. */
export async function publishPlaygrounds(tx: Transaction, realmId: RealmId): Promise<void> {
  const playgrounds = (await tx.playgrounds.list(realmId)).map(({ realmId: _, ...playground }) => playground);
  await tx.events.append(realmId, {
    event: { type: 'realm.playgrounds_changed', playgrounds },
    audience: wholeRealm,
  });
}

/** Adds a playground (organization §7). */
export class AddPlayground {
  static readonly inject = ['unitOfWork', 'linkifierSyntax'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly syntax: LinkifierSyntax,
  ) {}

  /** Returns the id. @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_PLAYGROUND, TOO_MANY_PLAYGROUNDS */
  execute(caller: Caller, input: PlaygroundFields): Promise<number> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManagePlaygrounds(actor));
      const playground = checkPlayground(input, await tx.playgrounds.list(realmId), this.syntax);
      const { id } = await tx.playgrounds.add({ ...playground, realmId });
      await publishPlaygrounds(tx, realmId);
      return id;
    });
  }
}

export interface RemovePlaygroundInput {
  readonly id: number;
}

/** Removes a playground (organization §7). */
export class RemovePlayground {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_PLAYGROUND */
  execute(caller: Caller, { id }: RemovePlaygroundInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManagePlaygrounds(actor));
      const playground = await tx.playgrounds.find(realmId, id);
      if (!playground) throw new DomainError('UNKNOWN_PLAYGROUND', 'Invalid playground');
      await tx.playgrounds.remove(realmId, id);
      await publishPlaygrounds(tx, realmId);
    });
  }
}
