import { MAX_IDS, MAX_TEXT_LENGTH } from '../routing/limits.js';
import { TooLong } from '../routing/param-error.js';
import { integer, listOf, type ParamType } from '../routing/param-types.js';
import { BooleanParam, IntegerParam, param, TextParam } from '../routing/params.js';

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
