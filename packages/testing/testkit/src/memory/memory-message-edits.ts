import type { MessageId, RealmId } from '@parley/domain/kernel';
import {
  MAX_EDITED_TEXT,
  MAX_EDITS,
  MAX_HELD_EDITS,
  type MessageEdit,
  type MessageEditRepository,
  type SharedEdit,
} from '@parley/domain/messages';
import { isHeld } from './memory-held-messages.js';
import { messagesOf } from './messages-of.js';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Edits by message, newest first; never empty. */
    readonly 'edits of messages': Map<MessageId, readonly MessageEdit[]>;
  }
}

export class MemoryMessageEdits implements MessageEditRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, messageId: MessageId): Promise<readonly MessageEdit[]> {
    // Held messages keep more.
    return this.keptOf(realmId, messageId).slice(0, MAX_EDITS);
  }

  async count(realmId: RealmId, messageId: MessageId): Promise<number> {
    return Math.min(this.keptOf(realmId, messageId).length, MAX_HELD_EDITS);
  }

  private keptOf(realmId: RealmId, messageId: MessageId): readonly MessageEdit[] {
    const isHere = this.unit.read('messages').get(messageId)?.realmId === realmId;
    return (isHere && this.unit.read('edits of messages').get(messageId)) || [];
  }

  async add(
    realmId: RealmId,
    { userId, editedAt, topic, channelId }: SharedEdit,
    ids: readonly MessageId[],
    edited: MessageId | null = null,
  ): Promise<void> {
    for (const message of messagesOf(this.unit, realmId, ids)) {
      const edit: MessageEdit = {
        userId,
        editedAt,
        topic: topic === null ? null : { from: message.topic, to: topic },
        channel: channelId === null ? null : { from: message.channelId!, to: channelId },
        previousContent: message.id === edited ? { content: message.content, rendered: message.renderedContent } : null,
      };
      const edits = this.unit.change('edits of messages');
      const all = [edit, ...(edits.get(message.id) ?? [])];
      edits.set(message.id, isHeld(this.unit, message) ? all : kept(all));
    }
  }
}

/** Returns the newest edits within the text limit. */
function kept(edits: readonly MessageEdit[]): readonly MessageEdit[] {
  let length = 0;
  return edits.slice(0, MAX_EDITS).filter(({ previousContent }, index) => {
    if (previousContent) length += [...previousContent.content].length + [...previousContent.rendered].length;
    return index === 0 || length <= MAX_EDITED_TEXT;
  });
}
