import type { Caller } from '../../../kernel/caller.js';
import { enforce } from '../../../kernel/permission.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import type { LinkifierRule } from '../../../markdown/markdown.js';
import { canManageLinkifiers } from '../../realm-permissions.js';
import { checkLinkifier, type LinkifierSyntax } from '../check-linkifier.js';
import { type LinkifierFields, unknownLinkifier } from '../linkifier.js';
import { publishLinkifiers } from '../publish-linkifiers.js';

/** What is not given stays as it is; a blank text takes it away. */
export interface ChangeLinkifierInput extends LinkifierRule, Partial<Omit<LinkifierFields, keyof LinkifierRule>> {
  readonly id: number;
}

/** For what is sent or edited from now on (organization §6). */
export class ChangeLinkifier {
  static readonly inject = ['unitOfWork', 'linkifierSyntax'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly syntax: LinkifierSyntax,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_LINKIFIER, INVALID_LINKIFIER, TOO_MANY_LINKIFIERS */
  execute(caller: Caller, { id, ...given }: ChangeLinkifierInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId, ...actor } = await tx.actors.get(caller);
      enforce(canManageLinkifiers(actor));
      const { linkifiers } = await tx.realms.get(realmId);
      const before = linkifiers.find((linkifier) => linkifier.id === id);
      if (!before) throw unknownLinkifier();
      const others = linkifiers.filter((linkifier) => linkifier !== before);
      const fields = checkLinkifier({ ...before, ...given }, others, this.syntax);
      await tx.linkifiers.update(realmId, { id, ...fields });
      await publishLinkifiers(tx, realmId);
    });
  }
}
