import type { Reaction } from '@parley/client';
import { isSameDeep, Memo, type Reading } from '../kernel/reactive.js';
import type { ChatState, StoredMessage } from '../kernel/state.js';
import type { MessageRow, OutgoingMessage, ReactionRow } from '../kernel/view-models.js';
import type { Outbox } from './outbox.js';
import { destinationOfMessage } from './unread.js';

/** Messages by key. */
export class MessageRows {
  private readonly rows = new Memo((key: string) => this.row(key), isSameDeep);

  constructor(
    private readonly state: ChatState,
    private readonly outbox: Outbox,
  ) {}

  /** Null for deleted or unloaded messages. */
  message(key: string): Reading<MessageRow | null> {
    return this.rows.at(key);
  }

  private row(key: string): MessageRow | null {
    const outgoing = this.outbox.messages.get(key);
    if (outgoing) return this.outgoingRow(outgoing);
    const message = this.state.messages.get(this.outbox.sentIds.get(key) ?? Number(key));
    return message ? this.storedRow(key, message) : null;
  }

  private outgoingRow({ key, id, destination, content, createdAt, delivery, failure }: OutgoingMessage): MessageRow {
    const { selfId } = this.state;
    return {
      key,
      id,
      sender: this.sender(selfId, '', null),
      destination,
      timestamp: createdAt,
      html: null,
      markdown: content,
      isMe: content.startsWith('/me '),
      isOwn: true,
      isRead: true,
      isStarred: false,
      isMentioned: false,
      hasAlertWord: false,
      isCollapsed: false,
      editedAt: null,
      movedAt: null,
      reactions: [],
      submessages: [],
      data: null,
      delivery,
      failure,
    };
  }

  private storedRow(key: string, message: StoredMessage): MessageRow {
    const { flags, sender_id } = message;
    return {
      key,
      id: message.id,
      sender: this.sender(sender_id, message.sender_full_name, message.avatar_url),
      destination: destinationOfMessage(this.state, message),
      timestamp: message.timestamp,
      html: message.content,
      markdown: null,
      isMe: message.is_me_message,
      isOwn: sender_id === this.state.selfId,
      isRead: flags.includes('read'),
      isStarred: flags.includes('starred'),
      isMentioned: flags.some((flag) => flag === 'mentioned' || flag.endsWith('wildcard_mentioned')),
      hasAlertWord: flags.includes('has_alert_word'),
      isCollapsed: flags.includes('collapsed'),
      editedAt: message.last_edit_timestamp ?? null,
      movedAt: message.last_moved_timestamp ?? null,
      reactions: reactionRows(message.reactions, this.state.selfId),
      submessages: message.submessages,
      data: message.application_data?.data ?? null,
      delivery: 'sent',
      failure: null,
    };
  }

  /** Prefers the person's current name over that of the message. */
  private sender(id: number, name: string, avatarUrl: string | null): MessageRow['sender'] {
    const user = this.state.people.get(id)?.user;
    return { id, name: user?.full_name ?? name, avatarUrl: user?.avatar_url ?? avatarUrl };
  }
}

function reactionRows(reactions: readonly Reaction[], selfId: number): readonly ReactionRow[] {
  const rows = new Map<string, { reaction: Reaction; userIds: number[] }>();
  for (const reaction of reactions) {
    const key = `${reaction.reaction_type}:${reaction.emoji_code}`;
    const row = rows.get(key);
    if (row) row.userIds.push(reaction.user_id);
    else rows.set(key, { reaction, userIds: [reaction.user_id] });
  }
  return [...rows.values()].map(({ reaction, userIds }) => ({
    emojiName: reaction.emoji_name,
    emojiCode: reaction.emoji_code,
    reactionType: reaction.reaction_type,
    userIds,
    isOwn: userIds.includes(selfId),
  }));
}
