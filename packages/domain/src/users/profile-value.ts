import { DomainError } from '../kernel/errors.js';
import type { ProfileFieldId, UserId } from '../kernel/ids.js';
import { isLongerThan } from '../kernel/text.js';
import { isUrl } from '../kernel/url.js';
import type { ProfileField, ProfileFieldKind } from './profile-field.js';
import type { User } from './user.js';

/** What a user says in one field. */
export interface ProfileValue {
  readonly fieldId: ProfileFieldId;
  /** As clients get it: of users a JSON list of ids. */
  readonly value: string;
  /** HTML, of the kinds that are rendered; null: of others, and of nothing. */
  readonly rendered: string | null;
}

/** A user as others see them, with what they say about themselves; ascending field. */
export interface UserWithProfile extends User {
  readonly profile: readonly ProfileValue[];
}

/** What a request gives as a value; null takes the value away. */
export type GivenProfileValue = string | readonly UserId[] | null;

/** In code points. */
const MAX_LENGTH: Readonly<Partial<Record<ProfileFieldKind, number>>> = {
  shortText: 50,
  longText: 500,
  externalAccount: 50,
  pronouns: 50,
};
/** In one value. */
export const MAX_USERS_IN_VALUE = 100;

export const isRenderedKind = (kind: ProfileFieldKind): boolean => kind === 'shortText' || kind === 'longText';

/**
 * The text that is stored for a value (users §13.1). `users`: of the realm those that the value names, deactivated ones and
 * bots too. @throws DomainError INVALID_PROFILE_VALUE
 */
export function profileValueText(
  { kind, name, data }: Pick<ProfileField, 'kind' | 'name' | 'data'>,
  given: string | readonly UserId[],
  users: ReadonlyMap<UserId, User>,
): string {
  if (kind === 'users') {
    if (typeof given === 'string') throw invalid('User IDs is not a list');
    return userListText(given, users);
  }
  if (typeof given !== 'string') throw invalid(`${name} is not a string`);
  const limit = MAX_LENGTH[kind];
  if (limit !== undefined && isLongerThan(given, limit)) {
    throw invalid(`${name} is too long (limit: ${limit} characters)`);
  }
  if (kind === 'choice' && !Object.hasOwn(data, given)) {
    throw invalid(`'${given}' is not a valid choice for '${name}'.`);
  }
  if (kind === 'date' && !isDate(given)) throw invalid(`${name} is not a date`);
  if (kind === 'link' && !isUrl(given)) throw invalid(`${name} is not a URL`);
  return given;
}

function userListText(ids: readonly UserId[], users: ReadonlyMap<UserId, User>): string {
  if (ids.length > MAX_USERS_IN_VALUE) throw invalid(`User IDs is too long (limit: ${MAX_USERS_IN_VALUE} items)`);
  for (const id of ids) {
    const user = users.get(id);
    if (!user || user.bot?.isSystem) throw invalid(`Invalid user ID: ${id}`);
    if (!user.isActive) throw invalid(`User with ID ${id} is deactivated`);
    if (user.bot) throw invalid(`User with ID ${id} is a bot`);
  }
  return JSON.stringify(ids);
}

/** `YYYY-MM-DD`, of a day that there is. */
function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return year > 0 && days !== undefined && day >= 1 && day <= days;
}

const invalid = (text: string) => new DomainError('INVALID_PROFILE_VALUE', text);
