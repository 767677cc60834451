import type { RealmId, UnixSeconds } from './ids.js';

/** Clock port; the domain never reads the system time. */
export interface Clock {
  /** Current time in whole seconds. */
  now(): UnixSeconds;
  /** Milliseconds since the epoch, for limits and expiry that need a finer resolution. */
  nowMs(): number;
}

/** Port for random values. */
export interface Randomness {
  /** New version 4 UUID in lower case. */
  uuid(): string;
  /** Uniformly distributed in [0, 1). */
  fraction(): number;
}

/**
 * Random bits (128 or more) stored with a row, from which its keys, links and tokens are derived. Ids start again after
 * the restore of a backup, so a credential of ids alone would open later rows. Null for rows of releases before 0.4: their
 * credentials are derived from the id.
 */
export type Seed = string | null;

/** Content of a token for one row. */
export interface Ticket {
  readonly realmId: RealmId;
  readonly id: number;
  readonly expiresAt: UnixSeconds;
}

/** Signs and verifies tickets, so that a token needs no row. Synchronous and fast. */
export interface TicketTokens {
  /** Returns URL-safe text. `seed`: that of the row. */
  sign(ticket: Ticket, seed: Seed): string;
  /**
   * Returns the row of a token; null for a wrong signature. `load` returns the row of the ticket, which is not verified
   * yet, or null if it has expired or belongs elsewhere.
   */
  find<Row extends { readonly seed: Seed }>(
    token: string,
    load: (ticket: Ticket) => Promise<Row | null>,
  ): Promise<Row | null>;
}

export type CancelTimer = () => void;

/** Timer port. Timers do not keep the process alive and use a monotonic clock. */
export interface Timers {
  /** Monotonic time in milliseconds from an arbitrary start. */
  elapsedMs(): number;
  /** Runs once; a delay longer than the platform's maximum ends early. */
  after(ms: number, run: () => void): CancelTimer;
  /** Runs repeatedly. */
  every(ms: number, run: () => void): CancelTimer;
}

/**
 * Reports problems outside of requests, such as an unreadable row or a failing listener. Never throws. `fields`
 * contains ids and names but no content; `err` is the cause. Level `warn` is for failures of other servers.
 */
export type ReportProblem = (message: string, fields: Readonly<Record<string, unknown>>, level?: 'warn') => void;

/** Development mode, in which anyone can log in as any user. */
export interface DevelopmentMode {
  readonly isOn: boolean;
}

/** Log-in of the host application, which needs no method of the organization. */
export interface HostAuthentication {
  readonly isOn: boolean;
}

/** Signals that the result is no longer needed. An `AbortSignal` satisfies this interface. */
export interface Cancellation {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Public URLs of realms, derived from the server's public address. */
export interface RealmUrls {
  /** Returns the realm URL without a trailing slash, such as `https://chat.example`. */
  urlOf(realm: AddressedRealm): string;
  /**
   * Returns the domain of the realm's dummy emails: its host, as in `user7@chat.example`, or `parley.invalid` if the
   * host is not a domain name.
   */
  emailDomainOf(realm: AddressedRealm): string;
}

/** Realm data that determines its URL. */
export interface AddressedRealm {
  /** Subdomain; `''` if there is none. */
  readonly stringId: string;
  readonly isAtServerAddress: boolean;
}

/** Address of the server itself, without a subdomain. */
export const SERVER_ITSELF: AddressedRealm = { stringId: '', isAtServerAddress: true };
