import { mustBeHuman } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { DeviceId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import {
  type Device,
  type PendingRegistration,
  type PushKey,
  requirePushKey,
  requireTokenId,
  unknownDevice,
} from '../device.js';
import { type DeviceChange, updateDevice } from '../push-events.js';
import { scheduleRegistration } from '../push-jobs.js';
import { type PushService, requirePushService } from '../push-service.js';
import type { PushTokenKind } from '../push-token.js';

export interface RegisterForPushInput {
  readonly deviceId: DeviceId;
  /** Null: not given, or not in full. */
  readonly key: PushKey | null;
  /** Likewise. */
  readonly token: NewPushToken | null;
}

/** A token that only the push service can read. */
export interface NewPushToken extends PendingRegistration {
  readonly kind: PushTokenKind;
}

/** Gives a device a key, a token or both (organization §12). The push service gets a token later, by a job. */
export class RegisterForPush {
  static readonly inject = ['unitOfWork', 'pushService', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_BOT, PUSH_SERVICE_NOT_CONFIGURED, UNKNOWN_DEVICE, PUSH_REGISTRATION_INCOMPLETE,
   * NO_PUSH_REGISTRATION, INVALID_PUSH_KEY, PUSH_REGISTRATION_IN_PROGRESS, INVALID_PUSH_TOKEN
   */
  execute(caller: Caller, { deviceId, key, token }: RegisterForPushInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const { id: userId, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeHuman({ isBot }));
      requirePushService(this.service);
      const device = await tx.devices.find(realmId, userId, deviceId);
      if (!device) throw unknownDevice();
      requireAcceptable(device, key, token);
      if (token) await this.register(tx, device, key, token);
      else if (!isSameKey(device.key, key!)) await updateDevice(tx, { ...device, key }, { keyId: key!.id });
    });
  }

  private async register(tx: Transaction, device: Device, key: PushKey | null, token: NewPushToken): Promise<void> {
    const { kind, ...pending } = token;
    const isRegistered = device.error === null && device.tokenId === token.tokenId;
    if (isRegistered && (!key || (isSameKey(device.key, key) && device.tokenKind === kind))) return;
    const now = this.clock.now();
    const changed: Device = {
      ...device,
      ...(key && { key, tokenKind: kind }),
      pending,
      tokenUpdatedAt: now,
      error: null,
    };
    const change: DeviceChange = {
      ...(key && { keyId: key.id }),
      pendingTokenId: token.tokenId,
      tokenUpdatedAt: now,
      error: null,
    };
    await updateDevice(tx, changed, change);
    await scheduleRegistration(tx, changed, now);
  }
}

/** Rows 5–11 of organization §12, in their order. */
function requireAcceptable(device: Device, key: PushKey | null, token: NewPushToken | null): void {
  if (!key && !token) {
    throw new DomainError(
      'PUSH_REGISTRATION_INCOMPLETE',
      'Missing parameters: must provide either all push key fields, all token fields, or both.',
    );
  }
  if (!token) {
    if (!device.key) throw noRegistration('key');
    requirePushKey(key!.key);
    return;
  }
  if (device.pending && !device.error) {
    throw new DomainError('PUSH_REGISTRATION_IN_PROGRESS', 'A registration for the device already in progress.');
  }
  requireTokenId(token.tokenId);
  if (key) requirePushKey(key.key);
  else if (!device.key) throw noRegistration('token');
}

const noRegistration = (what: 'key' | 'token') =>
  new DomainError('NO_PUSH_REGISTRATION', `No push registration exists to rotate ${what} for.`);

const isSameKey = (one: PushKey | null, { id, key }: PushKey): boolean => one?.id === id && one.key === key;
