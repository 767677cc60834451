import type { Caller } from '../kernel/caller.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Invitation } from './invitation.js';
import { canChangeInvitation, type InvitationKind } from './invitation-permissions.js';

/**
 * One that the caller may revoke or send again (organization §9.4).
 * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER, INVITATION_REVOKED
 */
export async function loadChangeable(
  tx: Transaction,
  caller: Caller,
  { kind, id }: { readonly kind: InvitationKind; readonly id: number },
): Promise<Invitation> {
  const actor = await tx.actors.get(caller);
  const found = await tx.invitations.find(caller.realmId, id);
  // Ids are those of a kind; what was accepted is nobody's to change.
  const invitation = found?.kind === kind && found.status !== 'used' ? found : null;
  enforce(canChangeInvitation(actor, invitation && { ...invitation, isRevoked: invitation.status === 'revoked' }));
  return invitation!;
}
