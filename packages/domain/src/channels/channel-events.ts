import type { GroupSettingValue } from '../access/group-setting.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, GroupId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Channel, ChannelPermission, ChannelView } from './channel.js';
import type { DefaultChannelGroupView } from './default-channel-group-views.js';
import type { Subscription } from './subscription.js';
import type { SubscriptionChange } from './subscription-properties.js';
import type { TopicVisibility } from './topic-policy.js';

export interface ChannelEventTypes {
  /** To those who can see them from now on. */
  'channel.created': { readonly channels: readonly ChannelView[] };
  /** To those who can no longer see them. */
  'channel.hidden': { readonly channelIds: readonly ChannelId[] };
  /** To everybody who could see the channel before and still can. */
  'channel.property_changed': {
    readonly channelId: ChannelId;
    /** Where the name itself is what changed: the one before. */
    readonly name: string;
  } & ChannelPropertyChange;
  /** To the same. */
  'channel.permission_changed': {
    readonly channelId: ChannelId;
    readonly name: string;
    readonly permission: ChannelPermission;
    /** What it is stored as, and `value` as clients see it. */
    readonly groupId: GroupId;
    readonly value: GroupSettingValue;
    /** Of `canSendMessage`; null for every other permission. */
    readonly senders: {
      readonly before: ChannelView['sendersSystemGroup'];
      readonly after: ChannelView['sendersSystemGroup'];
    } | null;
  };
  /** To everybody who can see the channel, as it is afterwards: for some clients archived channels do not exist. */
  'channel.archived_changed': { readonly channel: ChannelView };
  /**
   * To each of the new subscribers, of whom each may follow other ones of the channels. `isReturning`: they followed the
   * channels already while these were archived, which is news only to clients for which archived channels do not exist.
   */
  'subscription.added': {
    readonly isReturning?: true;
    readonly channels: readonly SubscribedChannel[];
    readonly subscriptions: readonly Subscription[];
  };
  /** To the subscriber. */
  'subscription.changed': { readonly channelId: ChannelId } & SubscriptionChange;
  /** To each of those who no longer follow. */
  'subscription.removed': {
    readonly channels: readonly {
      readonly id: ChannelId;
      readonly name: string;
      readonly userIds: readonly UserId[];
    }[];
  };
  /** To the others who can see the channels: these users follow them now, or no longer. `isReturning`: as above. */
  'channel.subscribers_changed': {
    readonly isReturning?: true;
    readonly op: 'add' | 'remove';
    readonly channelIds: readonly ChannelId[];
    readonly userIds: readonly UserId[];
  };
  /**
   * To those who have just come to see the channels: who follows them. It is looked up where the event is delivered, since the
   * lists may be long, and only those online need them. Names at most `CHANNELS_PER_LIST_OF_SUBSCRIBERS` channels.
   */
  'channel.subscribers_shown': { readonly channelIds: readonly ChannelId[] };
  /** To everybody but guests. */
  'default_channels.changed': { readonly channelIds: readonly ChannelId[] };
  /** To the same. */
  'default_channel_groups.changed': { readonly groups: readonly DefaultChannelGroupView[] };
  /** To the user whose policy it is. */
  'topic.policy_changed': {
    readonly channelId: ChannelId;
    readonly topic: string;
    readonly visibility: TopicVisibility;
    readonly changedAt: UnixSeconds;
    /** All topics that they have muted, for clients that know no other choice. */
    readonly muted: readonly {
      readonly channelName: string;
      readonly topic: string;
      readonly changedAt: UnixSeconds;
    }[];
  };
}

type ChangeOf<P extends keyof Channel> = { readonly [K in P]: { readonly property: K; readonly value: Channel[K] } }[P];

/** What has an event of its own; `rendered`: as HTML. */
export type ChannelPropertyChange =
  | ChangeOf<
      'name' | 'privacy' | 'messageRetentionDays' | 'topicsPolicy' | 'folderId' | 'isRecentlyActive' | 'firstMessageId'
    >
  | { readonly property: 'description'; readonly value: string; readonly rendered: string };

export interface SubscribedChannel {
  readonly channel: ChannelView;
  /** Everybody who follows it, after the change; ascending. */
  readonly subscriberIds: readonly UserId[];
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ChannelEventTypes {}
}

export const CHANNEL_FEATURE = {
  eventFormats: {
    'channel.created': 2,
    'channel.hidden': 1,
    'channel.property_changed': 3,
    'channel.permission_changed': 1,
    'channel.archived_changed': 2,
    'subscription.added': 2,
    'subscription.changed': 1,
    'subscription.removed': 1,
    'channel.subscribers_changed': 1,
    'channel.subscribers_shown': 1,
    'default_channels.changed': 1,
    'default_channel_groups.changed': 1,
    'topic.policy_changed': 1,
  },
  notExported: {
    channelAddresses: 'They are secrets.',
  },
} satisfies FeatureParts<ChannelEventTypes>;
