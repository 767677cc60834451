import type { LinkKeys } from '../../access/link-keys.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { InvitationEntry } from '../invitation.js';
import { invitationLink } from '../invitation-link.js';
import { canUseInvitations, seesAllInvitations } from '../invitation-permissions.js';

export interface ListedInvitation {
  readonly invitation: InvitationEntry;
  /** Null: it went by mail. */
  readonly link: string | null;
}

/** Those that somebody could still accept (organization §9.2). */
export class ListInvitations {
  static readonly inject = ['unitOfWork', 'invitationKeys', 'realmUrls', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  /** Those by mail first; ascending id. @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT */
  async execute(caller: Caller): Promise<readonly ListedInvitation[]> {
    const { realm, invitations } = await this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      enforce(canUseInvitations(actor));
      const inviterId = seesAllInvitations(actor) ? null : actor.id;
      return {
        realm: await repositories.realms.get(caller.realmId),
        invitations: await repositories.invitations.listOpen(caller.realmId, this.clock.now(), inviterId),
      };
    });
    const url = this.realmUrls.urlOf(realm);
    return invitations.map((invitation) => ({
      invitation,
      link: invitation.kind === 'link' ? invitationLink(url, this.keys.derive(invitation.id)) : null,
    }));
  }
}
