import { MAX_NAMES, MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import {
  BooleanParam,
  IntegerListParam,
  IntegerOneOfParam,
  IntegerParam,
  NullableIntegerParam,
  TextParam,
} from '../kernel/params.js';
import { ROLE_NUMBERS } from '../users/user.presenters.js';

const ROLE_VALUES = Object.values(ROLE_NUMBERS);
const WELCOME_TEXT = { max: 8000 };
/** A thousand addresses, with names around them. */
const INVITEES = { max: 100_000 };

/** Organization §9.1. */
export class CreateInvitationLinkDto {
  @NullableIntegerParam({ optional: true }) invite_expires_in_minutes?: number | null;
  @IntegerOneOfParam(ROLE_VALUES) invite_as = ROLE_NUMBERS.member;
  @IntegerListParam({ max: MAX_NAMES }) stream_ids: number[] = [];
  @IntegerListParam({ max: MAX_NAMES, optional: true }) group_ids?: number[];
  @BooleanParam() include_realm_default_subscriptions = false;
  @TextParam({ ...WELCOME_TEXT, optional: true }) welcome_message_custom_text?: string;
}

/** Organization §9.3. */
export class InviteByEmailDto {
  @TextParam(INVITEES) invitee_emails!: string;
  @NullableIntegerParam({ optional: true }) invite_expires_in_minutes?: number | null;
  @IntegerOneOfParam(ROLE_VALUES) invite_as = ROLE_NUMBERS.member;
  @BooleanParam() notify_referrer_on_join = true;
  @IntegerListParam({ max: MAX_NAMES }) stream_ids!: number[];
  @IntegerListParam({ max: MAX_NAMES, optional: true }) group_ids?: number[];
  @BooleanParam() include_realm_default_subscriptions = false;
  @TextParam({ ...WELCOME_TEXT, optional: true }) welcome_message_custom_text?: string;
}

export class InvitationDto {
  @IntegerParam() invite_id!: number;
}

/** Organization §10.7. */
export class AcceptInvitationDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) email?: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) full_name!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
  @IntegerOneOfParam([1, 2, 3, 4, 5], { optional: true }) email_address_visibility?: number;
  @TextParam({ max: MAX_TOKEN_LENGTH, optional: true }) timezone?: string;
}

/** Organization §10.6. */
export class TestWelcomeMessageDto {
  @TextParam(WELCOME_TEXT) welcome_message_custom_text!: string;
}
