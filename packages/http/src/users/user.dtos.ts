import type { UserId } from '@parley/domain/kernel';
import { MAX_DEACTIVATION_COMMENT_LENGTH, type MessagePlace } from '@parley/domain/membership';
import { given } from '../kernel/given.js';
import { MAX_IDS, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { TooLong } from '../kernel/param-error.js';
import { boolean, integer, listOf, object, optional, type ParamType } from '../kernel/param-types.js';
import { BooleanParam, IntegerOneOfParam, IntegerParam, param, TextParam } from '../kernel/params.js';
import { type ProfileEntriesParam, profileEntries, toProfileEntries } from './profile.dtos.js';
import { ROLE_NUMBERS, ROLES_BY_NUMBER } from './user.presenters.js';

const NUMBER = /^\s*\d+\s*$/;
const ids = listOf(integer(), { max: MAX_IDS });

/** `[7,8]`, and `7,8` as the Go client writes it. */
const userIds: ParamType<number[]> = {
  ...ids,
  decode(text) {
    const value = ids.decode(text);
    if (Array.isArray(value) || value instanceof TooLong) return value;
    const numbers = text.split(',');
    return numbers.every((number) => NUMBER.test(number)) ? numbers.map(Number) : value;
  },
};

export class ListUsersDto {
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
  @param(userIds, { optional: true }) user_ids?: number[];
}

export class GetUserDto {
  @IntegerParam() user_id!: number;
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
}

export class GetUserByEmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email!: string;
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
}

export class CreateUserDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) full_name!: string;
}

const ROLE = { optional: true } as const;

export class UpdateUserDto {
  @IntegerParam() user_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) full_name?: string;
  @IntegerOneOfParam(Object.values(ROLE_NUMBERS), ROLE) role?: number;
  @param(profileEntries, { optional: true }) profile_data?: ProfileEntriesParam;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) new_email?: string;
}

export class UpdateUserByEmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) full_name?: string;
  @IntegerOneOfParam(Object.values(ROLE_NUMBERS), ROLE) role?: number;
  @param(profileEntries, { optional: true }) profile_data?: ProfileEntriesParam;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) new_email?: string;
}

/** What both ways to name the user have in common. */
export const toUserChanges = ({ full_name, role, profile_data, new_email }: Omit<UpdateUserByEmailDto, 'email'>) =>
  given({
    fullName: full_name,
    role: role === undefined ? undefined : ROLES_BY_NUMBER.get(role)!,
    profile: profile_data && toProfileEntries(profile_data),
    email: new_email,
  });

export class UserIdDto {
  @IntegerParam() user_id!: number;
}

export class DeactivateUserDto {
  @IntegerParam() user_id!: number;
  @TextParam({ max: MAX_DEACTIVATION_COMMENT_LENGTH, optional: true }) deactivation_notification_comment?: string;
  @param(
    object({
      delete_profile: optional(boolean()),
      delete_public_channel_messages: optional(boolean()),
      delete_private_channel_messages: optional(boolean()),
      delete_direct_messages: optional(boolean()),
    }),
    { optional: true },
  )
  actions?: DeactivationActions;
}

type DeactivationActions = Partial<Record<keyof typeof MESSAGE_PLACES | 'delete_profile', boolean>>;

const MESSAGE_PLACES = {
  delete_public_channel_messages: 'publicChannels',
  delete_private_channel_messages: 'privateChannels',
  delete_direct_messages: 'direct',
} as const satisfies Readonly<Record<string, MessagePlace>>;

export function toDeactivation({ user_id, deactivation_notification_comment, actions }: DeactivateUserDto) {
  const places = Object.entries(MESSAGE_PLACES) as [keyof typeof MESSAGE_PLACES, MessagePlace][];
  return given({
    userId: user_id as UserId,
    comment: deactivation_notification_comment,
    deletions: actions && {
      ofProfile: actions.delete_profile ?? false,
      ofMessages: places.filter(([action]) => actions[action]).map(([, place]) => place),
    },
  });
}
