import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import type { LinkifierSyntax } from '../../linkifiers/check-linkifier.js';
import { canManagePlaygrounds } from '../../realm-permissions.js';
import { checkPlayground, type PlaygroundFields } from '../playground.js';
import { publishPlaygrounds } from '../publish-playgrounds.js';

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
