import './push-errors.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { isLongerThan } from '../kernel/text.js';

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
