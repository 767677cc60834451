import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { canManageLinkifiers } from '../../realm-permissions.js';
import { checkLinkifier, type LinkifierSyntax } from '../check-linkifier.js';
import type { LinkifierFields } from '../linkifier.js';
import { publishLinkifiers } from '../publish-linkifiers.js';

/** For what is sent from now on; comes after all others (organization §6). */
export class AddLinkifier {
  static readonly inject = ['unitOfWork', 'linkifierSyntax'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly syntax: LinkifierSyntax,
  ) {}

  /** Answers its id. @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_LINKIFIER, TOO_MANY_LINKIFIERS */
  execute(caller: Caller, given: LinkifierFields): Promise<number> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      const { linkifiers } = await tx.realms.get(realmId);
      const id = await tx.linkifiers.add(realmId, checkLinkifier(given, linkifiers, this.syntax));
      await publishLinkifiers(tx, realmId);
      return id;
    });
  }
}
