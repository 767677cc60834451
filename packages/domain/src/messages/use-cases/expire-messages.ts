import type { Channel } from '../../channels/channel.js';
import type { Clock } from '../../kernel/clock.js';
import type { RealmId, RecipientId, UnixSeconds } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { deleteMessages, MAX_DELETED_AT_ONCE } from '../delete-messages.js';

const DAY_SECONDS = 86_400;
const CONVERSATIONS_AT_ONCE = 1000;

/** For how many days messages are kept there; null: for ever. `channel`: null for direct messages. */
export function retentionDays(
  realm: Pick<Realm, 'settings'>,
  channel: Pick<Channel, 'messageRetentionDays'> | null,
): number | null {
  const own = channel?.messageRetentionDays ?? null;
  return own === null ? realm.settings.messageRetentionDays : own === 'forever' ? null : own;
}

/** Deletes messages whose time is over, as channels and organizations have it, a few in each unit (messages §18.3). */
export class ExpireMessages {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Answers how many there were. */
  async execute(): Promise<number> {
    let count = 0;
    const realms = await this.uow.read((r) => r.realms.list());
    for (const realm of realms) if (!realm.isDeactivated) count += await this.expireIn(realm);
    return count;
  }

  private async expireIn(realm: Realm): Promise<number> {
    let count = 0;
    const channels = await this.uow.read((r) => r.channels.listAll(realm.id));
    for (const channel of channels) {
      if (retentionDays(realm, channel) !== null) count += await this.expireAll(realm.id, channel.recipientId);
    }
    if (retentionDays(realm, null) === null) return count;
    for (let after = 0; ; ) {
      const page = await this.uow.read((r) => r.recipients.listDirect(realm.id, after, CONVERSATIONS_AT_ONCE));
      for (const recipientId of page) count += await this.expireAll(realm.id, recipientId);
      if (page.length < CONVERSATIONS_AT_ONCE) return count;
      after = page.at(-1)!;
    }
  }

  private async expireAll(realmId: RealmId, recipientId: RecipientId): Promise<number> {
    const isDue = await this.uow.read(async (r) => {
      const [oldest] = await r.messages.list(realmId, await r.messages.listOldestIds(realmId, recipientId, 1));
      if (!oldest) return false;
      const channel = oldest.channelId === null ? null : await r.channels.find(realmId, oldest.channelId);
      const days = retentionDays(await r.realms.get(realmId), channel);
      return days !== null && oldest.sentAt < this.sentBefore(days);
    });
    let count = 0;
    let deleted = isDue ? MAX_DELETED_AT_ONCE : 0;
    while (deleted === MAX_DELETED_AT_ONCE) {
      deleted = await this.uow.write((tx) => this.expireOldest(tx, realmId, recipientId), { givesWay: true });
      count += deleted;
    }
    return count;
  }

  /** What settings say is asked each time, since they may have been changed in between. */
  private async expireOldest(tx: Transaction, realmId: RealmId, recipientId: RecipientId): Promise<number> {
    const realm = await tx.realms.get(realmId);
    const ids = await tx.messages.listOldestIds(realmId, recipientId, MAX_DELETED_AT_ONCE);
    const oldest = await tx.messages.list(realmId, ids);
    const channelId = oldest[0]?.channelId ?? null;
    const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
    const days = retentionDays(realm, channel);
    if (days === null) return 0;
    const messages = oldest.filter(({ sentAt }) => sentAt < this.sentBefore(days));
    const deletion = { realmId, deletedBy: null, deletedAt: this.clock.now(), channel };
    // Of direct messages clients get an event each.
    const parts = channel === null ? messages.map((message) => [message]) : messages.length > 0 ? [messages] : [];
    for (const part of parts) {
      await deleteMessages(tx, { ...deletion, messages: part });
      await tx.yield();
    }
    return messages.length;
  }

  private sentBefore(days: number): UnixSeconds {
    return this.clock.now() - days * DAY_SECONDS;
  }
}
