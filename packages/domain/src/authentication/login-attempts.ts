/** Keeps passwords from being guessed: a few attempts for each address, then a pause (protocol §11). */
export interface LoginAttempts {
  /** Counts one. @throws DomainError RATE_LIMITED; such an attempt does not count. */
  attempt(realmAndAddress: string): void;
  /** As if there had been none. */
  forget(realmAndAddress: string): void;
}
