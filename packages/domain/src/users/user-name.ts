import { DomainError } from '../kernel/errors.js';
import { foldCase, isLongerThan, isShorterThan, positionOfUnprintable, trim } from '../kernel/text.js';

/** In code points (protocol §14). */
const MAX_NAME_LENGTH = 100;
const MIN_NAME_LENGTH = 2;
/** For names that the operator or the host application gives: there are people whose name has one letter. */
export const SHORTEST_GIVEN_NAME = 1;

/** Returns the name trimmed. @throws DomainError INVALID_USER_NAME with the texts of users §3.3, in their order. */
export function parseFullName(raw: string, shortest = MIN_NAME_LENGTH): string {
  const name = trim(raw);
  if (isLongerThan(name, MAX_NAME_LENGTH)) throw new DomainError('INVALID_USER_NAME', 'Name too long!');
  if (isShorterThan(name, shortest)) throw new DomainError('INVALID_USER_NAME', 'Name too short!');
  if (/[*`\\>"@]/.test(name) || positionOfUnprintable(name) > 0)
    throw new DomainError('INVALID_USER_NAME', 'Invalid characters in name!');
  // `name|12` would read as a mention of user 12.
  if (/\|\d+$/.test(raw)) throw new DomainError('INVALID_USER_NAME', 'Invalid format!');
  return name;
}

/**
 * The form in which names are compared where the organization wants them unique. Folding may undo what NFKC did, so it
 * comes in between.
 */
export const foldedName = (name: string): string => foldCase(name.normalize('NFKC')).normalize('NFKC');
