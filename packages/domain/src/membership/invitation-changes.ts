import { anyOf, users } from '../kernel/audience.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob } from '../kernel/job.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { atLeast } from '../users/user-delivery.js';
import {
  type Invitation,
  type InvitationEntry,
  isOpen,
  KEEP_ENDED_SECONDS,
  type NewInvitations,
  reminderAt,
} from './invitation.js';
import { FORGET_INVITATION, INVITATION_LETTER } from './invitation-jobs.js';

/** Organization §9.6. */
export const publishInvitations = (tx: Transaction, realmId: RealmId, inviterId: UserId): Promise<unknown> =>
  tx.events.append(realmId, {
    event: { type: 'invitations.changed' },
    audience: anyOf(atLeast('administrator'), users([inviterId])),
  });

/** Stores them, with what is to happen when their time comes. Announces nothing. */
export async function addInvitations(
  tx: Transaction,
  given: NewInvitations,
  emails: readonly (string | null)[],
): Promise<readonly Invitation[]> {
  const added = await tx.invitations.add(given, emails);
  const reminded = reminderAt(given);
  for (const invitation of added) {
    if (given.expiresAt !== null) await forgetAt(tx, invitation, given.expiresAt + KEEP_ENDED_SECONDS);
    if (given.kind === 'link') continue;
    await sendLetter(tx, invitation, given.invitedAt);
    if (reminded !== null) await sendLetter(tx, invitation, reminded, true);
    await tx.yield();
  }
  return added;
}

/** Used or revoked: for a while that is known of it. */
export async function endInvitation(
  tx: Transaction,
  invitation: InvitationEntry,
  status: 'used' | 'revoked',
  now: UnixSeconds,
): Promise<void> {
  await tx.invitations.update({ ...invitation, status });
  await forgetAt(tx, invitation, now + KEEP_ENDED_SECONDS);
}

export async function sendLetter(
  tx: Transaction,
  { id, realmId }: InvitationEntry,
  dueAt: UnixSeconds,
  isReminder = false,
): Promise<void> {
  const payload = { invitationId: id, isReminder };
  const key = `${id}${isReminder ? ' reminder' : ''}`;
  await tx.jobs.schedule(encodeJob(INVITATION_LETTER, { realmId, dueAt, payload, key }));
}

async function forgetAt(tx: Transaction, { id, realmId }: InvitationEntry, dueAt: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(encodeJob(FORGET_INVITATION, { realmId, dueAt, payload: { invitationId: id }, key: `${id}` }));
}

/** Of somebody who leaves: none of theirs is good from now on (organization §9.4). */
export async function expireInvitationsOf(
  tx: Transaction,
  realmId: RealmId,
  inviterId: UserId,
  now: UnixSeconds,
): Promise<void> {
  const open = (await tx.invitations.listOpen(realmId, now, inviterId)).filter((each) => isOpen(each, now));
  for (const invitation of open) {
    await tx.invitations.update({ ...invitation, expiresAt: now });
    await forgetAt(tx, invitation, now + KEEP_ENDED_SECONDS);
    await tx.yield();
  }
  if (open.length > 0) await publishInvitations(tx, realmId, inviterId);
}
