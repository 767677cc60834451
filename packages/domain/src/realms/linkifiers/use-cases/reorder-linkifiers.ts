import type { Caller } from '../../../kernel/caller.js';
import { DomainError } from '../../../kernel/errors.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManageLinkifiers } from '../../realm-permissions.js';
import { publishLinkifiers } from '../publish-linkifiers.js';

export interface ReorderLinkifiersInput {
  /** All of them. */
  readonly ids: readonly number[];
}

/** What comes first wins where several match (organization §6). */
export class ReorderLinkifiers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_LINKIFIER_ORDER */
  execute(caller: Caller, { ids }: ReorderLinkifiersInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      const { linkifiers } = await tx.realms.get(realmId);
      const named = new Set(ids);
      if (named.size < ids.length) throw badOrder('The ordered list must not contain duplicated linkifiers');
      if (named.size !== linkifiers.length || !linkifiers.every(({ id }) => named.has(id))) {
        throw badOrder('The ordered list must enumerate all existing linkifiers exactly once');
      }
      if (ids.length === 0) return;
      await tx.linkifiers.reorder(realmId, ids);
      await publishLinkifiers(tx, realmId);
    });
  }
}

const badOrder = (text: string) => new DomainError('INVALID_LINKIFIER_ORDER', text);
