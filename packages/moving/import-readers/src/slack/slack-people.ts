import type { FileRecord, PersonRecord } from '@parley/transfer/records';
import { field, flagOf, numberOf, present, textOf, timeOf } from '../fields.js';

/** Role of a member; owners of the whole Enterprise organization are owners too. */
function roleOf(user: unknown): PersonRecord['role'] {
  if (flagOf(user, 'is_primary_owner') || flagOf(user, 'is_owner')) return 'owner';
  if (flagOf(user, 'is_admin')) return 'administrator';
  return flagOf(user, 'is_restricted') || flagOf(user, 'is_ultra_restricted') ? 'guest' : 'member';
}

/** Returns the records of an entry of `users.json`: the person, and the picture if there is one. */
export function personRecords(source: string, user: unknown, homeTeam: string): readonly (PersonRecord | FileRecord)[] {
  const id = textOf(user, 'id');
  const profile = field(user, 'profile');
  const picture = pictureOf(profile);
  const isBot = flagOf(user, 'is_bot') || flagOf(user, 'is_workflow_bot') || id === 'USLACKBOT';
  const email = textOf(profile, 'email');
  const avatar = `avatar/${id}`;
  const person: PersonRecord = {
    source,
    kind: 'person',
    id,
    name: personName(user) || id,
    ...present({
      userName: textOf(user, 'name'),
      email,
      timeZone: textOf(user, 'tz'),
      joinedAt: timeOf(numberOf(profile, 'start_date') ?? null),
      avatar: picture === '' ? undefined : avatar,
      isEmailVerified: (email !== '' && flagOf(user, 'is_email_confirmed')) || undefined,
      isBot: isBot || undefined,
      isDeactivated: flagOf(user, 'deleted') || undefined,
      isExternal: (!isBot && isStranger(user, homeTeam)) || undefined,
    }),
    role: roleOf(user)!,
  };
  return picture === ''
    ? [person]
    : [person, { source, kind: 'file', id: avatar, name: `${id}.png`, url: picture, owner: id }];
}

/** People of other workspaces have another team; those of the same Enterprise organization are not strangers. */
const isStranger = (user: unknown, homeTeam: string): boolean =>
  flagOf(user, 'is_stranger') ||
  (homeTeam !== '' && textOf(user, 'team_id') !== '' && textOf(user, 'team_id') !== homeTeam && !hasEnterprise(user));

const hasEnterprise = (user: unknown): boolean => textOf(field(user, 'enterprise_user'), 'id') !== '';

export const personName = (user: unknown): string => {
  const profile = field(user, 'profile');
  return (
    textOf(profile, 'real_name') ||
    textOf(user, 'real_name') ||
    textOf(profile, 'display_name') ||
    textOf(user, 'name')
  ).trim();
};

/** URL of an uploaded picture; others are generated from the name. */
function pictureOf(profile: unknown): string {
  const url = textOf(profile, 'image_original');
  return url.startsWith('https://') ? url : '';
}

/** Id, name and picture of the author of a message that is not an entry of `users.json`. */
export interface Author {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
}

export const UNKNOWN_AUTHOR: Author = { id: 'unknown', name: 'Unknown sender', isBot: true };

/** Returns the author of a message; `personOfBot` is the person that is its bot. Old apps have neither a user nor an id. */
export function authorOf(message: unknown, personOfBot: string | null): Author {
  const user = textOf(message, 'user') || textOf(field(message, 'comment'), 'user') || personOfBot;
  if (user) return { id: user, name: personName({ profile: field(message, 'user_profile') }), isBot: false };
  const bot = textOf(message, 'bot_id');
  const profile = field(message, 'bot_profile');
  const name = textOf(profile, 'name') || textOf(message, 'username');
  if (bot !== '') return { id: bot, name, isBot: true };
  return name === '' ? UNKNOWN_AUTHOR : { id: `name:${name}`, name, isBot: true };
}
