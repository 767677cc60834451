import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { DeviceId, GroupId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { RowRules, UserRow, UserRowReads, UserRows } from '../kernel/rows.js';
import { decodeBase64, isLongerThan } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { MessageView } from '../messages/message.js';
import type { Realm } from '../realms/realm.js';
import type { NotificationText } from './notification-text.js';
import type { PushStatus } from './push-status.js';

export const PUSH_ERRORS = declareErrors({
  /** No push service is configured. */
  PUSH_SERVICE_NOT_CONFIGURED: 'unavailable',
  /** The caller has no such device. */
  UNKNOWN_DEVICE: 'unknown',
  /** Neither a complete key nor a complete token is given. */
  PUSH_REGISTRATION_INCOMPLETE: 'invalid',
  /** The device has no key to replace. */
  NO_PUSH_REGISTRATION: 'conflict',
  /** Not Base64 of 33 bytes, or for an unknown cipher. */
  INVALID_PUSH_KEY: 'invalid',
  /** The registration of a former token is still pending. */
  PUSH_REGISTRATION_IN_PROGRESS: 'conflict',
  /** The token or its name has an invalid format. */
  INVALID_PUSH_TOKEN: 'invalid',
  /** The caller has not added the token. */
  UNKNOWN_PUSH_TOKEN: 'unknown',
  /** The token to be tested is not the caller's. */
  PUSH_DEVICE_NOT_RECOGNIZED: 'unknown',
  /** No device of the caller is registered with the push service. */
  NO_ACTIVE_PUSH_DEVICE: 'conflict',
  /** The push service does not know the token. */
  PUSH_TOKEN_UNKNOWN_TO_SERVICE: 'conflict',
  /** The push service cannot be reached. */
  PUSH_SERVICE_UNREACHABLE: 'unavailable',
  /** The push service failed. */
  PUSH_SERVICE_FAILED: 'unavailable',
  /** The push service does not serve this server; the operator must act. */
  PUSH_SERVICE_DENIED: 'unavailable',
  /** The push service refused the request; the text comes from the service. */
  PUSH_SERVICE_REFUSED: 'conflict',
  /** The push service does not serve the organization, or no longer does. */
  PUSH_NOT_ALLOWED: 'conflict',
  /** A notification could not be delivered within a day. */
  NOTIFICATION_EXPIRED: 'conflict',
});

type PushErrors = typeof PUSH_ERRORS;

/** Key for encrypting notifications to a device. */
export interface PushKey {
  /** Unsigned 32-bit number chosen by the client. */
  readonly id: number;
  /** Base64 of 33 bytes: the first identifies the cipher, the rest is the key. */
  readonly key: string;
}

/** Token to forward to the push service, which alone can decrypt it (organization §12.3). */
export interface PendingRegistration {
  /** Identifies the token: Base64 of the first eight bytes of its SHA-256. */
  readonly tokenId: string;
  /** Public key of the push service used to encrypt the token. */
  readonly publicKey: string;
  readonly encrypted: string;
}

/** Reasons why the push service rejects a token (organization §12.2). */
export type RegistrationError = 'unknownPublicKey' | 'invalidRegistration' | 'expired';
export const REGISTRATION_ERRORS: readonly RegistrationError[] = ['unknownPublicKey', 'invalidRegistration', 'expired'];

/** App on a user's phone or tablet that registers for push notifications (organization §11). */
export interface Device extends UserRow {
  readonly id: DeviceId;
  readonly key: PushKey | null;
  readonly tokenKind: PushTokenKind | null;
  /** Token registered with the push service. */
  readonly tokenId: string | null;
  /** Registration of that token, which a server that sends directly to phones decrypts for each notification. */
  readonly registration: PendingRegistration | null;
  readonly pending: PendingRegistration | null;
  /** Time at which the client last set a token. */
  readonly tokenUpdatedAt: UnixSeconds | null;
  /** Error of the pending registration. */
  readonly error: RegistrationError | null;
}

export const DEVICE_ROWS: RowRules<Device> = { kind: 'device', owner: 'user', order: ['id'] };

/** Device with only an id. */
export const NEW_DEVICE: Omit<Device, keyof UserRow> = {
  key: null,
  tokenKind: null,
  tokenId: null,
  registration: null,
  pending: null,
  tokenUpdatedAt: null,
  error: null,
};

/** Limit per user; a new device replaces the one with the oldest token. */
export const MAX_DEVICES = 100;

export const unknownDevice = () => new DomainError('UNKNOWN_DEVICE', 'Invalid `device_id`');

const KEY_BYTES = 33;
/** Cipher id of XSalsa20-Poly1305, the only supported cipher. */
const SECRETBOX = 0x31;
const TOKEN_ID_BYTES = 8;

/** @throws DomainError INVALID_PUSH_KEY */
export function requirePushKey(key: string): void {
  const bytes = decodeBase64(key);
  if (bytes?.length !== KEY_BYTES || bytes[0] !== SECRETBOX) {
    throw new DomainError('INVALID_PUSH_KEY', 'Invalid `push_key`');
  }
}

/** @throws DomainError INVALID_PUSH_TOKEN */
export function requireTokenId(tokenId: string): void {
  if (decodeBase64(tokenId)?.length !== TOKEN_ID_BYTES) {
    throw new DomainError('INVALID_PUSH_TOKEN', '`token_id` is not Base64 encoded');
  }
}

export interface DeviceReads extends UserRowReads<Device> {
  /** Returns the given users who have a device with a key and a registered token. */
  filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
}

/** Every implementation passes push-repositories.contract.ts. */
export type DeviceRepository = DeviceReads & UserRows<Device>;

/** Returns the viewer's devices by ascending id. */
export const loadDevices = ({ caller, repositories }: Snapshot): Promise<readonly Device[]> =>
  repositories.devices.list(caller.realmId, caller.userId);

export const PUSH_TOKEN_KINDS = ['apns', 'fcm'] as const;
/** Kind of push token: Apple's or Google's push service. */
export type PushTokenKind = (typeof PUSH_TOKEN_KINDS)[number];

/** Legacy registration: this server knows the token, and notifications are not encrypted. */
export interface PushToken {
  readonly kind: PushTokenKind;
  readonly token: string;
  /** App id, for Apple tokens only. */
  readonly iosAppId: string | null;
}

/** In code points. */
const MAX_TOKEN_LENGTH = 4096;
/** Limit per user; a new token replaces the oldest one. */
export const MAX_PUSH_TOKENS = 100;

/** Base64 alphabet, which includes all hexadecimal digits. */
const BASE64_CHARACTERS = /^[A-Za-z\d+/=]*$/;

/** @throws DomainError INVALID_PUSH_TOKEN with the texts of organization §13, in that order */
export function requirePushToken(kind: PushTokenKind, token: string): void {
  if (token === '' || isLongerThan(token, MAX_TOKEN_LENGTH)) {
    throw new DomainError('INVALID_PUSH_TOKEN', 'Empty or invalid length token');
  }
  if (kind === 'apns' && (!BASE64_CHARACTERS.test(token) || token.length % 4 !== 0)) {
    throw new DomainError('INVALID_PUSH_TOKEN', 'Invalid APNS token');
  }
}

export interface PushTokenReads {
  /** Returns tokens in order of addition. */
  list(realmId: RealmId, userId: UserId): Promise<readonly PushToken[]>;
  /** Returns the given users who have a token. */
  filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
}

/** Every implementation passes push-repositories.contract.ts. */
export interface PushTokenRepository extends PushTokenReads {
  /** Idempotent. */
  add(realmId: RealmId, userId: UserId, token: PushToken): Promise<void>;
  /** Idempotent. */
  remove(realmId: RealmId, userId: UserId, token: Pick<PushToken, 'kind' | 'token'>): Promise<void>;
  removeAll(realmId: RealmId, userId: UserId): Promise<void>;
}

/** Changed fields of a device; unchanged fields are absent. */
export interface DeviceChange {
  readonly keyId?: number;
  readonly tokenId?: string | null;
  readonly pendingTokenId?: string | null;
  readonly tokenUpdatedAt?: UnixSeconds;
  readonly error?: RegistrationError | null;
}

/** Events sent to the owner of the device (organization §11). */
export interface PushEventTypes {
  'device.added': { readonly deviceId: DeviceId };
  'device.removed': { readonly deviceId: DeviceId };
  'device.changed': { readonly deviceId: DeviceId; readonly change: DeviceChange };
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends PushErrors {}
  interface RepositoryMap {
    devices: [reads: DeviceReads, repository: DeviceRepository];
    pushTokens: [reads: PushTokenReads, repository: PushTokenRepository];
  }
  interface DomainEventTypes extends PushEventTypes {}
}

export const PUSH_FEATURE = {
  eventFormats: {
    'device.added': 1,
    'device.removed': 1,
    'device.changed': 1,
  },
  notExported: {
    devices: 'Apps register anew.',
    pushTokens: 'Apps register anew.',
  },
  rows: { devices: DEVICE_ROWS },
} satisfies FeatureParts<PushEventTypes>;

/** Removes a device and notifies the user's clients. */
export async function removeDevice(tx: Transaction, { realmId, userId, id }: Device): Promise<void> {
  await tx.devices.remove(realmId, userId, id);
  await tx.events.append(realmId, { event: { type: 'device.removed', deviceId: id }, audience: users([userId]) });
}

/** Updates a device and notifies the user's clients. */
export async function updateDevice(tx: Transaction, device: Device, change: DeviceChange): Promise<void> {
  await tx.devices.update(device);
  await tx.events.append(device.realmId, {
    event: { type: 'device.changed', deviceId: device.id, change },
    audience: users([device.userId]),
  });
}

/** User with tokens stored by the push service. */
export interface PushRecipient {
  readonly realm: Realm;
  readonly userId: UserId;
}

/** Registered device with all data needed for a notification. */
export type ActiveDevice = Device & Required<{ [K in 'key' | 'tokenId' | 'tokenKind']: NonNullable<Device[K]> }>;

export const isActiveDevice = (device: Device): device is ActiveDevice =>
  device.key !== null && device.tokenId !== null && device.tokenKind !== null;

/** Content of a notification; adapters convert it to the receiver's format (organization §14). */
export type PushNotice =
  | MessageNotice
  | { readonly type: 'remove'; readonly messageIds: readonly MessageId[] }
  | { readonly type: 'test'; readonly time: UnixSeconds };

export interface MessageNotice {
  readonly type: 'message';
  readonly view: MessageView;
  /** True if the recipient is a guest who may not see the sender. */
  readonly isSenderHidden: boolean;
  readonly senderName: string;
  /** Mentioned group that caused the notification. */
  readonly group: { readonly id: GroupId; readonly name: string } | null;
  readonly text: NotificationText;
  /** Topic in the recipient's language; empty for direct messages. */
  readonly topic: string;
}

/** Result of sending notifications. */
export interface PushDelivery {
  readonly sent: number;
  /** Ids of tokens that are no longer valid. */
  readonly goneTokenIds: readonly string[];
  /** Legacy tokens that are no longer valid. */
  readonly goneTokens: readonly Pick<PushToken, 'kind' | 'token'>[];
  /** Ids of tokens, including legacy ones, that were not reached while others were. */
  readonly unreached: readonly string[];
  /** Null if the push service reports no status for the organization. */
  readonly status: PushStatus | null;
}

/**
 * Sends notifications to phones (organization §17, §18). Calls another server, so it must be used outside units of
 * work. Promise-returning methods throw DomainError PUSH_SERVICE_UNREACHABLE, PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED,
 * PUSH_SERVICE_REFUSED and PUSH_NOT_ALLOWED.
 */
export interface PushService {
  /** Returns the id of a token: Base64 of the first eight bytes of its SHA-256. */
  tokenIdOf(token: string): string;
  /** Returns null on success. Idempotent per token. */
  registerEncrypted(realm: Realm, registration: PendingRegistration): Promise<RegistrationError | null>;
  /** Idempotent. */
  registerToken(to: PushRecipient, token: PushToken): Promise<void>;
  /** Idempotent. */
  unregisterToken(to: PushRecipient, token: Pick<PushToken, 'kind' | 'token'>): Promise<void>;
  /** @throws DomainError PUSH_TOKEN_UNKNOWN_TO_SERVICE in addition to the above */
  sendTest(to: PushRecipient, token: PushToken): Promise<void>;
  /** Encrypts the notice separately for each device. */
  sendEncrypted(to: PushRecipient, devices: readonly ActiveDevice[], notice: PushNotice): Promise<PushDelivery>;
  sendLegacy(to: PushRecipient, tokens: readonly PushToken[], notice: PushNotice): Promise<PushDelivery>;
  /** Returns the status by organization UUID; organizations that are not served are absent. */
  askAbout(realms: readonly Realm[]): Promise<ReadonlyMap<string, PushStatus>>;
}

/** Requires a configured push service. @throws DomainError PUSH_SERVICE_NOT_CONFIGURED */
export function requirePushService(service: PushService | null): PushService {
  if (service) return service;
  throw new DomainError('PUSH_SERVICE_NOT_CONFIGURED', 'Server is not configured to use push notification service.');
}
