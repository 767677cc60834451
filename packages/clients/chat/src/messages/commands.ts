import type { Reaction } from '@parley/client';
import { batch } from '@preact/signals-core';
import { type Destination, type Narrow, narrowOf } from '../kernel/narrow.js';
import type { Gateway, Reach } from '../kernel/ports.js';
import { type ChatState, POLICIES, RESOLVED_PREFIX, topicKey } from '../kernel/state.js';
import type { PersonRow, TopicPolicy } from '../kernel/view-models.js';
import { apiNarrow } from './match.js';
import { MESSAGE_RULES, withFlag } from './messages.js';
import { destinationOfMessage } from './unread.js';
import { nextIndex, type WidgetAction } from './widgets.js';

type TopicPlace = Omit<Extract<Destination, { kind: 'channel' }>, 'kind'>;

/** New place of messages; absent parts stay unchanged. */
export interface Move {
  readonly channelId?: number;
  readonly topic?: string;
  /** Only this message, this and later messages of the topic, or the whole topic. */
  readonly scope: 'change_one' | 'change_later' | 'change_all';
  /** Posts a notice with a link in the old and in the new topic. */
  readonly notifiesOld?: boolean;
  readonly notifiesNew?: boolean;
}

export type Emoji = Pick<Reaction, 'emoji_name' | 'emoji_code' | 'reaction_type'>;

/**
 * Optimistic changes, which are rolled back if the server rejects them; the promise then rejects with a `ParleyError`.
 */
export class Commands {
  /** Index of the last option or task added here, by message; its event may still be pending. */
  private readonly added = new Map<number, number>();

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    /** Called after a change that may not produce an event. */
    private readonly changed: (messageId: number, reach: Reach) => Promise<void>,
  ) {}

  /** Adds or removes the user's reaction. */
  async react(messageId: number, emoji: Emoji, isSet: boolean): Promise<void> {
    const apply = (op: 'add' | 'remove') =>
      MESSAGE_RULES.reaction(this.state, {
        type: 'reaction',
        id: 0,
        op,
        message_id: messageId,
        user_id: this.state.selfId,
        ...emoji,
        user: { user_id: this.state.selfId, email: '', full_name: '' },
      });
    const params = { message_id: messageId, ...emoji };
    await this.optimistic(
      () => apply(isSet ? 'add' : 'remove'),
      () => apply(isSet ? 'remove' : 'add'),
      () =>
        isSet
          ? this.gateway.post('/messages/{message_id}/reactions', params)
          : this.gateway.delete('/messages/{message_id}/reactions', params),
    );
  }

  /** Toggles the user's reaction. */
  toggleReaction(messageId: number, emoji: Emoji): Promise<void> {
    const { reactions = [] } = this.state.messages.peek(messageId) ?? {};
    const isSet = reactions.some(
      ({ user_id, emoji_code, reaction_type }) =>
        user_id === this.state.selfId && emoji_code === emoji.emoji_code && reaction_type === emoji.reaction_type,
    );
    return this.react(messageId, emoji, !isSet);
  }

  star(messageId: number, isSet: boolean): Promise<void> {
    return this.flag(messageId, 'starred', isSet);
  }

  /** Collapses or expands a message for the user. */
  collapse(messageId: number, isSet: boolean): Promise<void> {
    return this.flag(messageId, 'collapsed', isSet);
  }

  private flag(messageId: number, flag: 'starred' | 'collapsed', isSet: boolean): Promise<void> {
    const apply = (isOn: boolean) => {
      if (flag === 'starred') {
        if (isOn) this.state.starred.set(messageId, true);
        else this.state.starred.delete(messageId);
      }
      this.state.messages.change(messageId, (message) => ({ ...message, flags: withFlag(message.flags, flag, isOn) }));
    };
    return this.optimistic(
      () => apply(isSet),
      () => apply(!isSet),
      () => this.gateway.post('/messages/flags', { messages: [messageId], op: isSet ? 'add' : 'remove', flag }),
    );
  }

  /**
   * Replaces the content. `seenSha256` is the hex hash of the displayed source; if the source has changed since, the
   * server rejects the edit as `EXPECTATION_MISMATCH`.
   */
  async edit(messageId: number, content: string, seenSha256?: string): Promise<void> {
    await this.gateway.patch('/messages/{message_id}', {
      message_id: messageId,
      content,
      ...(seenSha256 !== undefined && { prev_content_sha256: seenSha256 }),
    });
    await this.changed(messageId, 'message');
  }

  /** Returns the Markdown source of a message. */
  async source(messageId: number): Promise<string> {
    const { message } = await this.gateway.get('/messages/{message_id}', {
      message_id: messageId,
      apply_markdown: false,
      allow_empty_topic_name: true,
    });
    return message.content;
  }

  /** Fetches the current conversation of a message. */
  async destination(messageId: number): Promise<Destination> {
    const { message } = await this.gateway.get('/messages/{message_id}', {
      message_id: messageId,
      allow_empty_topic_name: true,
    });
    return destinationOfMessage(this.state, message);
  }

  async move(
    messageId: number,
    { channelId, topic, scope, notifiesOld = false, notifiesNew = true }: Move,
  ): Promise<void> {
    await this.gateway.patch('/messages/{message_id}', {
      message_id: messageId,
      ...(channelId !== undefined && { stream_id: channelId }),
      ...(topic !== undefined && { topic }),
      propagate_mode: scope,
      send_notification_to_old_thread: notifiesOld,
      send_notification_to_new_thread: notifiesNew,
    });
    await this.changed(messageId, scope === 'change_all' ? 'topic' : 'lists');
  }

  /** Marks a topic as resolved or unresolved. */
  async resolve({ channelId, topic }: TopicPlace, isResolved: boolean): Promise<void> {
    const messageId = await this.newestIn({ channelId, topic });
    const bare = topic.replace(/^[✔ ]+/u, '');
    const name = isResolved ? `${RESOLVED_PREFIX}${topic}` : bare;
    if (messageId !== null) await this.move(messageId, { topic: name, scope: 'change_all', notifiesNew: false });
  }

  /** Returns the newest message of a topic; null if the topic is empty. */
  async newestIn({ channelId, topic }: TopicPlace): Promise<number | null> {
    const { messages } = await this.gateway.get('/messages', {
      narrow: apiNarrow(narrowOf({ kind: 'channel', channelId, topic }), this.state.selfId),
      anchor: 'newest',
      num_before: 1,
      num_after: 0,
      allow_empty_topic_name: true,
    });
    return messages[0]?.id ?? null;
  }

  /** Votes in a poll, ticks a task, or adds an option or a task. */
  async act(messageId: number, action: WidgetAction): Promise<void> {
    await this.gateway.post('/submessage', {
      message_id: messageId,
      msg_type: 'widget',
      content: JSON.stringify(action),
    });
    await this.changed(messageId, 'message');
  }

  /** Adds an option or a task under an unused index of this user. */
  addTo(messageId: number, make: (index: number) => WidgetAction): Promise<void> {
    const seen = this.state.messages.peek(messageId)?.submessages ?? [];
    const index = Math.max(nextIndex(seen, this.state.selfId), (this.added.get(messageId) ?? 0) + 1);
    this.added.set(messageId, index);
    return this.act(messageId, make(index));
  }

  async delete(messageId: number): Promise<void> {
    await this.gateway.delete('/messages/{message_id}', { message_id: messageId });
  }

  /** Reports a message to the moderators; `type` is one of `server_report_message_types`. */
  async report(messageId: number, type: string, description: string): Promise<void> {
    await this.gateway.post('/messages/{message_id}/report', {
      message_id: messageId,
      report_type: type,
      description,
    });
  }

  /** Deletes all visible messages of a topic; large topics take several calls. */
  async deleteTopic({ channelId, topic }: TopicPlace): Promise<void> {
    const params = { stream_id: channelId, topic_name: topic };
    while (!(await this.gateway.post('/streams/{stream_id}/delete_topic', params)).complete);
    this.state.topics.change(channelId, (topics) => {
      const left = new Map(topics);
      left.delete(topic.toLowerCase());
      return left;
    });
  }

  /** Marks a whole narrow as read; events update the counts. */
  markNarrowRead(narrow: Narrow): Promise<void> {
    return this.flagNarrow(narrow, 'oldest', 'add');
  }

  /** Marks every message as read; large accounts take several calls. */
  async markAllRead(): Promise<void> {
    while (!(await this.gateway.post('/mark_all_as_read', {})).complete);
  }

  /** Marks a message and all later messages of a narrow as unread. */
  markUnreadFrom(narrow: Narrow, messageId: number): Promise<void> {
    return this.flagNarrow(narrow, messageId, 'remove');
  }

  async setTopicPolicy({ channelId, topic }: Extract<Destination, { kind: 'channel' }>, policy: TopicPolicy) {
    const key = topicKey(channelId, topic);
    const before = this.state.policies.peek(key);
    const number = POLICIES.indexOf(policy) as 0 | 1 | 2 | 3;
    await this.optimistic(
      () => {
        if (number === 0) this.state.policies.delete(key);
        else {
          this.state.policies.set(key, {
            stream_id: channelId,
            topic_name: topic,
            last_updated: before?.last_updated ?? 0,
            visibility_policy: number,
          });
        }
      },
      () => (before ? this.state.policies.set(key, before) : this.state.policies.delete(key)),
      () => this.gateway.post('/user_topics', { stream_id: channelId, topic, visibility_policy: number }),
    );
  }

  /** Mutes, pins or colors a channel. */
  async setChannelProperty(channelId: number, property: 'is_muted' | 'pin_to_top' | 'color', value: boolean | string) {
    const before = this.state.channels.peek(channelId)?.own;
    if (!before) return;
    const put = (own: typeof before) => this.state.channels.change(channelId, (entry) => ({ ...entry, own }));
    await this.optimistic(
      () => put({ ...before, [property]: value }),
      () => put(before),
      () =>
        this.gateway.post('/users/me/subscriptions/properties', {
          subscription_data: [{ stream_id: channelId, property, value }],
        } as never),
    );
  }

  async mutePerson(userId: number, isMuted: boolean): Promise<void> {
    const params = { muted_user_id: userId };
    if (isMuted) await this.gateway.post('/users/me/muted_users/{muted_user_id}', params);
    else await this.gateway.delete('/users/me/muted_users/{muted_user_id}', params);
  }

  /** Sets the user's own status; empty parts are cleared. */
  async setStatus(text: string, emoji: PersonRow['statusEmoji']): Promise<void> {
    await this.gateway.post('/users/me/status', {
      status_text: text,
      emoji_name: emoji?.name ?? '',
      ...(emoji && { emoji_code: emoji.code, reaction_type: emoji.type }),
    });
  }

  private async flagNarrow(narrow: Narrow, from: number | string, op: 'add' | 'remove'): Promise<void> {
    // The endpoint does not support `with` (messages §7.5).
    const terms = narrow.filter(({ operator }) => operator !== 'with');
    for (let anchor = from; ; ) {
      const answer = await this.gateway.post('/messages/flags/narrow', {
        narrow: apiNarrow(terms, this.state.selfId),
        anchor,
        include_anchor: op === 'remove',
        num_before: 0,
        num_after: 1000,
        op,
        flag: 'read',
      });
      if (answer.found_newest || answer.last_processed_id === null) return;
      anchor = answer.last_processed_id;
    }
  }

  private async optimistic(apply: () => void, undo: () => void, call: () => Promise<unknown>): Promise<void> {
    batch(apply);
    try {
      await call();
    } catch (error) {
      batch(undo);
      throw error;
    }
  }
}
