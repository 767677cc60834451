import type { UnixSeconds } from './ids.js';

/** The time, as a port: the domain never asks the machine. */
export interface Clock {
  /** Whole seconds. */
  now(): UnixSeconds;
  /** Milliseconds since the epoch, for limits and expiry that need more than seconds. */
  nowMs(): number;
}

/** Chance, as a port. */
export interface Randomness {
  /** A fresh UUID (version 4), lower case. */
  uuid(): string;
  /** Uniform in [0, 1). */
  fraction(): number;
}

export type CancelTimer = () => void;

/** Timers, as a port. They keep no process alive, and go by a time of their own that no change of the clock reaches. */
export interface Timers {
  /** Milliseconds since some moment in the past; never goes back. */
  elapsedMs(): number;
  /** Once; a delay that no timer can hold ends early. */
  after(ms: number, run: () => void): CancelTimer;
  /** Again and again. */
  every(ms: number, run: () => void): CancelTimer;
}

/** The machine's event loop, as a port: long work lets others go first. */
export interface EventLoop {
  /** Resolves in a later turn, after what else was due has run. */
  nextTurn(): Promise<void>;
}

/**
 * Where problems go that nobody waits for an answer about: a stored row that cannot be read, a listener that fails. Never
 * throws. `fields` hold ids and names of things, never content; the cause is `err`.
 */
export type ReportProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** Whether anybody may be anybody, as on a developer's own machine. */
export interface DevelopmentMode {
  readonly isOn: boolean;
}

/** Says that nobody waits for a result any more. An `AbortSignal` is one. */
export interface Cancellation {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Where realms are reached from outside; pure string work over the server's public address. */
export interface RealmUrls {
  /** Without a slash at the end: `https://chat.example`. */
  urlOf(realm: AddressedRealm): string;
  /** What the realm's dummy addresses end in: its host, `user7@chat.example`; `parley.invalid` where that is no domain name. */
  emailDomainOf(realm: AddressedRealm): string;
}

/** What decides where a realm is reached. */
export interface AddressedRealm {
  /** Its subdomain; `''`: none. */
  readonly stringId: string;
  readonly isAtServerAddress: boolean;
}

/** The address of the server itself, without a realm's name in front. */
export const SERVER_ITSELF: AddressedRealm = { stringId: '', isAtServerAddress: true };
