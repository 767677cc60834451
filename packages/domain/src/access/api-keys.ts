import type { Cancellation } from '../kernel/cancellation.js';
import type { RealmId, UserId } from '../kernel/ids.js';

/** Where a key belongs. Keys themselves are never stored: see `ApiKeyMint`. */
export interface ApiKeyRecord {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Counts the user's keys; a new generation makes the old key worthless. */
  readonly generation: number;
}

export interface ApiKeyReads {
  /** By what `ApiKeyMint.fingerprint` makes of the key; across realms, because a key may be tried on the wrong one. */
  findByFingerprint(fingerprint: string): Promise<ApiKeyRecord | null>;
  find(realmId: RealmId, userId: UserId): Promise<ApiKeyRecord | null>;
  /** Of all realms, for rehashing after the secret has changed; ascending user. */
  listAll(): Promise<readonly ApiKeyRecord[]>;
  /** The fingerprint of the secret that the stored fingerprints were made with; null on a new database. */
  secretFingerprint(): Promise<string | null>;
}

/** Every implementation passes api-key-repository.contract.ts. */
export interface ApiKeyRepository extends ApiKeyReads {
  /** Replaces the user's record. */
  put(record: ApiKeyRecord, fingerprint: string): Promise<void>;
  setSecretFingerprint(fingerprint: string): Promise<void>;
}

/**
 * Derives a user's key from the server's secret, so that it can be shown again without being kept. Synchronous and
 * quick: it may run inside a unit.
 */
export interface ApiKeyMint {
  /** 32 characters `[A-Za-z0-9]`. */
  derive(record: ApiKeyRecord): string;
  /** What is stored of a key for looking it up: a keyed hash. */
  fingerprint(apiKey: string): string;
  /** Distinguishes one secret from another without revealing it. */
  readonly secretFingerprint: string;
}

/** For whom a password is hashed. */
export interface HashRequest {
  /**
   * A network address, or a user: clients take turns, and one that has many waiting is refused. Absent: the operator, who is
   * never refused.
   */
  readonly client?: string | undefined;
  readonly cancellation?: Cancellation | undefined;
}

/** Slow on purpose; runs outside units. */
export interface PasswordHasher {
  /** @throws DomainError SERVER_BUSY when too many are waiting, or nobody waits for this one any more. */
  hash(password: string, request?: HashRequest): Promise<string>;
  /** Takes as long for a null hash, so that nobody learns who exists. @throws DomainError SERVER_BUSY */
  verify(password: string, hash: string | null, request?: HashRequest): Promise<boolean>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    apiKeys: [reads: ApiKeyReads, repository: ApiKeyRepository];
  }
}
