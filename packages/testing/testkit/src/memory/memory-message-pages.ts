import type { MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  HISTORICAL,
  MAX_EDITS,
  type Message,
  type MessageCondition,
  type MessageFilter,
  type MessageIdRange,
  type MessageListEntry,
  type MessagePageReads,
  type MessageText,
  type MessageView,
  type UserSummary,
  userSummary,
  type Viewer,
} from '@parley/domain/messages';
import { matches, matching } from './message-filter.js';
import { messagesOf } from './messages-of.js';
import { findFlags } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

export class MemoryMessagePages implements MessagePageReads {
  constructor(private readonly unit: MemoryUnit) {}

  async listEntriesUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const found = matching(this.unit, viewer, filter).filter(({ id }) => atMost === null || id <= atMost);
    return found.slice(Math.max(0, found.length - limit)).map((message) => this.toEntry(viewer, message));
  }

  async listEntriesFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const found = matching(this.unit, viewer, filter).filter(({ id }) => id >= atLeast);
    return found.slice(0, limit).map((message) => this.toEntry(viewer, message));
  }

  async listEntries(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions: readonly MessageCondition[] = [],
  ): Promise<readonly MessageListEntry[]> {
    return messagesOf(this.unit, viewer.realmId, ids)
      .filter((message) => matches(this.unit, viewer, message, conditions))
      .map((message) => this.toEntry(viewer, message));
  }

  async listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]> {
    return messagesOf(this.unit, realmId, ids).map((message) => ({
      ...this.reactionsOf(message),
      ...this.editsOf(message),
      ...this.hostDataOf(message),
      message,
      sender: this.person(message.senderId),
      submessages: [...this.unit.read('submessages').values()].filter(({ messageId }) => messageId === message.id),
      conversation:
        message.channelId === null
          ? { kind: 'direct', participants: this.participants(message.recipientId).map((id) => this.person(id)) }
          : {
              kind: 'channel',
              channelId: message.channelId,
              name: this.unit.read('channels').get(message.channelId)!.name,
            },
    }));
  }

  async listTexts(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageText[]> {
    return messagesOf(this.unit, realmId, ids).map(({ id, topic, renderedContent }) => ({
      id,
      topic,
      renderedContent,
    }));
  }

  async listIdsSince(realmId: RealmId, since: UnixSeconds): Promise<readonly MessageIdRange[]> {
    const ranges: { first: MessageId; last: MessageId }[] = [];
    let isContinued = false;
    for (const { id, sentAt } of messagesOf(this.unit, realmId)) {
      if (sentAt >= since) {
        if (isContinued) ranges.at(-1)!.last = id;
        else ranges.push({ first: id, last: id });
      }
      isContinued = sentAt >= since;
    }
    if (isContinued) ranges.at(-1)!.last = Number.MAX_SAFE_INTEGER as MessageId;
    return ranges;
  }

  private reactionsOf({ id }: Message): Pick<MessageView, 'reactions'> {
    const reactions = this.unit.read('reactions of messages').get(id);
    return reactions ? { reactions } : {};
  }

  private editsOf({ id }: Message): Pick<MessageView, 'edits'> {
    const edits = this.unit.read('edits of messages').get(id)?.slice(0, MAX_EDITS);
    return edits ? { edits } : {};
  }

  private hostDataOf({ id }: Message): Pick<MessageView, 'hostData'> {
    const row = this.unit.read('host data of messages').get(id);
    return row ? { hostData: row.data } : {};
  }

  private toEntry({ userId }: Viewer, message: Message): MessageListEntry {
    const { id, senderId, recipientId, channelId } = message;
    return {
      id,
      senderId,
      recipientId,
      channelId,
      versions: {
        message: message.version,
        sender: this.versionOf(senderId),
        conversation:
          channelId === null
            ? this.participants(recipientId).reduce((sum, person) => sum + this.versionOf(person), 0)
            : this.unit.read('channels').get(channelId)!.version,
      },
      flags: findFlags(this.unit, userId, id) ?? HISTORICAL,
    };
  }

  private versionOf(userId: UserId): number {
    return this.unit.read('users').get(userId)!.user.version;
  }

  private participants(recipientId: RecipientId): readonly UserId[] {
    const recipient = this.unit.read('recipients').get(recipientId);
    return recipient?.kind === 'direct' ? recipient.userIds : [];
  }

  private person(userId: UserId): UserSummary {
    return userSummary(this.unit.read('users').get(userId)!.user);
  }
}
