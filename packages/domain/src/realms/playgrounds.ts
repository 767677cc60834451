import { DomainError } from '../kernel/errors.js';
import { type FeatureParts, wholeRealm } from '../kernel/event.js';
import type { Caller, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { LinkifierSyntax } from './linkifiers.js';
import { canManagePlaygrounds } from './realm-permissions.js';

/** Where the code blocks of a language can be tried (organization §7). */
export interface PlaygroundFields {
  readonly name: string;
  /** As a highlighter names it: `Python`. */
  readonly language: string;
  /** An RFC 6570 template whose only variable is `code`. */
  readonly urlTemplate: string;
}

export interface Playground extends PlaygroundFields {
  /** No other one on the server has had it. */
  readonly id: number;
}

/** Texts by what they are about; those in `general` are about several fields. Each list has at least one. */
export type PlaygroundProblems = { readonly [K in keyof PlaygroundFields | 'general']?: readonly string[] };

/** Every client gets all of them whenever one changes. */
export const MAX_PLAYGROUNDS = 200;

/**
 * Trimmed.
 * @throws DomainError INVALID_PLAYGROUND, or TOO_MANY_PLAYGROUNDS with the others that there are
 */
export function checkPlayground(
  given: PlaygroundFields,
  others: readonly PlaygroundFields[],
  syntax: Pick<LinkifierSyntax, 'templateVariables'>,
): PlaygroundFields {
  const playground = { name: trim(given.name), language: trim(given.language), urlTemplate: trim(given.urlTemplate) };
  const { name, language, urlTemplate } = playground;
  const errors: { -readonly [K in keyof PlaygroundProblems]: PlaygroundProblems[K] } = {};
  if (name === '') errors.name = [BLANK];
  if (language === '') errors.language = [BLANK];
  else if (!/^[\p{L}\p{N} _+\-./#]*$/u.test(language)) errors.language = ['Invalid characters in pygments language'];
  const variables = syntax.templateVariables(urlTemplate);
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

const BLANK = 'This field cannot be blank.';

export interface PlaygroundReads {
  /** Ascending id. */
  list(realmId: RealmId): Promise<readonly Playground[]>;
}

/** Every implementation passes realm-lists.contract.ts. */
export interface PlaygroundRepository extends PlaygroundReads {
  /** Answers its id. */
  add(realmId: RealmId, playground: PlaygroundFields): Promise<number>;
  /** Whether it was there. */
  remove(realmId: RealmId, id: number): Promise<boolean>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    playgrounds: [reads: PlaygroundReads, repository: PlaygroundRepository];
  }
}

/** To everybody, whatever changed (organization §7). */
export interface PlaygroundEventTypes {
  'realm.playgrounds_changed': { readonly playgrounds: readonly Playground[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends PlaygroundEventTypes {}
}

export const PLAYGROUND_FEATURE = {
  eventFormats: { 'realm.playgrounds_changed': 1 },
} satisfies FeatureParts<PlaygroundEventTypes>;

/** As they are now. */
export async function publishPlaygrounds(tx: Transaction, realmId: RealmId): Promise<void> {
  const playgrounds = await tx.playgrounds.list(realmId);
  await tx.events.append(realmId, {
    event: { type: 'realm.playgrounds_changed', playgrounds },
    audience: wholeRealm,
  });
}

/** Organization §7. */
export class AddPlayground {
  static readonly inject = ['unitOfWork', 'linkifierSyntax'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly syntax: LinkifierSyntax,
  ) {}

  /** Answers its id. @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_PLAYGROUND, TOO_MANY_PLAYGROUNDS */
  execute(caller: Caller, given: PlaygroundFields): Promise<number> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManagePlaygrounds(actor));
      const playground = checkPlayground(given, await tx.playgrounds.list(realmId), this.syntax);
      const id = await tx.playgrounds.add(realmId, playground);
      await publishPlaygrounds(tx, realmId);
      return id;
    });
  }
}

export interface RemovePlaygroundInput {
  readonly id: number;
}

/** Organization §7. */
export class RemovePlayground {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_PLAYGROUND */
  execute(caller: Caller, { id }: RemovePlaygroundInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManagePlaygrounds(actor));
      if (!(await tx.playgrounds.remove(realmId, id)))
        throw new DomainError('UNKNOWN_PLAYGROUND', 'Invalid playground');
      await publishPlaygrounds(tx, realmId);
    });
  }
}
