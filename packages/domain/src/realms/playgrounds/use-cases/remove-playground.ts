import type { Caller } from '../../../kernel/caller.js';
import { DomainError } from '../../../kernel/errors.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManagePlaygrounds } from '../../realm-permissions.js';
import { publishPlaygrounds } from '../publish-playgrounds.js';

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
