import type { EventFormats } from '../events/event.js';
import type { ChannelId, UnixSeconds, UserId } from '../shared/ids.js';
import type { ChannelView } from './channel.js';
import type { Subscription } from './subscription.js';
import type { TopicVisibility } from './topic-policy.js';

export interface ChannelEventTypes {
  /** To those who can see them from now on. */
  'channel.created': { readonly channels: readonly ChannelView[] };
  /** To those who can no longer see them. */
  'channel.hidden': { readonly channelIds: readonly ChannelId[] };
  /** To everybody who can see the channel. */
  'channel.property_changed': {
    readonly channelId: ChannelId;
    readonly name: string;
    readonly property: 'isRecentlyActive' | 'firstMessageId';
    readonly value: boolean | number | null;
  };
  /** To each of the new subscribers, of whom each may follow other ones of the channels. */
  'subscription.added': {
    readonly channels: readonly SubscribedChannel[];
    readonly subscriptions: readonly Subscription[];
  };
  /** To each of those who no longer follow. */
  'subscription.removed': {
    readonly channels: readonly {
      readonly id: ChannelId;
      readonly name: string;
      readonly userIds: readonly UserId[];
    }[];
  };
  /** To the others who can see the channels: these users follow them now, or no longer. */
  'channel.subscribers_changed': {
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

export interface SubscribedChannel {
  readonly channel: ChannelView;
  /** Everybody who follows it, after the change; ascending. */
  readonly subscriberIds: readonly UserId[];
}

declare module '../events/event.js' {
  interface DomainEventTypes extends ChannelEventTypes {}
}

export const CHANNEL_EVENT_FORMATS: EventFormats<ChannelEventTypes> = {
  'channel.created': 1,
  'channel.hidden': 1,
  'channel.property_changed': 1,
  'subscription.added': 1,
  'subscription.removed': 1,
  'channel.subscribers_changed': 1,
  'channel.subscribers_shown': 1,
  'default_channels.changed': 1,
  'topic.policy_changed': 1,
};
