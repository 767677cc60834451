import type { Clock } from '../../kernel/clock.js';
import type { ChannelId, RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { metadataUsers } from '../channel-audiences.js';

/** A channel in which nothing was said for so long is not shown among those in use (channels §2.1). */
const IDLE_SECONDS = 180 * 86_400;
/** Looked at in one unit, so that others get in between. */
const CHANNELS_AT_A_TIME = 200;

/** Finds the channels of every realm that nobody writes to any more. For a worker, once a day. */
export class MarkIdleChannels {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Answers how many became idle. */
  async execute(): Promise<number> {
    const realms = await this.uow.read(({ realms }) => realms.list());
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
      const { active, idle } = await this.uow.read(async ({ channels }) => {
        const ids = await channels.listRecentlyActiveIds(realmId, after, CHANNELS_AT_A_TIME);
        return { active: ids, idle: await channels.filterIdle(realmId, ids, since) };
      });
      if (idle.length > 0) count += await this.mark(realmId, idle, since);
      last = active.at(-1) ?? null;
      if (active.length < CHANNELS_AT_A_TIME) return count;
    }
  }

  private mark(realmId: RealmId, found: readonly ChannelId[], since: number): Promise<number> {
    return this.uow.write(async (tx) => {
      // Something may have been said since they were found.
      const idle = await tx.channels.filterIdle(realmId, found, since);
      for (const channel of await tx.channels.list(realmId, idle)) {
        const changed = await tx.channels.update({ ...channel, isRecentlyActive: false });
        await tx.events.append(realmId, {
          event: {
            type: 'channel.property_changed',
            channelId: channel.id,
            name: channel.name,
            property: 'isRecentlyActive',
            value: false,
          },
          audience: metadataUsers(changed),
        });
        await tx.yield();
      }
      return idle.length;
    });
  }
}
