import type { Channel } from '@parley/domain/channels';
import type { ChannelId, Clock, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { makeNewMessage } from '@parley/testkit';

/** Messages per transaction: many for cheap commits, few for a small write-ahead log. */
const PER_UNIT = 5000;

export interface HistoryPlan {
  readonly realmId: RealmId;
  readonly count: number;
  /** Users who have read everything; for others everything is unread, even their own messages. */
  readonly readBy: readonly UserId[];
  /** Place and sender of the nth message. */
  readonly originOf: (n: number) => {
    readonly channelId: ChannelId;
    readonly topic: string;
    readonly senderId: UserId;
  };
}

export const clock: Clock = {
  now: () => Math.floor(Date.now() / 1000) as UnixSeconds,
  nowMs: () => Date.now(),
};

/** Writes messages directly to the storage for speed, without events, which are pruned in an old archive. */
export async function writeHistory(database: string, { realmId, count, readBy, originOf }: HistoryPlan): Promise<void> {
  const storage = openSqliteStorage({ path: database, clock, words: htmlMessages });
  const startAt = clock.now() - count;
  try {
    for (let from = 0; from < count; from += PER_UNIT) {
      await storage.uow.write(realmId, async (tx) => {
        const channels = new Map((await tx.channels.listAll(realmId)).map((channel) => [channel.id, channel]));
        for (let n = from; n < Math.min(count, from + PER_UNIT); n++) {
          const { channelId, topic, senderId } = originOf(n);
          await tx.messages.append(aMessage(n, channels.get(channelId)!, topic, senderId, startAt));
        }
      });
    }
    await storage.uow.write(realmId, async (tx) => {
      for (const userId of readBy) await tx.personal.markAllRead({ realmId, userId });
    });
  } finally {
    await storage.close();
  }
}

function aMessage(n: number, channel: Channel, topic: string, senderId: UserId, startAt: number): NewMessage {
  return makeNewMessage({
    realmId: channel.realmId,
    senderId,
    recipientId: channel.recipientId,
    channelId: channel.id,
    topic,
    content: contentOf(n),
    sentAt: (startAt + n) as UnixSeconds,
  });
}

/** About a hundred characters, the average length; each is unique. */
export const contentOf = (n: number): string =>
  `Message ${n}: the build is green again, the report is attached to the ticket, and lunch is at noon.`;
