import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { MissedEmail, MissedEmailRepository } from '@parley/domain/push';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Waiting messages by `keyOf(realm, user, message)`. */
    readonly missedEmails: Map<
      string,
      { readonly realmId: RealmId; readonly userId: UserId; readonly missed: MissedEmail }
    >;
  }
}

export class MemoryMissedEmails implements MissedEmailRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, userId: UserId, conversation: string): Promise<readonly MissedEmail[]> {
    return [...this.unit.read('missedEmails').values()]
      .filter((row) => row.realmId === realmId && row.userId === userId && row.missed.conversation === conversation)
      .map(({ missed }) => missed)
      .sort((a, b) => a.messageId - b.messageId);
  }

  async add(realmId: RealmId, missed: MissedEmail): Promise<void> {
    const key = keyOf(realmId, missed.userId, missed.messageId);
    const rows = this.unit.change('missedEmails');
    if (!rows.has(key)) rows.set(key, { realmId, userId: missed.userId, missed });
  }

  async remove(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const id of messageIds) this.unit.change('missedEmails').delete(keyOf(realmId, userId, id));
  }
}
