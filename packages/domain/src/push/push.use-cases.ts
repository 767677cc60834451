import { mustBeHuman } from '../access/actor.js';
import { isBounced } from '../access/bounces.js';
import { composeEmail, emailWords, type Mailer, type NoticeTexts } from '../access/email.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { Caller, DeviceId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import type { DigestConfig } from './digests.js';
import {
  type Device,
  type DeviceChange,
  isActiveDevice,
  MAX_DEVICES,
  MAX_PUSH_TOKENS,
  NEW_DEVICE,
  type PendingRegistration,
  type PushKey,
  type PushService,
  type PushToken,
  type PushTokenKind,
  removeDevice,
  requirePushKey,
  requirePushService,
  requirePushToken,
  requireTokenId,
  unknownDevice,
  updateDevice,
} from './push.js';
import { scheduleRegistration } from './push-jobs.js';
import { isSameStatus, type PushStatus, setPushStatus, UNKNOWN_PUSH_STATUS } from './push-status.js';
import type { WebPushService } from './web-push.js';

/** Adds a device, which then registers for push notifications (organization §11). */
export class AddDevice {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_NOT_BE_BOT */
  execute(caller: Caller): Promise<DeviceId> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { id: userId, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeHuman({ isBot }));
      const present = await tx.devices.list(realmId, userId);
      if (present.length >= MAX_DEVICES) await removeDevice(tx, leastUsed(present));
      const { id } = await tx.devices.add({ realmId, userId, ...NEW_DEVICE });
      await tx.events.append(realmId, { event: { type: 'device.added', deviceId: id }, audience: users([userId]) });
      return id;
    });
  }
}

/** Returns the device with the oldest or no token; on a tie, the one added first. */
const leastUsed = (devices: readonly Device[]): Device =>
  devices.reduce((least, device) => ((device.tokenUpdatedAt ?? 0) < (least.tokenUpdatedAt ?? 0) ? device : least));

/** Removes one of the caller's devices (organization §11). */
export class RemoveDevice {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_DEVICE */
  execute(caller: Caller, { deviceId }: { readonly deviceId: DeviceId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { id: userId, realmId } = await tx.actors.get(caller);
      const device = await tx.devices.find(realmId, userId, deviceId);
      if (!device) throw unknownDevice();
      await removeDevice(tx, device);
    });
  }
}

/** Registers a legacy push token (organization §13). */
export class AddPushToken {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /**
   * Idempotent. @throws DomainError MUST_NOT_BE_BOT, INVALID_PUSH_TOKEN, PUSH_SERVICE_UNREACHABLE,
   * PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, token: PushToken): Promise<void> {
    const { realm, isStored } = await this.uow.read(caller.realmId, async (repositories) => {
      await enforceHuman(repositories, caller);
      requirePushToken(token.kind, token.token);
      const tokens = await repositories.pushTokens.list(caller.realmId, caller.userId);
      return { realm: await repositories.realms.get(caller.realmId), isStored: tokens.some((it) => isSame(it, token)) };
    });
    if (isStored) return;
    // Registers first, so that a token rejected by the service is not stored.
    await this.service?.registerToken({ realm, userId: caller.userId }, token);
    await this.uow.write(caller.realmId, async (tx) => {
      const { id: userId, realmId } = await tx.actors.get(caller);
      const tokens = await tx.pushTokens.list(realmId, userId);
      const isMore = !tokens.some((it) => isSame(it, token));
      if (isMore && tokens.length >= MAX_PUSH_TOKENS) await tx.pushTokens.remove(realmId, userId, firstOf(tokens));
      await tx.pushTokens.add(realmId, userId, token);
    });
  }
}

export async function enforceHuman(
  { actors }: Pick<Repositories | Transaction, 'actors'>,
  caller: Caller,
): Promise<void> {
  enforce(mustBeHuman(await actors.get(caller)));
}

export const isSame = (one: PushToken, other: Pick<PushToken, 'kind' | 'token'>): boolean =>
  one.kind === other.kind && one.token === other.token;

/** Removes a legacy push token (organization §13). */
export class RemovePushToken {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_BOT, INVALID_PUSH_TOKEN, UNKNOWN_PUSH_TOKEN, PUSH_SERVICE_UNREACHABLE,
   * PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, input: Pick<PushToken, 'kind' | 'token'>): Promise<void> {
    const { realm, token } = await this.uow.read(caller.realmId, async (repositories) => {
      await enforceHuman(repositories, caller);
      requirePushToken(input.kind, input.token);
      const tokens = await repositories.pushTokens.list(caller.realmId, caller.userId);
      const found = tokens.find((it) => isSame(it, input));
      if (!found) throw new DomainError('UNKNOWN_PUSH_TOKEN', 'Token does not exist');
      return { realm: await repositories.realms.get(caller.realmId), token: found };
    });
    await this.service?.unregisterToken({ realm, userId: caller.userId }, token);
    await this.uow.write(caller.realmId, (tx) => tx.pushTokens.remove(caller.realmId, caller.userId, token));
  }
}

export interface RegisterForPushInput {
  readonly deviceId: DeviceId;
  /** Null if absent or incomplete. */
  readonly key: PushKey | null;
  /** Null if absent or incomplete. */
  readonly token: NewPushToken | null;
}

/** Token encrypted for the push service. */
export interface NewPushToken extends PendingRegistration {
  readonly kind: PushTokenKind;
}

/** Sets a device's key, token or both (organization §12). A job registers the token with the push service. */
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
    return this.uow.write(caller.realmId, async (tx) => {
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

/** Checks rows 5–11 of organization §12 in that order. */
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

/** Sends a test notification to legacy push tokens (organization §13). */
export class SendTestPush {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /**
   * `token`: null for all of the caller's tokens, possibly none. @throws DomainError MUST_NOT_BE_BOT,
   * PUSH_DEVICE_NOT_RECOGNIZED, PUSH_SERVICE_NOT_CONFIGURED, PUSH_TOKEN_UNKNOWN_TO_SERVICE, PUSH_SERVICE_UNREACHABLE,
   * PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, input: { readonly token: string | null }): Promise<void> {
    const { realm, tokens } = await this.uow.read(caller.realmId, async (repositories) => {
      await enforceHuman(repositories, caller);
      const all = await repositories.pushTokens.list(caller.realmId, caller.userId);
      const wanted = input.token === null ? all : all.filter(({ token }) => token === input.token);
      if (input.token !== null && wanted.length === 0) {
        throw new DomainError('PUSH_DEVICE_NOT_RECOGNIZED', 'Device not recognized');
      }
      return { realm: await repositories.realms.get(caller.realmId), tokens: wanted };
    });
    if (tokens.length === 0) return;
    const service = requirePushService(this.service);
    for (const token of tokens) await service.sendTest({ realm, userId: caller.userId }, token);
  }
}

/** Sends an encrypted test notification to the caller's devices (organization §13). */
export class SendEncryptedTestPush {
  static readonly inject = ['unitOfWork', 'pushService', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
    private readonly clock: Clock,
  ) {}

  /**
   * `deviceId`: null for all registered devices. @throws DomainError MUST_NOT_BE_BOT, NO_ACTIVE_PUSH_DEVICE (also if
   * the service reports all tokens as gone), PUSH_SERVICE_NOT_CONFIGURED, PUSH_SERVICE_UNREACHABLE,
   * PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, { deviceId }: { readonly deviceId: DeviceId | null }): Promise<void> {
    const { realmId, userId } = caller;
    const { realm, devices } = await this.uow.read(realmId, async (repositories) => {
      await enforceHuman(repositories, caller);
      const all = await repositories.devices.list(realmId, userId);
      const wanted = all.filter(({ id }) => deviceId === null || id === deviceId);
      return { realm: await repositories.realms.get(realmId), devices: wanted.filter(isActiveDevice) };
    });
    if (devices.length === 0) throw noActiveDevice();
    const service = requirePushService(this.service);
    const notice = { type: 'test', time: this.clock.now() } as const;
    const { goneTokenIds } = await service.sendEncrypted({ realm, userId }, devices, notice);
    if (goneTokenIds.length === 0) return;
    await this.uow.write(realmId, async (tx) => {
      for (const device of await tx.devices.list(realmId, userId)) {
        if (device.tokenId !== null && goneTokenIds.includes(device.tokenId)) await removeDevice(tx, device);
      }
    });
    if (devices.every(({ tokenId }) => goneTokenIds.includes(tokenId))) throw noActiveDevice();
  }
}

const noActiveDevice = () => new DomainError('NO_ACTIVE_PUSH_DEVICE', 'No active registered push device');

/** Maximum number of organizations per status request. */
const REALMS_AT_A_TIME = 100;

/** Queries the push service for the organizations it serves, about once an hour. */
export class RefreshPushStatus {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /** @throws DomainError PUSH_SERVICE_UNREACHABLE, PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED */
  async execute(): Promise<void> {
    const realms = (await this.uow.readAcross((reads) => reads.realms.list())).filter((it) => !it.isDeactivated);
    for (let start = 0; start < realms.length; start += REALMS_AT_A_TIME) {
      const some = realms.slice(start, start + REALMS_AT_A_TIME);
      const statuses = this.service ? await this.service.askAbout(some) : new Map<string, PushStatus>();
      for (const { id, uuid } of some) {
        const status = statuses.get(uuid) ?? UNKNOWN_PUSH_STATUS;
        const before = (await this.uow.read(id, ({ pushStatus }) => pushStatus.find(id))) ?? UNKNOWN_PUSH_STATUS;
        if (isSameStatus(before, status)) continue;
        await this.uow.write(id, (tx) => setPushStatus(tx, id, status));
      }
    }
  }
}

/** Result of one test notification. */
export interface TestedTarget {
  readonly channel: 'push' | 'push_legacy' | 'web_push' | 'email';
  /** Device, kind of token, host of the browser's push service, or email address; never a token. */
  readonly target: string;
  /** `sent`, or the reason for the failure. */
  readonly result: string;
}

const SENT = 'sent';
export const isSent = ({ result }: TestedTarget): boolean => result === SENT;

/** Domain of users without an email address. */
const WITHOUT_MAILBOX = /\.invalid$/i;

/** Test notifications by email. */
export class TestEmails {
  static readonly inject = ['unitOfWork', 'mailer', 'noticeTexts', 'digestConfig', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mailer: Mailer,
    private readonly texts: NoticeTexts,
    /** Digests are sent exactly where emails about messages are. */
    private readonly config: DigestConfig,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** True if the user gets notifications by email. */
  reaches(user: User): boolean {
    return this.config.sendsDigests && !WITHOUT_MAILBOX.test(user.email);
  }

  async send(realm: Realm, user: User): Promise<string> {
    const { name } = realm;
    const { language, t } = emailWords(this.texts, user, realm);
    const organization = `${name} (${this.realmUrls.urlOf(realm)})`;
    const email = {
      to: user.email,
      senderName: t('{name} notifications', { name }),
      language,
      subject: t('Test notification'),
      paragraphs: [t('This is a test notification from {organization}.', { organization })],
    };
    return attemptTest(async () => {
      await this.mailer.send(composeEmail(email));
      return (await isBounced(this.uow, email.to)) ? 'bounced' : SENT;
    });
  }
}

/**
 * Sends a test notification to all of a user's phones and browsers and to the mailbox, and returns the result of each.
 */
export class SendTestNotifications {
  static readonly inject = ['unitOfWork', 'pushService', 'webPushService', TestEmails, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly pushService: PushService | null,
    private readonly webPushService: WebPushService | null,
    private readonly emails: TestEmails,
    private readonly clock: Clock,
  ) {}

  async execute({ realmId, userId }: Pick<Caller, 'realmId' | 'userId'>): Promise<readonly TestedTarget[]> {
    const { realm, user, devices, tokens, browsers } = await this.uow.read(realmId, async (reads) => ({
      realm: await reads.realms.get(realmId),
      user: await reads.users.find(realmId, userId),
      devices: (await reads.devices.list(realmId, userId)).filter(isActiveDevice),
      tokens: await reads.pushTokens.list(realmId, userId),
      browsers: await reads.webPush.list(realmId, [userId]),
    }));
    const to = { realm, userId };
    const notice = { type: 'test', time: this.clock.now() } as const;
    const tested: TestedTarget[] = [];
    for (const device of devices) {
      const target = `${device.tokenKind} device ${device.id}`;
      const send = this.pushService && (() => this.pushService!.sendEncrypted(to, [device], notice));
      const result = await attemptTest(send && (async () => ((await send()).goneTokenIds.length > 0 ? 'gone' : SENT)));
      tested.push({ channel: 'push', target, result });
    }
    for (const token of tokens) {
      const send = this.pushService && (() => this.pushService!.sendTest(to, token));
      const result = await attemptTest(send && (async () => send().then(() => SENT)));
      tested.push({ channel: 'push_legacy', target: `${token.kind} token`, result });
    }
    for (const browser of browsers) {
      const target = browser.endpoint.split('/')[2] ?? '';
      const send = this.webPushService && (() => this.webPushService!.send(realm, browser, notice));
      tested.push({ channel: 'web_push', target, result: await attemptTest(send) });
    }
    if (user && this.emails.reaches(user)) {
      tested.push({ channel: 'email', target: user.email, result: await this.emails.send(realm, user) });
    }
    return tested;
  }
}

async function attemptTest(send: (() => Promise<string>) | null): Promise<string> {
  if (!send) return 'not configured';
  try {
    return await send();
  } catch (error) {
    return (error as Error).message;
  }
}
