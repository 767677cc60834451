import type { ChannelView } from '../channels/channel.js';
import type { Subscription } from '../channels/subscription.js';
import type { TopicVisibility } from '../channels/topic-policy.js';
import type { GroupView } from '../groups/group.js';
import type { SentFlags } from '../messages/message.js';
import type { MessageView } from '../messages/message-view.js';
import type { RealmSettingEvent } from '../realms/realm-settings-events.js';
import type { ChannelId, EventSeq, GroupId, MessageId, UnixSeconds, UserId } from '../shared/ids.js';
import type { Role } from '../users/role.js';
import type { User } from '../users/user.js';
import type { UserSettingEvent } from '../users/user-settings-events.js';

/** Everything that can happen, told with what every client's form of it needs. Plain JSON values: maps are lists of pairs. */
export type DomainEvent =
  | UserSettingEvent
  | RealmSettingEvent
  /** A row without content: its numbers are used, or what it said was deleted. */
  | { readonly type: 'blank' }
  | {
      readonly type: 'message.sent';
      readonly view: MessageView;
      readonly isPublic: boolean;
      /** Whose flags differ from those of everybody else. */
      readonly exceptions: readonly (readonly [UserId, ReceivedFlags])[];
      /** The sender's own client recognizes its message by it. */
      readonly echo: { readonly queueId: string; readonly localId: string } | null;
    }
  | {
      readonly type: 'message.flag_changed';
      readonly op: 'add' | 'remove';
      readonly flag: 'read' | 'starred' | 'collapsed';
      readonly messageIds: readonly MessageId[];
      /** Everything there is was marked; then the list is empty. */
      readonly all: boolean;
      /** For what became unread: where each message is. */
      readonly details: readonly (readonly [MessageId, MessageLocation])[];
    }
  | { readonly type: 'channel.created'; readonly channels: readonly ChannelView[] }
  /** Told to those who can no longer see them. */
  | { readonly type: 'channel.hidden'; readonly channelIds: readonly ChannelId[] }
  | {
      readonly type: 'channel.property_changed';
      readonly channelId: ChannelId;
      readonly name: string;
      readonly property: 'isRecentlyActive' | 'firstMessageId';
      readonly value: boolean | number | null;
    }
  /** To each of the new subscribers, of whom each may follow other ones of the channels. */
  | {
      readonly type: 'subscription.added';
      readonly channels: readonly SubscribedChannel[];
      readonly subscriptions: readonly Subscription[];
    }
  /** To each of those who no longer follow. */
  | {
      readonly type: 'subscription.removed';
      readonly channels: readonly {
        readonly id: ChannelId;
        readonly name: string;
        readonly userIds: readonly UserId[];
      }[];
    }
  /** To the others: these users follow these channels now, or no longer. */
  | {
      readonly type: 'channel.subscribers_changed';
      readonly op: 'add' | 'remove';
      readonly channelIds: readonly ChannelId[];
      readonly userIds: readonly UserId[];
    }
  | { readonly type: 'default_channels.changed'; readonly channelIds: readonly ChannelId[] }
  | {
      readonly type: 'topic.policy_changed';
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
    }
  | { readonly type: 'user.created'; readonly user: User }
  | { readonly type: 'user.role_changed'; readonly userId: UserId; readonly role: Role }
  | { readonly type: 'user.activation_changed'; readonly userId: UserId; readonly isActive: boolean }
  /**
   * To guests who may not know everybody: whether they know these users was decided anew (users §1.4). What it was before
   * is what held at `before`, a seq. Names at most `MAX_USERS_PER_ACCESS_CHANGE` users.
   */
  | { readonly type: 'user.access_changed'; readonly userIds: readonly UserId[]; readonly before: EventSeq }
  /** Sent to nobody: whoever keeps keys at hand forgets this user's. */
  | { readonly type: 'user.credentials_changed'; readonly userId: UserId }
  | { readonly type: 'realm.deactivated' }
  /** `view` is null for anonymous groups, which are told to nobody; the rest is for following who is in which group. */
  | {
      readonly type: 'group.created';
      readonly groupId: GroupId;
      readonly memberIds: readonly UserId[];
      readonly subgroupIds: readonly GroupId[];
      readonly view: GroupView | null;
    }
  | {
      readonly type: 'group.members_changed';
      readonly op: 'add' | 'remove';
      readonly groupId: GroupId;
      readonly userIds: readonly UserId[];
    }
  | {
      readonly type: 'group.subgroups_changed';
      readonly op: 'add' | 'remove';
      readonly groupId: GroupId;
      readonly subgroupIds: readonly GroupId[];
    }
  /** The group as it is afterwards: clients that know no deactivated groups see it come and go. */
  | { readonly type: 'group.activation_changed'; readonly view: GroupView };

export type DomainEventType = DomainEvent['type'];

export interface SubscribedChannel {
  readonly channel: ChannelView;
  /** Everybody who follows it, after the change; ascending. */
  readonly subscriberIds: readonly UserId[];
}

/** What a message is to a receiver when it arrives. */
export interface ReceivedFlags extends SentFlags {
  readonly read?: boolean;
}

export type MessageLocation =
  | {
      readonly kind: 'channel';
      readonly channelId: ChannelId;
      readonly topic: string;
      readonly isUnmuted: boolean;
      readonly isMentioned: boolean;
    }
  /** The others in the conversation, ascending; nobody when one talks to themselves. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[]; readonly isMentioned: boolean };
