import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob } from '../kernel/job.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import {
  CONFIRMATION_SECONDS,
  type Confirmation,
  type ConfirmationPurpose,
  KEEP_ENDED_CONFIRMATION_SECONDS,
  requireRoomForSignUp,
  subjectOf,
} from './confirmation.js';
import { CONFIRMATION_LETTER, FORGET_CONFIRMATION } from './confirmation-jobs.js';
import type { LinkKeys } from './link-keys.js';

type Wanted = Omit<Confirmation, 'id' | 'expiresAt' | 'status'>;

/** Sends the link of `openConfirmation`. @throws DomainError TOO_MANY_SIGN_UPS */
export async function requestConfirmation(tx: Transaction, wanted: Wanted, now: UnixSeconds): Promise<void> {
  const id = await openConfirmation(tx, wanted, now);
  const letter = { realmId: wanted.realmId, dueAt: now, payload: { confirmationId: id }, key: String(id) };
  await tx.jobs.schedule(encodeJob(CONFIRMATION_LETTER, letter));
}

/**
 * Answers what the link is derived from: that of the one before, where it is about the same, which is good for longer now; else a new
 * one, and the one before is worth nothing. @throws DomainError TOO_MANY_SIGN_UPS
 */
export async function openConfirmation(tx: Transaction, wanted: Wanted, now: UnixSeconds): Promise<number> {
  const { realmId, purpose } = wanted;
  const expiresAt = now + CONFIRMATION_SECONDS;
  let open = await tx.confirmations.findOpen(realmId, purpose, subjectOf(wanted));
  if (open && !isSame(open, wanted, now)) {
    await endConfirmation(tx, open, now);
    open = null;
  }
  if (open) await tx.confirmations.update({ ...open, expiresAt });
  else if (purpose === 'signUp') requireRoomForSignUp(await tx.confirmations.count(realmId, purpose));
  const { id } = open ?? (await tx.confirmations.add({ ...wanted, expiresAt, status: 'open' }));
  await forgetAt(tx, realmId, id, expiresAt + KEEP_ENDED_CONFIRMATION_SECONDS);
  return id;
}

/** As much work as a letter is, and none is sent: nobody learns from how long it takes whether an address is known. */
export async function pretendConfirmation(tx: Transaction, realmId: RealmId, now: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(
    encodeJob(CONFIRMATION_LETTER, { realmId, dueAt: now, payload: { confirmationId: null }, key: 'nobody' }),
  );
}

const isSame = (open: Confirmation, wanted: Wanted, now: UnixSeconds): boolean =>
  open.expiresAt > now && open.email === wanted.email && open.invitationId === wanted.invitationId;

/** Its link is worth nothing from now on. */
export async function endConfirmation(tx: Transaction, confirmation: Confirmation, now: UnixSeconds): Promise<void> {
  await tx.confirmations.update({ ...confirmation, status: 'ended' });
  await forgetAt(tx, confirmation.realmId, confirmation.id, now + KEEP_ENDED_CONFIRMATION_SECONDS);
}

/** What a user has under way, if anything. */
export async function endConfirmationOf(
  tx: Transaction,
  { realmId, id }: { readonly realmId: RealmId; readonly id: UserId },
  purpose: ConfirmationPurpose,
  now: UnixSeconds,
): Promise<void> {
  const open = await tx.confirmations.findOpen(realmId, purpose, String(id));
  if (open) await endConfirmation(tx, open, now);
}

/** @throws DomainError UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED */
export async function loadConfirmation(
  { confirmations }: Pick<Repositories | Transaction, 'confirmations'>,
  keys: LinkKeys,
  wanted: { readonly realmId: RealmId; readonly purpose: ConfirmationPurpose; readonly key: string },
  now: UnixSeconds,
): Promise<Confirmation> {
  const id = keys.read(wanted.key);
  const confirmation = id === null ? null : await confirmations.find(wanted.realmId, id);
  if (confirmation?.purpose !== wanted.purpose) {
    throw new DomainError('UNKNOWN_CONFIRMATION', 'The confirmation link could not be found.');
  }
  if (confirmation.status === 'ended' || confirmation.expiresAt <= now) throw confirmationExpired();
  return confirmation;
}

export const confirmationExpired = () =>
  new DomainError('CONFIRMATION_EXPIRED', 'The confirmation link has expired or been deactivated.');

async function forgetAt(tx: Transaction, realmId: RealmId, confirmationId: number, dueAt: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(
    encodeJob(FORGET_CONFIRMATION, { realmId, dueAt, payload: { confirmationId }, key: String(confirmationId) }),
  );
}
