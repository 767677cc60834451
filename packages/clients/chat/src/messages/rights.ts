import type { Channel, GroupSetting } from '@parley/client';
import type { Destination } from '../kernel/narrow.js';
import type { Clock } from '../kernel/ports.js';
import {
  type ChatState,
  type Fields,
  isActive,
  RESOLVED_PREFIX,
  type StoredMessage,
  topicKey,
} from '../kernel/state.js';
import { isMember, isPermitted } from '../organization/organization.js';

/** Reason why the user cannot send to a destination. */
export type SendRefusal =
  | 'unknown-channel'
  | 'archived'
  | 'not-allowed'
  | 'topic-required'
  | 'topic-not-allowed'
  | 'new-topic-not-allowed'
  | 'unknown-person'
  | 'deactivated-person'
  | 'direct-messages-disabled'
  | 'nobody-authorizes'
  | 'cannot-start-conversation';

type Permission = Extract<keyof Channel, `can_${string}_group`>;
type RealmPermission = Extract<keyof Fields, `realm_can_${string}_group` | `realm_direct_message_${string}_group`>;
type Limit = Extract<keyof Fields, `realm_${string}_limit_seconds`>;

type Definition = Parameters<typeof isPermitted>[2];

const MODERATOR = 300;
const ADMINISTRATOR = 200;
/** Clock skew tolerance for edits and moves (messages §9). */
const GRACE_SECONDS = 20;

/**
 * Server rules for messages (messages §3.2, §9, §11), used to offer only allowed actions. If the client lacks data, it
 * offers the action and the server decides. Observed inside computations.
 */
export class Rights {
  constructor(
    private readonly state: ChatState,
    private readonly clock: Clock,
  ) {}

  /** True if the user may react to or change a message; false in archived channels. */
  canReact(messageId: number): boolean {
    const message = this.state.messages.get(messageId);
    return message !== undefined && this.isModifiable(message);
  }

  canEdit(messageId: number): boolean {
    const message = this.state.messages.get(messageId);
    if (!message || !this.isModifiable(message) || message.submessages.length > 0) return false;
    const { fields, selfId } = this.state;
    if (message.sender_id !== selfId || fields.get('realm_allow_message_editing') === false) return false;
    return this.isWithin(message, 'realm_message_content_edit_limit_seconds', GRACE_SECONDS);
  }

  canDelete(messageId: number): boolean {
    const message = this.state.messages.get(messageId);
    if (!message || !this.isModifiable(message)) return false;
    const has = (name: 'can_delete_any_message_group' | 'can_delete_own_message_group') =>
      this.hasRealm(`realm_${name}`) || this.hasIn(message.stream_id, name);
    if (has('can_delete_any_message_group')) return true;
    const { selfId, people } = this.state;
    const isOwn = message.sender_id === selfId || people.get(message.sender_id)?.user.bot_owner_id === selfId;
    return (
      isOwn &&
      has('can_delete_own_message_group') &&
      this.isWithin(message, 'realm_message_content_delete_limit_seconds', 0)
    );
  }

  /** Parts of the place that the user may change. */
  canMove(messageId: number): { readonly topic: boolean; readonly channel: boolean } {
    const message = this.state.messages.get(messageId);
    const channelId = message?.stream_id;
    if (!message || channelId === undefined || !this.isModifiable(message)) return { topic: false, channel: false };
    const may = this.canMoveIn(channelId);
    const isInTime = (limit: Limit) => this.role <= MODERATOR || this.isWithin(message, limit, GRACE_SECONDS);
    return {
      topic: may.topic && isInTime('realm_move_messages_within_stream_limit_seconds'),
      channel: may.channel && isInTime('realm_move_messages_between_streams_limit_seconds'),
    };
  }

  /** Permissions to move messages, regardless of their age. */
  canMoveIn(channelId: number): { readonly topic: boolean; readonly channel: boolean } {
    if (this.state.channels.get(channelId)?.channel.is_archived !== false) return { topic: false, channel: false };
    const administers = this.role <= ADMINISTRATOR || this.hasIn(channelId, 'can_administer_channel_group');
    return {
      topic:
        administers ||
        this.hasRealm('realm_can_move_messages_between_topics_group') ||
        this.hasIn(channelId, 'can_move_messages_within_channel_group'),
      channel:
        administers ||
        this.hasRealm('realm_can_move_messages_between_channels_group') ||
        this.hasIn(channelId, 'can_move_messages_out_of_channel_group'),
    };
  }

  canResolve(channelId: number, topic: string): boolean {
    const channel = this.state.channels.get(channelId)?.channel;
    if (!channel || channel.is_archived || topic === '' || topic === RESOLVED_PREFIX) return false;
    if (this.state.isVisitor) return false;
    return this.hasRealm('realm_can_resolve_topics_group') || this.hasIn(channelId, 'can_resolve_topics_group');
  }

  /** True if the user may report someone else's message to the moderators. */
  canReport(messageId: number): boolean {
    const { fields, isVisitor, messages, selfId } = this.state;
    const message = messages.get(messageId);
    const channelId = fields.get('realm_moderation_request_channel_id') ?? -1;
    return channelId > 0 && !isVisitor && message !== undefined && message.sender_id !== selfId;
  }

  /** False in unsubscribed channels, where nothing is unread (messages §13.1). */
  canMarkUnread(messageId: number): boolean {
    const channelId = this.state.messages.get(messageId)?.stream_id;
    return channelId === undefined || this.state.channels.get(channelId)?.membership === 'subscribed';
  }

  /** True if the user may delete whole topics of a channel. */
  canDeleteTopic(channelId: number): boolean {
    return this.role <= ADMINISTRATOR && this.state.channels.get(channelId)?.channel.is_archived === false;
  }

  /** True if edit history is visible. */
  get canSeeHistory(): boolean {
    return this.state.fields.get('realm_message_edit_history_visibility_policy') !== 'none';
  }

  get canSeeReceipts(): boolean {
    return this.state.fields.get('realm_enable_read_receipts') === true && !this.state.isVisitor;
  }

  /** Returns the reason why the user cannot send there; null if they can. */
  canSend(to: Destination): SendRefusal | null {
    return to.kind === 'channel' ? this.refusalInTopic(to.channelId, to.topic) : this.refusalOfPeople(to.userIds);
  }

  /** Returns the reason why the user cannot post in a channel, regardless of the topic. */
  canPost(channelId: number): SendRefusal | null {
    const known = this.state.channels.get(channelId);
    if (!known) return 'unknown-channel';
    const { channel, membership } = known;
    if (channel.is_archived) return 'archived';
    if (!this.hasIn(channelId, 'can_send_message_group')) return 'not-allowed';
    if (channel.is_web_public || membership === 'subscribed') return null;
    if (this.state.fields.get('is_guest') === true) return 'not-allowed';
    const hasContent =
      this.hasIn(channelId, 'can_add_subscribers_group') || this.hasIn(channelId, 'can_subscribe_group');
    return channel.invite_only && !(channel.history_public_to_subscribers && hasContent) ? 'not-allowed' : null;
  }

  private refusalInTopic(channelId: number, topic: string): SendRefusal | null {
    const refusal = this.canPost(channelId);
    if (refusal) return refusal;
    const { channel } = this.state.channels.get(channelId)!;
    const own = channel.topics_policy;
    const policy = own === 'inherit' ? this.state.fields.get('realm_topics_policy') : own;
    if (policy === 'disable_empty_topic' && topic === '') return 'topic-required';
    if (policy === 'empty_topic_only' && topic !== '') return 'topic-not-allowed';
    const topics = this.state.topics.get(channelId);
    const isNew = topics !== undefined && !topics.has(topic.toLowerCase());
    const isKnown = !isNew || this.state.policies.has(topicKey(channelId, topic));
    return isKnown || this.hasIn(channelId, 'can_create_topic_group') ? null : 'new-topic-not-allowed';
  }

  private refusalOfPeople(userIds: readonly number[]): SendRefusal | null {
    const { state } = this;
    const people = userIds.map((id) => state.people.get(id));
    if (people.some((person) => !person)) return 'unknown-person';
    if (people.some((person) => !isActive(person!))) return 'deactivated-person';
    if (people.every((person) => person!.user.is_bot)) return null;
    const setting = state.fields.get('realm_direct_message_permission_group');
    const authorizes = (id: number) => setting === undefined || isMember(state, setting, id);
    if (![state.selfId, ...userIds].some(authorizes)) {
      const group = typeof setting === 'number' ? state.groups.get(setting)?.name : undefined;
      return group === 'role:nobody' ? 'direct-messages-disabled' : 'nobody-authorizes';
    }
    const exists = state.recentDirects.has(userIds.join(','));
    return exists || this.hasRealm('realm_direct_message_initiator_group') ? null : 'cannot-start-conversation';
  }

  private get role(): number {
    return this.state.people.get(this.state.selfId)?.user.role ?? 400;
  }

  private isModifiable({ stream_id: channelId }: StoredMessage): boolean {
    if (this.state.isVisitor) return false;
    return channelId === undefined || this.state.channels.get(channelId)?.channel.is_archived === false;
  }

  private isWithin({ timestamp }: StoredMessage, limit: Limit, grace: number): boolean {
    const seconds = this.state.fields.get(limit);
    return seconds === null || seconds === undefined || this.clock.now() / 1000 - timestamp <= seconds + grace;
  }

  private hasRealm(name: RealmPermission): boolean {
    const definitions = this.state.fields.get('server_supported_permission_settings')?.realm;
    const key = name.slice('realm_'.length) as keyof typeof definitions;
    return this.has(this.state.fields.get(name) as GroupSetting | undefined, definitions?.[key]);
  }

  private hasIn(channelId: number | undefined, name: Permission): boolean {
    const channel = channelId === undefined ? undefined : this.state.channels.get(channelId)?.channel;
    const definitions = this.state.fields.get('server_supported_permission_settings')?.stream;
    return this.has(channel?.[name], definitions?.[name as keyof typeof definitions]);
  }

  private has(setting: GroupSetting | undefined, definition?: Definition): boolean {
    return isPermitted(this.state, setting, definition);
  }
}
