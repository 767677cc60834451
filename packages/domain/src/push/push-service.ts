import { DomainError } from '../kernel/errors.js';
import type { UserId } from '../kernel/ids.js';
import type { Realm } from '../realms/realm.js';
import type { Device, PendingRegistration, RegistrationError } from './device.js';
import type { PushToken } from './push-token.js';

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
