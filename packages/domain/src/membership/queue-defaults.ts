import type { Actor } from '../access/actor.js';
import type { QueueFilter } from '../kernel/event-queue.js';
import type { Repositories } from '../kernel/unit-of-work.js';

/** Of the queues of users, where they do not say: bots have defaults of their own (events §1). */
export async function loadQueueDefaults(
  { bots, channels }: Pick<Repositories, 'bots' | 'channels'>,
  { id, realmId, role, isBot }: Actor,
): Promise<QueueFilter> {
  if (!isBot) return { allPublicChannels: false, narrow: [] };
  const { eventsChannelId, allPublicChannels } = (await bots.listOptions(realmId, [id])).get(id)!;
  const [channel] = eventsChannelId === null ? [] : await channels.list(realmId, [eventsChannelId]);
  return {
    // Guests may never ask for it.
    allPublicChannels: allPublicChannels && role !== 'guest',
    narrow: channel ? [{ operator: 'stream', operand: channel.name }] : [],
  };
}
