import './authentication-errors.js';
import { DomainError } from '../kernel/errors.js';
import { isLongerThan, isShorterThan } from '../kernel/text.js';

/** As sent to clients (protocol §8.3). */
export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_LENGTH = 100;
export const PASSWORD_MIN_GUESSES = 10_000;

/** How many guesses somebody needs who knows these words of the person: their name, their address. */
export interface PasswordStrength {
  leastGuesses(password: string, known: readonly string[]): number;
}

/** @throws DomainError WEAK_PASSWORD */
export function checkPassword(strength: PasswordStrength, password: string, known: readonly string[]): void {
  if (!isPasswordStrong(strength, password, known)) throw new DomainError('WEAK_PASSWORD', 'The password is too weak.');
}

/** `known`: words of the person, which others try first. */
export function isPasswordStrong(strength: PasswordStrength, password: string, known: readonly string[]): boolean {
  const fits = !isShorterThan(password, PASSWORD_MIN_LENGTH) && !isLongerThan(password, PASSWORD_MAX_LENGTH);
  return fits && strength.leastGuesses(password, known) >= PASSWORD_MIN_GUESSES;
}
