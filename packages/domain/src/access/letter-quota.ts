/** What letters are counted by. */
export type LetterRule =
  | 'emailChangeByUser'
  | 'passwordResetByEmail'
  | 'signUpByEmail'
  | 'loginByUser'
  | 'anonymousByIp';

/** Keeps people from having the server send letters without end, to themselves or to others (protocol §11). */
export interface LetterQuota {
  /**
   * Counts one. `ip`: of whoever asks, where anybody may make up the key. @throws DomainError RATE_LIMITED; what is refused
   * does not count
   */
  take(rule: LetterRule, key: string, ip?: string): void;
  /** As if the last one had not been: no letter was sent. */
  withdraw(rule: LetterRule, key: string, ip?: string): void;
}
