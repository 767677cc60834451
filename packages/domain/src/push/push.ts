import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { DeviceId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import { decodeBase64, isLongerThan } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';

export const PUSH_ERRORS = declareErrors({
  /** The operator named no push service. */
  PUSH_SERVICE_NOT_CONFIGURED: 'unavailable',
  UNKNOWN_DEVICE: 'unknown',
  /** Neither a key nor a token is given in full. */
  PUSH_REGISTRATION_INCOMPLETE: 'invalid',
  /** The device has no key yet, so that there is nothing whose key or token could be exchanged. */
  NO_PUSH_REGISTRATION: 'conflict',
  INVALID_PUSH_KEY: 'invalid',
  PUSH_REGISTRATION_IN_PROGRESS: 'conflict',
  INVALID_PUSH_TOKEN: 'invalid',
  /** Of those that the user has. */
  UNKNOWN_PUSH_TOKEN: 'unknown',
  /** To be tested, and of nobody here. */
  PUSH_DEVICE_NOT_RECOGNIZED: 'unknown',
  /** No device of the user is registered with the push service. */
  NO_ACTIVE_PUSH_DEVICE: 'conflict',
  /** The push service does not know the token. */
  PUSH_TOKEN_UNKNOWN_TO_SERVICE: 'conflict',
  PUSH_SERVICE_UNREACHABLE: 'unavailable',
  /** The push service failed. */
  PUSH_SERVICE_FAILED: 'unavailable',
  /** The push service does not serve this server; whoever runs it has to see to it. */
  PUSH_SERVICE_DENIED: 'unavailable',
  /** The push service refuses what it was asked; the text is its own. */
  PUSH_SERVICE_REFUSED: 'conflict',
});

type PushErrors = typeof PUSH_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PushErrors {}
}

/** With which notifications to a device are encrypted. */
export interface PushKey {
  /** Chosen by the client; a 32-bit number without a sign. */
  readonly id: number;
  /** Base64 of 33 bytes: the first names the cipher, the others are the key. */
  readonly key: string;
}

/** A token on its way to the push service, which alone can read it (organization §12.3). */
export interface PendingRegistration {
  /** Names the token: Base64 of the first eight bytes of its SHA-256. */
  readonly tokenId: string;
  /** Of the push service's keys, the one that it is encrypted with. */
  readonly publicKey: string;
  readonly encrypted: string;
}

/** Why the push service did not take a token (organization §12.2). */
export type RegistrationError = 'unknownPublicKey' | 'invalidRegistration' | 'expired';
export const REGISTRATION_ERRORS: readonly RegistrationError[] = ['unknownPublicKey', 'invalidRegistration', 'expired'];

/** A phone or tablet of a user's, as one app on it registers for push notifications (organization §11). */
export interface Device {
  readonly id: DeviceId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly key: PushKey | null;
  readonly tokenKind: PushTokenKind | null;
  /** Of the token that is registered with the push service. */
  readonly tokenId: string | null;
  readonly pending: PendingRegistration | null;
  /** When the client last set a token. */
  readonly tokenUpdatedAt: UnixSeconds | null;
  /** Of the registration that is pending. */
  readonly error: RegistrationError | null;
}

/** Of a user; one more takes the place of the one whose token is the oldest. */
export const MAX_DEVICES = 100;

export const unknownDevice = () => new DomainError('UNKNOWN_DEVICE', 'Invalid `device_id`');

const KEY_BYTES = 33;
/** The only cipher so far: XSalsa20 with Poly1305. */
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

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    devices: [reads: DeviceReads, repository: DeviceRepository];
  }
}

export interface DeviceReads {
  /** Null for one of another user's. */
  find(realmId: RealmId, userId: UserId, id: DeviceId): Promise<Device | null>;
  /** Ascending id. */
  list(realmId: RealmId, userId: UserId): Promise<readonly Device[]>;
}

/** Every implementation passes push-repositories.contract.ts. */
export interface DeviceRepository extends DeviceReads {
  /** With nothing but an id. */
  add(realmId: RealmId, userId: UserId): Promise<Device>;
  update(device: Device): Promise<void>;
  remove(device: Pick<Device, 'id' | 'realmId'>): Promise<void>;
}

/** The viewer's own; ascending id. */
export const loadDevices = ({ caller, repositories }: Snapshot): Promise<readonly Device[]> =>
  repositories.devices.list(caller.realmId, caller.userId);

export const PUSH_TOKEN_KINDS = ['apns', 'fcm'] as const;
/** Apple's service or Google's. */
export type PushTokenKind = (typeof PUSH_TOKEN_KINDS)[number];

/** What older apps register with: this server knows the token, and notifications to it are not encrypted. */
export interface PushToken {
  readonly kind: PushTokenKind;
  readonly token: string;
  /** Of Apple's only: which app. */
  readonly iosAppId: string | null;
}

/** In code points. */
const MAX_TOKEN_LENGTH = 4096;
/** Of a user; one more takes the place of the one that was added first. */
export const MAX_PUSH_TOKENS = 100;

/** Hex digits are among them. */
const BASE64_CHARACTERS = /^[A-Za-z\d+/=]*$/;

/** @throws DomainError INVALID_PUSH_TOKEN with the texts of organization §13, in their order */
export function requirePushToken(kind: PushTokenKind, token: string): void {
  if (token === '' || isLongerThan(token, MAX_TOKEN_LENGTH)) {
    throw new DomainError('INVALID_PUSH_TOKEN', 'Empty or invalid length token');
  }
  if (kind === 'apns' && (!BASE64_CHARACTERS.test(token) || token.length % 4 !== 0)) {
    throw new DomainError('INVALID_PUSH_TOKEN', 'Invalid APNS token');
  }
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    pushTokens: [reads: PushTokenReads, repository: PushTokenRepository];
  }
}

export interface PushTokenReads {
  /** In the order of adding. */
  list(realmId: RealmId, userId: UserId): Promise<readonly PushToken[]>;
}

/** Every implementation passes push-repositories.contract.ts. */
export interface PushTokenRepository extends PushTokenReads {
  /** Without effect where the user has it. */
  add(realmId: RealmId, userId: UserId, token: PushToken): Promise<void>;
  /** Without effect where the user does not have it. */
  remove(realmId: RealmId, userId: UserId, token: Pick<PushToken, 'kind' | 'token'>): Promise<void>;
  removeAll(realmId: RealmId, userId: UserId): Promise<void>;
}

/** What changed of a device; what is absent did not. */
export interface DeviceChange {
  readonly keyId?: number;
  readonly tokenId?: string | null;
  readonly pendingTokenId?: string | null;
  readonly tokenUpdatedAt?: UnixSeconds;
  readonly error?: RegistrationError | null;
}

/** All to the user whose device it is (organization §11). */
export interface PushEventTypes {
  'device.added': { readonly deviceId: DeviceId };
  'device.removed': { readonly deviceId: DeviceId };
  'device.changed': { readonly deviceId: DeviceId; readonly change: DeviceChange };
}

declare module '../kernel/event.js' {
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
} satisfies FeatureParts<PushEventTypes>;

/** Removes a device, and tells its user's clients. */
export async function removeDevice(tx: Transaction, device: Device): Promise<void> {
  await tx.devices.remove(device);
  await tx.events.append(device.realmId, {
    event: { type: 'device.removed', deviceId: device.id },
    audience: users([device.userId]),
  });
}

/** Stores what a device has become, and tells its user's clients. */
export async function updateDevice(tx: Transaction, device: Device, change: DeviceChange): Promise<void> {
  await tx.devices.update(device);
  await tx.events.append(device.realmId, {
    event: { type: 'device.changed', deviceId: device.id, change },
    audience: users([device.userId]),
  });
}

/** Whose tokens the push service keeps. */
export interface PushRecipient {
  readonly realm: Realm;
  readonly userId: UserId;
}

/** A device that is registered: what a notification to it takes. */
export type ActiveDevice = Device & Required<{ [K in 'key' | 'tokenId' | 'tokenKind']: NonNullable<Device[K]> }>;

/** What became of notifications. */
export interface PushDelivery {
  readonly sent: number;
  /** Names of tokens that are none any more. */
  readonly goneTokenIds: readonly string[];
}

/**
 * Carries notifications to phones (organization §17). Talks to another server, so that it is asked outside of units.
 * Methods that answer a promise throw DomainError PUSH_SERVICE_UNREACHABLE, PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED and
 * PUSH_SERVICE_REFUSED.
 */
export interface PushService {
  /** What names a token: Base64 of the first eight bytes of its SHA-256. */
  tokenIdOf(token: string): string;
  /** Null: it is registered. Again with the same token: without effect. */
  registerEncrypted(realm: Realm, registration: PendingRegistration): Promise<RegistrationError | null>;
  /** Without effect when it is registered. */
  registerToken(to: PushRecipient, token: PushToken): Promise<void>;
  /** Without effect when it is not registered. */
  unregisterToken(to: PushRecipient, token: Pick<PushToken, 'kind' | 'token'>): Promise<void>;
  /** @throws DomainError PUSH_TOKEN_UNKNOWN_TO_SERVICE too */
  sendTest(to: PushRecipient, token: PushToken): Promise<void>;
  /** Encrypts the payload for each device. */
  sendEncrypted(to: PushRecipient, devices: readonly ActiveDevice[], payload: object): Promise<PushDelivery>;
}

/** Null where the operator named none. @throws DomainError PUSH_SERVICE_NOT_CONFIGURED */
export function requirePushService(service: PushService | null): PushService {
  if (service) return service;
  throw new DomainError('PUSH_SERVICE_NOT_CONFIGURED', 'Server is not configured to use push notification service.');
}
