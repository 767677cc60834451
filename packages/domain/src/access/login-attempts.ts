import type { RealmId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';

/**
 * Keeps passwords from being guessed: a few attempts for each address, then a pause (protocol §11). `ip`: of whoever tries,
 * so that nobody makes it forget by trying invented addresses.
 */
export interface LoginAttempts {
  /** Counts one. @throws DomainError RATE_LIMITED; such an attempt does not count. */
  attempt(realmAndAddress: string, ip?: string): void;
  /** As if the last attempt had not been: no password was looked at. */
  withdraw(realmAndAddress: string, ip?: string): void;
  /** As if there had been none. */
  forget(realmAndAddress: string, ip?: string): void;
}

/** What attempts for an address are counted under; null: on a host of no realm, where none ever counts. */
export const loginAttemptKey = (realmId: RealmId | null, address: string): string => `${realmId}:${foldCase(address)}`;
