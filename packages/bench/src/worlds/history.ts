import type { Channel } from '@parley/domain/channels';
import type { ChannelId, Clock, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { makeNewMessage } from '@parley/testkit';

/** Long enough to make the commits cheap, short enough for the write-ahead log to stay small. */
const PER_UNIT = 5000;

export interface HistoryPlan {
  readonly realmId: RealmId;
  readonly count: number;
  /** Those who have read all of it; nobody else has read anything, not even what they sent. */
  readonly readBy: readonly UserId[];
  /** Where the nth message goes and who sends it. */
  readonly place: (n: number) => { readonly channelId: ChannelId; readonly topic: string; readonly senderId: UserId };
}

export const clock: Clock = {
  now: () => Math.floor(Date.now() / 1000) as UnixSeconds,
  nowMs: () => Date.now(),
};

/**
 * Messages as sending would have left them, but without the events, which are long pruned in an old archive; written
 * through the storage alone, because a million take minutes otherwise.
 */
export async function writeHistory(database: string, { realmId, count, readBy, place }: HistoryPlan): Promise<void> {
  const storage = openSqliteStorage({ path: database, clock, words: htmlMessages });
  const startAt = clock.now() - count;
  try {
    for (let from = 0; from < count; from += PER_UNIT) {
      await storage.uow.write(async (tx) => {
        const channels = new Map((await tx.channels.listAll(realmId)).map((channel) => [channel.id, channel]));
        for (let n = from; n < Math.min(count, from + PER_UNIT); n++) {
          const { channelId, topic, senderId } = place(n);
          await tx.messages.append(aMessage(n, channels.get(channelId)!, topic, senderId, startAt));
        }
      });
    }
    await storage.uow.write(async (tx) => {
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

/** About a hundred characters, as messages are on average; no two alike. */
export const contentOf = (n: number): string =>
  `Message ${n}: the build is green again, the report is attached to the ticket, and lunch is at noon.`;
