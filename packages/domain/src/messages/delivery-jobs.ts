import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, type JobKind, jobKind } from '../kernel/job.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { accountDeactivated, realmDeactivated } from '../users/use-cases/password-log-in.js';

/** The id of what is to be delivered. */
export type DeliveryPayload = { readonly id: number };

/** What fails for no known reason is tried again twice, which is over long before it would be too late. */
const RETRIES = { maxAttempts: 3, firstDelaySeconds: 5, maxDelaySeconds: 60 };

/** Many are due at the same minute, when others write as well. */
const COMMON = { readPayload: idPayload<DeliveryPayload>('id'), retries: RETRIES, concurrency: 16 };

export const SCHEDULED_MESSAGE_JOB = jobKind({ name: 'scheduling.send_message', ...COMMON });
export const REMINDER_JOB = jobKind({ name: 'scheduling.send_reminder', ...COMMON });

interface Deliverable {
  readonly id: number;
  readonly realmId: RealmId;
  readonly dueAt: UnixSeconds;
}

/** In place of what was planned for it before: whoever is at work on that finds it gone. */
export async function planDelivery(
  tx: Transaction,
  kind: JobKind<DeliveryPayload>,
  { id, realmId, dueAt }: Deliverable,
): Promise<void> {
  await tx.jobs.schedule(encodeJob(kind, { realmId, dueAt, payload: { id }, key: String(id) }));
}

export async function cancelDelivery(
  tx: Transaction,
  kind: JobKind<DeliveryPayload>,
  { id, realmId }: Deliverable,
): Promise<void> {
  await tx.jobs.cancel(realmId, kind.name, String(id));
}

/** A delivery that fails for these is reported to nobody: its sender is gone. */
const SILENT = new Set<unknown>(['REALM_DEACTIVATED', 'USER_DEACTIVATED']);

export const isSilentFailure = (error: unknown): boolean => error instanceof DomainError && SILENT.has(error.code);

/** Users §20.5. @throws DomainError REALM_DEACTIVATED, USER_DEACTIVATED */
export async function requireActiveOwner(
  { realms, users }: Pick<Repositories | Transaction, 'realms' | 'users'>,
  { realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId },
): Promise<void> {
  const realm = await realms.get(realmId);
  if (realm.isDeactivated) throw realmDeactivated();
  const user = await users.find(realmId, userId);
  if (!user?.isActive) throw accountDeactivated();
}

/** What is kept of why something was not delivered. */
export const failureOf = (error: unknown): string =>
  error instanceof DomainError ? error.message : 'Internal server error';
