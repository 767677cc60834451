import {
  type ChangeChannelInput,
  type ChannelOptions,
  type ChannelPermission,
  MAX_CHANNEL_DESCRIPTION_LENGTH,
  type Principals,
  type RetentionInput,
  TOPICS_POLICIES,
  type TopicsPolicy,
} from '@parley/domain/channels';
import type { GroupSettingValue } from '@parley/domain/groups';
import type { ChannelId, UserId } from '@parley/domain/shared';
import { toGroupSetting, toGroupSettingUpdate } from '../groups/group-setting.presenters.js';
import { given } from '../routing/given.js';
import { MAX_IDS, MAX_NAMES, MAX_TEXT_LENGTH } from '../routing/limits.js';
import {
  anyOf,
  groupSettingChange,
  integer,
  jsonOrText,
  listOf,
  object,
  oneOf,
  optional,
  refine,
  text,
  type ValueOf,
  type WireGroupSetting,
} from '../routing/param-types.js';
import {
  BooleanParam,
  GroupSettingParam,
  IntegerListParam,
  IntegerParam,
  NullableBooleanParam,
  NullableIntegerParam,
  param,
  TextListParam,
  TextParam,
  WordParam,
} from '../routing/params.js';
import { WIRE_CHANNEL_PERMISSIONS } from './channel.presenters.js';

const COLOR = /^#[0-9a-f]{3,6}$/i;

const description = text({ max: MAX_CHANNEL_DESCRIPTION_LENGTH });
/** Documented as JSON, sent bare: both are taken. */
const topicsPolicy = jsonOrText(oneOf(...TOPICS_POLICIES));

/** Days, or a word in quotes or bare; whether they mean anything is asked in its turn. */
const retention = jsonOrText(anyOf([integer(), text({ max: MAX_TEXT_LENGTH })]));

function toRetention(input: number | string): RetentionInput {
  if (input === 'realm_default') return 'asRealm';
  if (input === 'unlimited') return 'forever';
  return typeof input === 'number' ? input : { word: input };
}

/** Members by number or by the address others see; never mixed. */
const principals = anyOf([
  listOf(integer(), { max: MAX_IDS }),
  listOf(text({ max: MAX_TEXT_LENGTH }), { max: MAX_NAMES }),
]);

/** The use case refuses what is too long for a channel, in its own words (channels §1). */
const CHANNEL_NAME = { max: MAX_TEXT_LENGTH };

const newSubscription = object(
  {
    name: text(CHANNEL_NAME),
    // sic: the text names another operation's parameter, whatever this one is called.
    color: optional(
      refine(text({ max: MAX_TEXT_LENGTH }), (color) =>
        COLOR.test(color) ? undefined : 'add.color is not a valid hex color code',
      ),
    ),
    description: optional(description),
  },
  { open: true },
);

/** The eleven permissions of a channel, after the class's own members. */
function ChannelPermissionParams(): ClassDecorator {
  return (dto) => {
    for (const [, name] of WIRE_CHANNEL_PERMISSIONS) GroupSettingParam({ optional: true })(dto.prototype, name);
  };
}

export class ListChannelsDto {
  @BooleanParam() include_public = true;
  @BooleanParam() include_web_public = false;
  @BooleanParam() include_subscribed = true;
  @BooleanParam() include_owner_subscribed = false;
  @BooleanParam() include_can_access_content = false;
  @BooleanParam() include_all = false;
  @BooleanParam() include_all_active = false;
  @BooleanParam() exclude_archived = true;
  @BooleanParam() include_default = false;
}

@ChannelPermissionParams()
export class CreateChannelDto {
  @TextParam({ ...CHANNEL_NAME, strip: true, notBlank: true }) name!: string;
  @IntegerListParam({ max: MAX_IDS }) subscribers!: number[];
  @param(description) description = '';
  @BooleanParam() announce = false;
  @BooleanParam() invite_only = false;
  @BooleanParam() is_web_public = false;
  @BooleanParam() is_default_stream = false;
  @NullableIntegerParam() folder_id: number | null = null;
  @param(topicsPolicy) topics_policy: TopicsPolicy = 'inherit';
  @NullableBooleanParam() history_public_to_subscribers: boolean | null = null;
  @param(retention) message_retention_days: number | string = 'realm_default';
  /** Means nothing here: nobody is told about a channel that is new to everybody. */
  @BooleanParam({ optional: true }) send_new_subscription_messages?: boolean;
}

@ChannelPermissionParams()
export class SubscribeUsersDto {
  @param(listOf(newSubscription, { max: MAX_NAMES })) subscriptions!: {
    name: string;
    color?: string;
    description?: string;
  }[];
  @param(principals, { optional: true }) principals?: number[] | string[];
  @BooleanParam() authorization_errors_fatal = true;
  @BooleanParam() announce = false;
  @BooleanParam() send_new_subscription_messages = true;
  @BooleanParam() invite_only = false;
  @BooleanParam() is_web_public = false;
  @BooleanParam() is_default_stream = false;
  @NullableBooleanParam() history_public_to_subscribers: boolean | null = null;
  @param(retention) message_retention_days: number | string = 'realm_default';
  @param(topicsPolicy) topics_policy: TopicsPolicy = 'inherit';
  @NullableIntegerParam() folder_id: number | null = null;
}

const permissionChange = groupSettingChange();
type PermissionChange = ValueOf<typeof permissionChange>;

/** And a change of each permission. */
export class ChangeChannelDto {
  @IntegerParam() stream_id!: number;
  @param(description, { optional: true }) description?: string;
  @BooleanParam({ optional: true }) is_private?: boolean;
  @BooleanParam({ optional: true }) history_public_to_subscribers?: boolean;
  @BooleanParam({ optional: true }) is_web_public?: boolean;
  @BooleanParam({ optional: true }) is_default_stream?: boolean;
  @TextParam({ ...CHANNEL_NAME, optional: true }) new_name?: string;
  @param(retention, { optional: true }) message_retention_days?: number | string;
  @BooleanParam({ optional: true }) is_archived?: boolean;
  @NullableIntegerParam({ optional: true }) folder_id?: number | null;
  @param(topicsPolicy, { optional: true }) topics_policy?: TopicsPolicy;
}
for (const [, name] of WIRE_CHANNEL_PERMISSIONS) {
  param(permissionChange, { optional: true })(ChangeChannelDto.prototype, name);
}

export class OneChannelDto {
  @IntegerParam() stream_id!: number;
}

export class GetSubscriptionStatusDto {
  @IntegerParam() user_id!: number;
  @IntegerParam() stream_id!: number;
}

export class ListUserChannelsDto {
  @IntegerParam() user_id!: number;
}

export class UnsubscribeUsersDto {
  @TextListParam({ max: MAX_NAMES, each: CHANNEL_NAME }) subscriptions!: string[];
  @param(principals, { optional: true }) principals?: number[] | string[];
}

export class ListSubscriptionsDto {
  /** `partial` leaves us free to answer everybody, and we do. */
  @WordParam(['true', 'false', 'partial']) include_subscribers = 'false';
}

export class FindChannelIdDto {
  @TextParam(CHANNEL_NAME) stream!: string;
}

export class ListTopicsDto {
  @IntegerParam() stream_id!: number;
  @BooleanParam() allow_empty_topic_name = false;
}

/** What both ways of creating channels have in common. */
export function toChannelOptions(dto: CreateChannelDto | SubscribeUsersDto): ChannelOptions {
  return {
    isPrivate: dto.invite_only,
    isWebPublic: dto.is_web_public,
    isDefault: dto.is_default_stream,
    folderId: dto.folder_id,
    topicsPolicy: dto.topics_policy,
    sharesHistory: dto.history_public_to_subscribers,
    retention: toRetention(dto.message_retention_days),
    permissions: toPermissions(dto as object as Readonly<Record<string, unknown>>),
  };
}

/** Only those that were sent. */
function toPermissions(dto: Readonly<Record<string, unknown>>): ChannelOptions['permissions'] {
  const wanted: Partial<Record<ChannelPermission, GroupSettingValue>> = {};
  for (const [name, wireName] of WIRE_CHANNEL_PERMISSIONS) {
    const value = dto[wireName];
    if (value !== undefined) wanted[name] = toGroupSetting(value as WireGroupSetting);
  }
  return wanted;
}

/** `is_archived` means something only where it says no (channels §4.11). */
export function toChannelChange(dto: ChangeChannelDto): ChangeChannelInput {
  const permissions: { -readonly [P in ChannelPermission]?: ChangeChannelInput['permissions'][P] } = {};
  for (const [name, wireName] of WIRE_CHANNEL_PERMISSIONS) {
    const change = (dto as object as Readonly<Record<string, unknown>>)[wireName] as PermissionChange | undefined;
    if (change) permissions[name] = toGroupSettingUpdate(change);
  }
  const { message_retention_days: days } = dto;
  return given({
    channelId: dto.stream_id as ChannelId,
    name: dto.new_name,
    description: dto.description,
    privacy: given({
      isPrivate: dto.is_private,
      isWebPublic: dto.is_web_public,
      hasSharedHistory: dto.history_public_to_subscribers,
    }),
    isDefault: dto.is_default_stream,
    retention: days === undefined ? undefined : toRetention(days),
    unarchives: dto.is_archived === false,
    folderId: dto.folder_id,
    topicsPolicy: dto.topics_policy,
    permissions,
  });
}

/** Null: the caller. An empty list too. */
export function toPrincipals(principals: number[] | string[] | undefined): Principals | null {
  if (principals === undefined || principals.length === 0) return null;
  return typeof principals[0] === 'string' ? { emails: principals as string[] } : (principals as UserId[]);
}
