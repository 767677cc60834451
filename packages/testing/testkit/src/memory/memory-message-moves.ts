import type { MessageId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import type { MessageMoves, MoveTarget } from '@parley/domain/writing';
import { messagesOf } from './messages-of.js';
import { findFlags, forget, GAINED_BY_MOVE, holdersOf, putFlags, receiversOf } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

export class MemoryMessageMoves implements MessageMoves {
  constructor(private readonly unit: MemoryUnit) {}

  async move(realmId: RealmId, ids: readonly MessageId[], target: MoveTarget): Promise<void> {
    const { channelId, recipientId, isHistoryProtected } = target;
    const subscribers = receiversOf(this.unit, realmId, recipientId);
    for (const message of messagesOf(this.unit, realmId, ids)) {
      const moved: Message = {
        ...message,
        channelId,
        recipientId,
        ...(target.topic !== null && { topic: target.topic, topicLinks: target.topicLinks ?? [] }),
        lastMovedAt: target.movedAt ?? message.lastMovedAt,
        isEdited: true,
        version: message.version + 1,
      };
      this.unit.change('messages').set(message.id, moved);
      if (message.recipientId !== recipientId) this.resettle(message.id, subscribers, isHistoryProtected);
    }
  }

  async moveDirect(realmId: RealmId, ids: readonly MessageId[], recipientId: RecipientId): Promise<void> {
    const participants = receiversOf(this.unit, realmId, recipientId);
    for (const message of messagesOf(this.unit, realmId, ids)) {
      if (message.recipientId === recipientId) continue;
      const version = message.version + 1;
      this.unit.change('messages').set(message.id, { ...message, recipientId, version });
      this.resettle(message.id, participants, true);
    }
  }

  /** Updates the holders of a message after a move to another channel or direct conversation. */
  private resettle(id: MessageId, subscribers: ReadonlySet<UserId>, isHistoryProtected: boolean): void {
    for (const userId of holdersOf(this.unit, id)) if (!subscribers.has(userId)) forget(this.unit, userId, id);
    if (!isHistoryProtected) return;
    for (const userId of subscribers) {
      if (!findFlags(this.unit, userId, id)) putFlags(this.unit, userId, id, GAINED_BY_MOVE);
    }
  }
}
