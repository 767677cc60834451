import { integer, listOf, type ParamType } from '../routing/param-types.js';
import { BooleanParam, IntegerParam, param, TextParam } from '../routing/params.js';

const COMMA_SEPARATED = /^\s*\d+\s*(,\s*\d+\s*)*$/;
const ids = listOf(integer());

/** `[7,8]`, and `7,8` as the Go client writes it. */
const userIds: ParamType<number[]> = {
  ...ids,
  decode: (text) => (COMMA_SEPARATED.test(text) ? text.split(',').map(Number) : ids.decode(text)),
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
  @TextParam() email!: string;
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
}

export class CreateUserDto {
  @TextParam() email!: string;
  @TextParam() password!: string;
  @TextParam() full_name!: string;
}
