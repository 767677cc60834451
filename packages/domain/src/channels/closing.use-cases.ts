import type { Caller, ChannelId, RealmId } from '../kernel/ids.js';
import type { Job, JobHandler, JobWork } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { archiveWithNotice, unarchiveChannel } from './archive-channel.use-cases.js';
import type { Channel } from './channel.js';
import { loadChannel } from './channel-access.js';
import type { NotificationBot } from './channel-notices.js';
import { canArchiveChannel, canUnarchiveChannel } from './channel-permissions.js';
import { CLOSING_JOB, DAY_SECONDS, scheduleClosing } from './closing.js';
import { canPostSomewhere, loadPosting } from './post-permissions.js';

async function close(tx: Transaction, channel: Channel, notificationBot: NotificationBot): Promise<void> {
  const { id, realmId } = channel;
  const closing = await tx.channelClosings.find(realmId, id);
  if (closing) await tx.channelClosings.update({ ...closing, isClosed: true });
  else await tx.channelClosings.add({ realmId, afterDays: null, isClosed: true }, id);
  await archiveWithNotice(tx, channel, notificationBot);
}

/** Archives a channel until `ReopenChannel`. */
export class CloseChannel {
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
      await close(tx, channel, this.notificationBot);
    });
  }
}

/** Unarchives a closed channel on behalf of somebody who may post in it once it is open. */
export class ReopenChannel {
  static readonly inject = ['unitOfWork', 'systemMessages', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly notificationBot: NotificationBot,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns false without effect if the channel is not closed, also if somebody has archived it.
   * @throws DomainError UNKNOWN_DESTINATION, CANNOT_POST_IN_CHANNEL, CHANNEL_WITHOUT_SUBSCRIBERS
   */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<boolean> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      const channel = await tx.channels.find(realmId, channelId);
      if (!channel?.isArchived || !(await tx.channelClosings.find(realmId, channelId))?.isClosed) return false;
      const open = { ...channel, isArchived: false };
      enforce(canPostSomewhere(await loadPosting(tx, actor, open, null)));
      const hasSubscribers = (await tx.channels.countSubscribers(realmId, channelId)) > 0;
      enforce(canUnarchiveChannel(channel, hasSubscribers));
      const { notificationBot } = this;
      await unarchiveChannel(tx, await tx.realms.get(realmId), channel, { notificationBot, now: this.clock.now() });
      return true;
    });
  }
}

/** Fraction of the time without messages after which a channel with newer messages is checked again. */
const CHECK_AGAIN_AFTER = 1 / 10;

/** Closes channels without recent messages when their time has passed. */
export class CloseIdleChannels implements JobHandler<{ readonly channelId: number }> {
  static readonly inject = ['systemMessages', 'clock'] as const;

  readonly kind = CLOSING_JOB;

  constructor(
    private readonly notificationBot: NotificationBot,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<{ readonly channelId: number }>): Promise<JobWork> {
    return (tx) => this.closeIfIdle(tx, realmId, payload.channelId as ChannelId);
  }

  private async closeIfIdle(tx: Transaction, realmId: RealmId, channelId: ChannelId): Promise<void> {
    const closing = await tx.channelClosings.find(realmId, channelId);
    const channel = await tx.channels.get(realmId, channelId);
    if (closing?.afterDays == null || channel.isArchived) return;
    const now = this.clock.now();
    const seconds = closing.afterDays * DAY_SECONDS;
    const [idle] = await tx.channels.filterIdle(realmId, [channelId], now - seconds + 1);
    if (idle !== undefined) return close(tx, channel, this.notificationBot);
    const pause = Math.max(DAY_SECONDS, Math.ceil(seconds * CHECK_AGAIN_AFTER));
    await scheduleClosing(tx, closing, now + pause);
  }
}
