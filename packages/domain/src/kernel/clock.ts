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
