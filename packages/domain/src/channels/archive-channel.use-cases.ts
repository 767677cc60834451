import { except } from '../kernel/event.js';
import type { Caller, ChannelId, RealmId, UnixSeconds } from '../kernel/ids.js';
import { encodeJob } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE, getOrThrow, slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import { clearChannelSettings } from '../realms/realm-events.js';
import type { Channel } from './channel.js';
import { loadChannel } from './channel-access.js';
import { metadataUsers, subscribersOf } from './channel-delivery.js';
import { publishArchiving, publishProperty, publishReturn } from './channel-events.js';
import { archivingNotice, CHANNEL_EVENTS_TOPIC, type NotificationBot } from './channel-notices.js';
import { canArchiveChannel } from './channel-permissions.js';
import { restartClosing } from './closing.js';
import { removeFromDefaultGroups, setDefaultChannel } from './default-channels.js';
import { MAX_SUBSCRIPTIONS_AT_ONCE, SUBSCRIPTION_PART_JOB } from './subscription-parts.js';

/** Posts a notice that a channel was archived or unarchived. An archiving notice is marked as read for all users. */
async function announceArchiving(
  tx: Transaction,
  realm: Realm,
  channel: Channel,
  notificationBot: NotificationBot,
): Promise<void> {
  if (!realm.settings.sendChannelEventsMessages) return;
  await notificationBot.sendToChannel(tx, realm, {
    channel,
    topic: CHANNEL_EVENTS_TOPIC,
    content: archivingNotice(channel, channel.isArchived),
    isReadByDefault: channel.isArchived,
    // The notice names only its own channel, so no author's access is needed.
    author: { actor: null },
  });
}

/**
 * Unarchives a channel (channels §4.13). Clients that hide archived channels receive it as a new channel with its
 * subscribers (channels §6.3). Jobs publish the subscriptions that exceed the first batch.
 */
export async function unarchiveChannel(
  tx: Transaction,
  realm: Realm,
  archived: Channel,
  { notificationBot, now }: { readonly notificationBot: NotificationBot; readonly now: UnixSeconds },
): Promise<void> {
  const channel = await tx.channels.update({ ...archived, isArchived: false });
  await restartClosing(tx, channel, now);
  const view = await publishArchiving(tx, channel);
  const subscriberIds = getOrThrow(await tx.channels.listSubscribers(realm.id, [channel.id]), channel.id);
  if (subscriberIds.length > 0) {
    const [first, ...others] = [...slicesOf(subscriberIds, MAX_SUBSCRIPTIONS_AT_ONCE)];
    await publishReturn(tx, view, first!);
    for (const userIds of others) {
      const payload = { op: 'return', channelId: channel.id, userIds } as const;
      await tx.jobs.schedule(encodeJob(SUBSCRIPTION_PART_JOB, { realmId: realm.id, dueAt: now, payload }));
    }
    await tx.events.append(realm.id, {
      event: {
        type: 'channel.subscribers_changed',
        op: 'add',
        channelIds: [channel.id],
        userIds: subscriberIds,
        isReturning: true,
      },
      audience: except(metadataUsers(channel), subscribersOf(channel.id)),
    });
  }
  await announceArchiving(tx, realm, channel, notificationBot);
}

/** Archives a channel without a notice. Does not check permissions. */
export async function archiveChannel(tx: Transaction, channel: Channel): Promise<void> {
  const { id, realmId } = channel;
  await clearChannelSettings(tx, await tx.realms.get(realmId), id);
  const archived = await tx.channels.update({ ...channel, isArchived: true });
  // Runs after archiving, so that the published list omits the archived channel.
  if (channel.isDefault) await setDefaultChannel(tx, archived, false);
  await removeFromDefaultGroups(tx, realmId, id);
  await publishArchiving(tx, archived);
}

/** Archives a channel and sends the notice. Does not check permissions. */
export async function archiveWithNotice(tx: Transaction, channel: Channel, bot: NotificationBot): Promise<void> {
  const { id, realmId } = channel;
  await archiveChannel(tx, channel);
  await announceArchiving(tx, await tx.realms.get(realmId), await tx.channels.get(realmId, id), bot);
}

/** Archives a channel; its messages stay readable (channels §4.12). */
export class ArchiveChannel {
  static readonly inject = ['unitOfWork', 'systemMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly notificationBot: NotificationBot,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, CANNOT_ADMINISTER_CHANNEL, CHANNEL_ARCHIVED */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { channel } = await loadChannel(tx, actor, channelId, canArchiveChannel);
      await archiveWithNotice(tx, channel, this.notificationBot);
    });
  }
}

/** Time without messages after which a channel is no longer recently active (channels §2.1). */
const IDLE_SECONDS = 180 * 86_400;

/** Marks channels of every realm without recent messages as idle. Run daily by a worker. */
export class MarkIdleChannels {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Returns the number of channels that became idle. */
  async execute(): Promise<number> {
    const realms = await this.uow.readAcross(({ realms }) => realms.list());
    let count = 0;
    for (const realm of realms) {
      if (!realm.isDeactivated) count += await this.markInRealm(realm.id);
    }
    return count;
  }

  private async markInRealm(realmId: RealmId): Promise<number> {
    const since = this.clock.now() - IDLE_SECONDS;
    let count = 0;
    let last: ChannelId | null = null;
    for (;;) {
      const after: ChannelId | null = last;
      const { active, idle } = await this.uow.read(realmId, async ({ channels }) => {
        const ids = await channels.listRecentlyActiveIds(realmId, after, ENTITIES_PER_PAGE);
        return { active: ids, idle: await channels.filterIdle(realmId, ids, since) };
      });
      if (idle.length > 0) count += await this.mark(realmId, idle, since);
      last = active.at(-1) ?? null;
      if (active.length < ENTITIES_PER_PAGE) return count;
    }
  }

  private mark(realmId: RealmId, found: readonly ChannelId[], since: number): Promise<number> {
    return this.uow.write(realmId, async (tx) => {
      // A message may have been sent since the look-up.
      const idle = await tx.channels.filterIdle(realmId, found, since);
      for (const channel of await tx.channels.list(realmId, idle)) {
        const changed = await tx.channels.update({ ...channel, isRecentlyActive: false });
        await publishProperty(tx, changed, { property: 'isRecentlyActive', value: false });
      }
      return idle.length;
    });
  }
}
