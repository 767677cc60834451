import type { MessageId, RealmId } from '@parley/domain/kernel';
import { type Draft, type DraftRepository, quotedMessages } from '@parley/domain/writing';
import { MemoryRows } from './memory-rows.js';

export class MemoryDrafts extends MemoryRows<Draft> implements DraftRepository {
  async listQuoted(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly MessageId[]> {
    const quoted = messageIds.filter((id) => this.quoting(realmId, id).length > 0);
    return [...new Set(quoted)].sort((a, b) => a - b);
  }

  async listQuoting(realmId: RealmId, messageId: MessageId, after: number, limit: number): Promise<readonly Draft[]> {
    const found = this.quoting(realmId, messageId).filter(({ id }) => id > after);
    return found.sort((a, b) => a.id - b.id).slice(0, limit);
  }

  private quoting(realmId: RealmId, messageId: MessageId): Draft[] {
    return this.all().filter((draft) => draft.realmId === realmId && quotedMessages(draft.content).includes(messageId));
  }
}
