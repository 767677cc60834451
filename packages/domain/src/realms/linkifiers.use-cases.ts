import { DomainError } from '../kernel/errors.js';
import type { Caller } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { LinkifierRule } from '../markdown/markdown.js';
import {
  checkLinkifier,
  type Linkifier,
  type LinkifierFields,
  type LinkifierSyntax,
  publishLinkifiers,
  unknownLinkifier,
} from './linkifiers.js';
import { canManageLinkifiers } from './realm-permissions.js';

/** Lists linkifiers in order of application for any user (organization §6). */
export class ListLinkifiers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute({ realmId }: Caller): Promise<readonly Linkifier[]> {
    return (await this.uow.read(realmId, ({ realms }) => realms.get(realmId))).linkifiers;
  }
}

/** Appends a linkifier that applies to new messages (organization §6). */
export class AddLinkifier {
  static readonly inject = ['unitOfWork', 'linkifierSyntax'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly syntax: LinkifierSyntax,
  ) {}

  /** Returns the id. @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_LINKIFIER, TOO_MANY_LINKIFIERS */
  execute(caller: Caller, input: LinkifierFields): Promise<number> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      const { linkifiers } = await tx.realms.get(realmId);
      const { id } = await tx.linkifiers.add({ ...checkLinkifier(input, linkifiers, this.syntax), realmId });
      await publishLinkifiers(tx, realmId);
      return id;
    });
  }
}

/** Absent fields stay unchanged; blank text removes a value. */
export interface ChangeLinkifierInput extends LinkifierRule, Partial<Omit<LinkifierFields, keyof LinkifierRule>> {
  readonly id: number;
}

/** Changes a linkifier for messages sent or edited later (organization §6). */
export class ChangeLinkifier {
  static readonly inject = ['unitOfWork', 'linkifierSyntax'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly syntax: LinkifierSyntax,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_LINKIFIER, INVALID_LINKIFIER, TOO_MANY_LINKIFIERS */
  execute(caller: Caller, { id, ...input }: ChangeLinkifierInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      const linkifiers = await tx.linkifiers.list(realmId);
      const before = linkifiers.find((linkifier) => linkifier.id === id);
      if (!before) throw unknownLinkifier();
      const others = linkifiers.filter((linkifier) => linkifier !== before);
      const fields = checkLinkifier({ ...before, ...input }, others, this.syntax);
      await tx.linkifiers.update({ ...before, ...fields });
      await publishLinkifiers(tx, realmId);
    });
  }
}

export interface RemoveLinkifierInput {
  readonly id: number;
}

/** Removes a linkifier; sent messages keep their links (organization §6). */
export class RemoveLinkifier {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_LINKIFIER */
  execute(caller: Caller, { id }: RemoveLinkifierInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      if (!(await tx.linkifiers.find(realmId, id))) throw unknownLinkifier();
      await tx.linkifiers.remove(realmId, id);
      await publishLinkifiers(tx, realmId);
    });
  }
}

export interface ReorderLinkifiersInput {
  /** Ids of all linkifiers in the new order. */
  readonly ids: readonly number[];
}

/** Reorders linkifiers; the first match wins (organization §6). */
export class ReorderLinkifiers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_LINKIFIER_ORDER */
  execute(caller: Caller, { ids }: ReorderLinkifiersInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      const linkifiers = await tx.linkifiers.list(realmId);
      const positions = new Map(ids.map((id, position) => [id, position]));
      if (positions.size < ids.length) throw badOrder('The ordered list must not contain duplicated linkifiers');
      if (positions.size !== linkifiers.length || !linkifiers.every(({ id }) => positions.has(id))) {
        throw badOrder('The ordered list must enumerate all existing linkifiers exactly once');
      }
      if (ids.length === 0) return;
      for (const linkifier of linkifiers)
        await tx.linkifiers.update({ ...linkifier, position: getOrThrow(positions, linkifier.id) });
      await publishLinkifiers(tx, realmId);
    });
  }
}

const badOrder = (text: string) => new DomainError('INVALID_LINKIFIER_ORDER', text);
