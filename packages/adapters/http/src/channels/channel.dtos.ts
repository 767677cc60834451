import {
  CHANNEL_PERMISSIONS,
  type ChangeChannelInput,
  type ChangeSubscriptionPropertiesInput,
  type ChannelOptions,
  type ChannelPermission,
  isColor,
  MAX_CHANNEL_DESCRIPTION_LENGTH,
  MAX_TOPIC_LENGTH,
  type MuteTopicInput,
  type Principals,
  type RetentionInput,
  type SetTopicPolicyInput,
  SUBSCRIPTION_PROPERTIES,
  type SubscribeUsersInput,
  type SubscriptionProperty,
  TOPICS_POLICIES,
  type TopicsPolicy,
  type TopicVisibility,
} from '@parley/domain/channels';
import type { ChannelFolderId, ChannelId, UserId } from '@parley/domain/kernel';
import {
  declarePermissionChanges,
  declarePermissions,
  toPermissionChanges,
  toPermissions,
} from '../groups/group-settings.js';
import {
  anyOf,
  boolean,
  float,
  integer,
  jsonOrText,
  listOf,
  MAX_IDS,
  MAX_NAMES,
  MAX_TEXT_LENGTH,
  named,
  nullable,
  object,
  oneOf,
  optional,
  refine,
  text,
  type ValueOf,
} from '../params/param-types.js';
import {
  BooleanParam,
  definedFields,
  IntegerListParam,
  IntegerOneOfParam,
  IntegerParam,
  NullableBooleanParam,
  NullableIntegerParam,
  param,
  TextListParam,
  TextParam,
  WordParam,
} from '../params/params.js';
import { HttpRefusal } from '../wire/reply.js';
import {
  VISIBILITY_POLICIES,
  WIRE_SUBSCRIPTION_PROPERTIES,
  WIRE_TOPICS_POLICIES,
  type WireTopicsPolicy,
} from './channel.presenters.js';

const PERMISSIONS = Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[];
const description = text({ max: MAX_CHANNEL_DESCRIPTION_LENGTH });
/** Accepts JSON and bare text: the documentation requires JSON, but clients send bare text. */
const topicsPolicy = jsonOrText(oneOf(Object.values(WIRE_TOPICS_POLICIES)));

const toTopicsPolicy = (word: WireTopicsPolicy): TopicsPolicy =>
  TOPICS_POLICIES.find((policy) => WIRE_TOPICS_POLICIES[policy] === word)!;

/** Days, or a word with or without quotes. The use case validates the value. */
const retention = jsonOrText(anyOf([integer(), text({ max: MAX_TEXT_LENGTH })]));

function toRetention(input: number | string): RetentionInput {
  if (input === 'realm_default') return 'asRealm';
  if (input === 'unlimited') return 'forever';
  return typeof input === 'number' ? input : { word: input };
}

/** Member ids or visible email addresses, never mixed. */
const principals = named(
  'Principals',
  anyOf([listOf(integer(), { max: MAX_IDS }), listOf(text({ max: MAX_TEXT_LENGTH }), { max: MAX_NAMES })]),
);

/** Loose limit: the use case rejects long channel names with its own error message (channels §1). */
const CHANNEL_NAME = { max: MAX_TEXT_LENGTH };

const newSubscription = refine(
  object(
    {
      name: text(CHANNEL_NAME),
      color: optional(text({ max: MAX_TEXT_LENGTH })),
      description: optional(description),
    },
    { open: true },
  ),
  // Deliberate: the reference server names `add` for the parameters of both operations.
  ({ color }) =>
    color === undefined || isColor(color)
      ? undefined
      : 'Invalid {p}: Value error, add.color is not a valid hex color code',
);

type NewSubscription = ValueOf<typeof newSubscription>;

export class ListChannelsDto {
  @BooleanParam({ description: 'Whether to include public channels.' }) include_public = true;
  @BooleanParam({ description: 'Whether to include web-public channels.' }) include_web_public = false;
  @BooleanParam({ description: 'Whether to include the channels to which the caller is subscribed.' })
  include_subscribed = true;
  @BooleanParam({ description: "Whether to include channels of the bot's owner." }) include_owner_subscribed = false;
  @BooleanParam({ description: 'Whether to include all channels whose content the caller can access.' })
  include_can_access_content = false;
  @BooleanParam({ description: 'Whether to include all channels, for administrators.' }) include_all = false;
  @BooleanParam({ description: 'Whether to include all active channels, for administrators.' }) include_all_active =
    false;
  @BooleanParam({ description: 'Whether to omit archived channels.' }) exclude_archived = true;
  @BooleanParam({ description: 'Whether to mark default channels.' }) include_default = false;
}

export class CreateChannelDto {
  @TextParam({ ...CHANNEL_NAME, strip: true, notBlank: true }) name!: string;
  @IntegerListParam({ max: MAX_IDS, description: 'Ids of the users to subscribe.' }) subscribers!: number[];
  @param(description) description = '';
  @BooleanParam() announce = false;
  @BooleanParam() invite_only = false;
  @BooleanParam() is_web_public = false;
  @BooleanParam() is_default_stream = false;
  @NullableIntegerParam() folder_id: number | null = null;
  @param(topicsPolicy) topics_policy: WireTopicsPolicy = 'inherit';
  @NullableBooleanParam() history_public_to_subscribers: boolean | null = null;
  @param(retention) message_retention_days: number | string = 'realm_default';
  /** Ignored: no notification is sent for a channel in which all subscribers are new. */
  @BooleanParam({ optional: true }) send_new_subscription_messages?: boolean;
}
declarePermissions(CreateChannelDto, PERMISSIONS);

export class SubscribeUsersDto {
  @param(listOf(newSubscription, { max: MAX_NAMES })) subscriptions!: NewSubscription[];
  @param(principals, { optional: true }) principals?: number[] | string[];
  @BooleanParam({ description: 'Whether one inaccessible channel fails the whole request.' })
  authorization_errors_fatal = true;
  @BooleanParam() announce = false;
  @BooleanParam() send_new_subscription_messages = true;
  @BooleanParam() invite_only = false;
  @BooleanParam() is_web_public = false;
  @BooleanParam() is_default_stream = false;
  @NullableBooleanParam() history_public_to_subscribers: boolean | null = null;
  @param(retention) message_retention_days: number | string = 'realm_default';
  @param(topicsPolicy) topics_policy: WireTopicsPolicy = 'inherit';
  @NullableIntegerParam() folder_id: number | null = null;
}
declarePermissions(SubscribeUsersDto, PERMISSIONS);

/** Parameters of a channel change, plus one per permission. */
export class ChangeChannelDto {
  @IntegerParam() stream_id!: number;
  @param(description, { optional: true }) description?: string;
  @BooleanParam({ optional: true, description: 'Whether the channel is private.' }) is_private?: boolean;
  @BooleanParam({ optional: true }) history_public_to_subscribers?: boolean;
  @BooleanParam({ optional: true }) is_web_public?: boolean;
  @BooleanParam({ optional: true }) is_default_stream?: boolean;
  @TextParam({ ...CHANNEL_NAME, optional: true, description: 'New name of the channel.' }) new_name?: string;
  @param(retention, { optional: true }) message_retention_days?: number | string;
  @BooleanParam({ optional: true }) is_archived?: boolean;
  @NullableIntegerParam({ optional: true }) folder_id?: number | null;
  @param(topicsPolicy, { optional: true }) topics_policy?: WireTopicsPolicy;
}
declarePermissionChanges(ChangeChannelDto, PERMISSIONS);

export class OneChannelDto {
  @IntegerParam() stream_id!: number;
}

export class GetChannelAddressDto {
  @IntegerParam() stream_id!: number;
  @IntegerParam({ optional: true, description: 'Id of the user who posts the email to the channel.' })
  sender_id?: number;
}

export class GetSubscriptionStatusDto {
  @IntegerParam() user_id!: number;
  @IntegerParam() stream_id!: number;
}

export class ListUserChannelsDto {
  @IntegerParam() user_id!: number;
}

/** Permissive, because validity depends on the property (channels §4.9). */
const propertyValue = anyOf([nullable(boolean()), text({ max: MAX_TEXT_LENGTH }), float()]);

const propertyChange = refine(
  object({ stream_id: integer(), property: text({ max: MAX_TEXT_LENGTH }), value: propertyValue }, { open: true }),
  ({ property, value }) => {
    if (property !== 'color' || (typeof value === 'string' && isColor(value))) return undefined;
    const expected = typeof value === 'string' ? 'a valid hex color code' : 'a string';
    return `Invalid {p}: Value error, color is not ${expected}`;
  },
);
type PropertyChange = ValueOf<typeof propertyChange>;

export class ChangeSubscriptionPropertiesDto {
  @param(listOf(propertyChange, { max: MAX_NAMES }), {
    description: 'List of channel ids, each with a setting and its value.',
  })
  subscription_data!: PropertyChange[];
}

const jsonOrBare = jsonOrText(propertyValue);
/** Same value as a separate field, where text is bare and quotes belong to the value. */
const bareValue = {
  ...propertyValue,
  decode(field: string): unknown {
    const value = jsonOrBare.decode(field);
    return typeof value === 'string' ? field : value;
  },
};

export class ChangeSubscriptionPropertyDto implements PropertyChange {
  @IntegerParam() stream_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Name of the setting.' }) property!: string;
  @param(bareValue, { description: 'New value of the setting.' }) value!: PropertyChange['value'];
}

export class ChangeSubscriptionsDto {
  @param(listOf(newSubscription, { max: MAX_NAMES })) add: NewSubscription[] = [];
  @TextListParam({ max: MAX_NAMES, each: CHANNEL_NAME }) delete: string[] = [];
}

const TOPIC = { max: MAX_TOPIC_LENGTH };

export class SetTopicPolicyDto {
  @IntegerParam() stream_id!: number;
  @TextParam(TOPIC) topic!: string;
  @IntegerOneOfParam(Object.values(VISIBILITY_POLICIES), { description: 'Policy: none, muted, unmuted or followed.' })
  visibility_policy!: number;
}

export class MuteTopicDto {
  @IntegerParam({ optional: true }) stream_id?: number;
  @TextParam({ ...CHANNEL_NAME, optional: true }) stream?: string;
  @TextParam(TOPIC) topic!: string;
  @WordParam(['add', 'remove']) op!: 'add' | 'remove';
}

export class UnsubscribeUsersDto {
  @TextListParam({ max: MAX_NAMES, each: CHANNEL_NAME }) subscriptions!: string[];
  @param(principals, { optional: true }) principals?: number[] | string[];
}

export class ListSubscriptionsDto {
  /** `partial` may return all subscribers; this server always does. */
  @WordParam(['true', 'false', 'partial']) include_subscribers = 'false';
}

export class FindChannelIdDto {
  @TextParam(CHANNEL_NAME) stream!: string;
}

export class ListTopicsDto {
  @IntegerParam() stream_id!: number;
  @BooleanParam() allow_empty_topic_name = false;
}

export const toNewSubscriptions = (subscriptions: readonly NewSubscription[]): SubscribeUsersInput['channels'] =>
  subscriptions.map(({ name, color = null, description = '' }) => ({ name, color, description }));

export function toPropertyChanges(changes: readonly PropertyChange[]): ChangeSubscriptionPropertiesInput['changes'] {
  return changes.map(({ stream_id, property, value }) => ({
    channelId: stream_id as ChannelId,
    property: PROPERTIES_BY_NAME.get(property) ?? { unknown: property },
    value,
  }));
}

const PROPERTIES_BY_NAME: ReadonlyMap<string, SubscriptionProperty> = new Map(
  SUBSCRIPTION_PROPERTIES.map((property) => [WIRE_SUBSCRIPTION_PROPERTIES[property], property]),
);

export const toTopicPolicy = (dto: SetTopicPolicyDto): SetTopicPolicyInput => ({
  channelId: dto.stream_id as ChannelId,
  topic: dto.topic,
  visibility: (Object.keys(VISIBILITY_POLICIES) as TopicVisibility[]).find(
    (visibility) => VISIBILITY_POLICIES[visibility] === dto.visibility_policy,
  )!,
});

/** Parses a topic mute. @throws HttpRefusal unless exactly one parameter names the channel (channels §5.5) */
export function toMutedTopic({ stream_id: id, stream: name, topic, op }: MuteTopicDto): MuteTopicInput {
  if (id !== undefined && name !== undefined) {
    const parameters = 'stream_id, stream';
    throw new HttpRefusal(400, 'BAD_REQUEST', `Unsupported parameter combination: ${parameters}`, { parameters });
  }
  // Deliberate: the reference server uses a different code for other missing parameters.
  if (id === undefined && name === undefined) {
    throw new HttpRefusal(400, 'BAD_REQUEST', "Missing 'stream_id' argument");
  }
  return { channel: id === undefined ? { name: name! } : { id: id as ChannelId }, topic, mutes: op === 'add' };
}

/** Returns the options common to both ways of creating channels. */
export function toChannelOptions(dto: CreateChannelDto | SubscribeUsersDto): ChannelOptions {
  return {
    isPrivate: dto.invite_only,
    isWebPublic: dto.is_web_public,
    isDefault: dto.is_default_stream,
    folderId: dto.folder_id as ChannelFolderId | null,
    topicsPolicy: toTopicsPolicy(dto.topics_policy),
    sharesHistory: dto.history_public_to_subscribers,
    retention: toRetention(dto.message_retention_days),
    permissions: toPermissions(dto, PERMISSIONS),
  };
}

/** Ignores `is_archived` unless it is false (channels §4.11). */
export function toChannelChange(dto: ChangeChannelDto): ChangeChannelInput {
  const { message_retention_days: days } = dto;
  return definedFields({
    channelId: dto.stream_id as ChannelId,
    name: dto.new_name,
    description: dto.description,
    privacy: definedFields({
      isPrivate: dto.is_private,
      isWebPublic: dto.is_web_public,
      hasSharedHistory: dto.history_public_to_subscribers,
    }),
    isDefault: dto.is_default_stream,
    retention: days === undefined ? undefined : toRetention(days),
    unarchives: dto.is_archived === false,
    folderId: dto.folder_id as ChannelFolderId | null | undefined,
    topicsPolicy: dto.topics_policy && toTopicsPolicy(dto.topics_policy),
    permissions: toPermissionChanges(dto, PERMISSIONS),
  });
}

/** Returns null for the caller, which is the default for an absent or empty list. */
export function toPrincipals(principals: number[] | string[] | undefined): Principals | null {
  if (principals === undefined || principals.length === 0) return null;
  return typeof principals[0] === 'string' ? { emails: principals as string[] } : (principals as UserId[]);
}
