import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManageLinkifiers } from '../../realm-permissions.js';
import { unknownLinkifier } from '../linkifier.js';
import { publishLinkifiers } from '../publish-linkifiers.js';

export interface RemoveLinkifierInput {
  readonly id: number;
}

/** Messages that were sent keep their links (organization §6). */
export class RemoveLinkifier {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_LINKIFIER */
  execute(caller: Caller, { id }: RemoveLinkifierInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      if (!(await tx.linkifiers.remove(realmId, id))) throw unknownLinkifier();
      await publishLinkifiers(tx, realmId);
    });
  }
}
