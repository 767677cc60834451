import './push-errors.js';
import { decodeBase64 } from '../kernel/base64.js';
import { DomainError } from '../kernel/errors.js';
import type { DeviceId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { PushTokenKind } from './push-token.js';

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
