import { endConfirmationOf } from '../access/confirmations.js';
import { type ApiKeyMint, endSessions, putNewApiKey } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import { type DeviceId, isId, type RealmId, type SessionId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, jobKind, MAX_JOB_PAYLOAD_LENGTH } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import {
  type Device,
  PUSH_TOKEN_KINDS,
  type PushService,
  type PushToken,
  type PushTokenKind,
  type RegistrationError,
  requirePushService,
  updateDevice,
} from './push.js';

/** Time after which a pending registration expires (organization §12.2). */
const REGISTRATION_SECONDS = 86_400;
/** Lease longer than the timeout of the push service. */
const LEASE_SECONDS = 60;

interface RegistrationJob {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly tokenId: string;
  readonly requestedAt: UnixSeconds;
}

/** Delays grow up to one hour, so the attempts span more than a day. */
const REGISTRATION = jobKind<RegistrationJob>({
  name: 'push.register',
  readPayload: (stored) => {
    const { userId, deviceId, tokenId, requestedAt } = stored as Partial<RegistrationJob>;
    if (!isId(userId) || !isId(deviceId) || typeof tokenId !== 'string' || !Number.isSafeInteger(requestedAt)) {
      throw new TypeError('Job payload has no push registration');
    }
    return stored as RegistrationJob;
  },
  leaseSeconds: LEASE_SECONDS,
  callsOthers: true,
  retries: { maxAttempts: 60, firstDelaySeconds: 5, maxDelaySeconds: 3600 },
});

/** Schedules registration of the device's pending token, replacing an earlier job. */
export async function scheduleRegistration(tx: Transaction, device: Device, now: UnixSeconds): Promise<void> {
  const { id: deviceId, realmId, userId, pending } = device;
  const payload = { userId, deviceId, tokenId: pending!.tokenId, requestedAt: now };
  await tx.jobs.schedule(encodeJob(REGISTRATION, { realmId, dueAt: now, key: `device ${deviceId}`, payload }));
}

/** Registers devices with the push service (organization §12.2). */
export class RegisterDevices implements JobHandler<RegistrationJob> {
  static readonly inject = ['unitOfWork', 'pushService', 'clock'] as const;

  readonly kind = REGISTRATION;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<RegistrationJob>) {
    const found = await this.uow.read(realmId, async ({ devices, realms }) => {
      const device = await devices.find(realmId, payload.userId, payload.deviceId);
      return device && { device, realm: await realms.get(realmId) };
    });
    if (!found?.device.pending) return async () => {};
    const error = await this.register(found.realm, found.device.pending, payload.requestedAt);
    return (tx: Transaction) => this.finish(tx, realmId, payload, error);
  }

  /** Runs after the last attempt, long after the registration has expired. */
  giveUp(tx: Transaction, { realmId, payload }: Job<RegistrationJob>): Promise<void> {
    return this.finish(tx, realmId, payload, 'expired');
  }

  private async register(
    realm: Parameters<PushService['registerEncrypted']>[0],
    pending: NonNullable<Device['pending']>,
    requestedAt: UnixSeconds,
  ): Promise<RegistrationError | null> {
    if (this.clock.now() - requestedAt > REGISTRATION_SECONDS) return 'expired';
    return retryingLater(() => requirePushService(this.service).registerEncrypted(realm, pending));
  }

  private async finish(
    tx: Transaction,
    realmId: RealmId,
    { userId, deviceId, tokenId }: RegistrationJob,
    error: RegistrationError | null,
  ): Promise<void> {
    const device = await tx.devices.find(realmId, userId, deviceId);
    // The client may have removed the device in the meantime.
    if (device?.pending?.tokenId !== tokenId) return;
    if (error) {
      await updateDevice(tx, { ...device, error }, { error });
      return;
    }
    const registered = { ...device, tokenId, registration: device.pending, pending: null, error: null };
    await updateDevice(tx, registered, { tokenId, pendingTokenId: null });
    await this.removeOldToken(tx, realmId, userId, tokenId);
  }

  /** Prevents duplicate notifications to one phone. */
  private async removeOldToken(tx: Transaction, realmId: RealmId, userId: UserId, tokenId: string): Promise<void> {
    if (!this.service) return;
    for (const token of await tx.pushTokens.list(realmId, userId)) {
      if (this.service.tokenIdOf(token.token) !== tokenId) continue;
      await tx.pushTokens.remove(realmId, userId, token);
      await scheduleUnregistration(tx, realmId, userId, token, this.clock.now());
    }
  }
}

interface UnregistrationJob extends Pick<PushToken, 'kind' | 'token'> {
  readonly userId: UserId;
}

const UNREGISTRATION = jobKind<UnregistrationJob>({
  name: 'push.unregister',
  readPayload: (stored) => {
    const { userId, kind, token } = stored as Partial<UnregistrationJob>;
    if (!isId(userId) || !PUSH_TOKEN_KINDS.includes(kind as PushTokenKind) || typeof token !== 'string') {
      throw new TypeError('Job payload has no push token');
    }
    return stored as UnregistrationJob;
  },
  leaseSeconds: LEASE_SECONDS,
  callsOthers: true,
});

/** Schedules removal of a token at the push service. */
async function scheduleUnregistration(
  tx: Transaction,
  realmId: RealmId,
  userId: UserId,
  { kind, token }: Pick<PushToken, 'kind' | 'token'>,
  now: UnixSeconds,
): Promise<void> {
  const payload = { userId, kind, token };
  // The token is too long to have been issued by a push service.
  if (JSON.stringify(payload).length > MAX_JOB_PAYLOAD_LENGTH) return;
  await tx.jobs.schedule(encodeJob(UNREGISTRATION, { realmId, dueAt: now, payload }));
}

/** Removes a user's legacy push tokens locally and at the push service. */
export async function removePushTokens(
  tx: Transaction,
  realmId: RealmId,
  userId: UserId,
  now: UnixSeconds,
): Promise<void> {
  const tokens = await tx.pushTokens.list(realmId, userId);
  if (tokens.length === 0) return;
  await tx.pushTokens.removeAll(realmId, userId);
  for (const token of tokens) await scheduleUnregistration(tx, realmId, userId, token, now);
}

/** If the push service stays unreachable, the token remains registered there until a notification is rejected. */
export class UnregisterTokens implements JobHandler<UnregistrationJob> {
  static readonly inject = ['unitOfWork', 'pushService'] as const;

  readonly kind = UNREGISTRATION;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  async prepare({ realmId, payload: { userId, ...token } }: Job<UnregistrationJob>) {
    const { service } = this;
    if (service) {
      const { realm, tokens } = await this.uow.read(realmId, async ({ realms, pushTokens }) => ({
        realm: await realms.get(realmId),
        tokens: await pushTokens.list(realmId, userId),
      }));
      // The app may have registered the token again in the meantime.
      const isBack = tokens.some((it) => it.kind === token.kind && it.token === token.token);
      if (!isBack) await retryingLater(() => service.unregisterToken({ realm, userId }, token));
    }
    return async () => {};
  }

  async giveUp(): Promise<void> {}
}

/** Converts push service errors to retryable ones, since jobs treat a DomainError as permanent. */
export async function retryingLater<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unavailable') throw new Error(error.message, { cause: error });
    throw error;
  }
}

/**
 * Issues a new API key and revokes the old one. Closes the user's event queues, and browser sessions except `except`.
 * Removes legacy push tokens and cancels a pending email change. Returns the new key.
 */
export async function replaceApiKey(
  tx: Transaction,
  mint: ApiKeyMint,
  user: { readonly realmId: RealmId; readonly id: UserId },
  { now, except }: { readonly now: UnixSeconds; readonly except?: SessionId | undefined },
): Promise<string> {
  const { realmId, id: userId } = user;
  const generation = ((await tx.apiKeys.find(realmId, userId))?.generation ?? 0) + 1;
  const apiKey = await putNewApiKey(tx, mint, { realmId, userId, generation });
  const queues = await tx.queues.listOf(realmId, userId);
  await tx.queues.remove(
    realmId,
    queues.map(({ id }) => id),
  );
  await endSessions(tx, user, except);
  await removePushTokens(tx, realmId, userId, now);
  // Anyone with the old key could have requested an email change.
  await endConfirmationOf(tx, user, 'emailChange', now);
  await tx.events.append(realmId, { event: { type: 'user.api_key_replaced', userId }, audience: nobody });
  return apiKey;
}

/**
 * Returns the user's key. Issues a new one if there is none or `rotates` is set. `find` throws if the user must be
 * rejected.
 */
export async function issueKeyOf(
  { uow, mint, clock }: { readonly uow: UnitOfWork; readonly mint: ApiKeyMint; readonly clock: Clock },
  realmId: RealmId,
  find: (repositories: Repositories | Transaction) => Promise<{ readonly realmId: RealmId; readonly id: UserId }>,
  { rotates }: { readonly rotates: boolean },
): Promise<string> {
  if (!rotates) {
    const record = await uow.read(realmId, async (repositories) => {
      const user = await find(repositories);
      return repositories.apiKeys.find(realmId, user.id);
    });
    if (record) return mint.derive(record);
  }
  return uow.write(realmId, async (tx) => replaceApiKey(tx, mint, await find(tx), { now: clock.now() }));
}
