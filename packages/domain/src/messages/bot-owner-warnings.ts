import type { Channel } from '../channels/channel.js';
import type { Caller } from '../kernel/caller.js';
import type { Clock } from '../kernel/clock.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { channelLink, silentMention } from '../markdown/syntax.js';
import { SystemMessages } from './system-messages.js';

/** In seconds. */
const PAUSE = 300;
/** Bots; with more of them in one pause the owners of the first ones may be warned again. */
const MAX_REMEMBERED = 10_000;

/**
 * Warns a bot's owner that it sends where nobody receives it, at most once in five minutes for each bot (messages §3.2).
 * When it did so last is known to this process only: a restart may make it one notice more.
 */
export class BotOwnerWarnings {
  static readonly inject = ['unitOfWork', SystemMessages, 'clock'] as const;

  private readonly warnedAt = new Map<UserId, UnixSeconds>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  /** After the refusal, which changes nothing else. Does nothing where the caller is no bot. */
  async warnOfUnknownChannel(caller: Caller, name: string): Promise<void> {
    const sender = await this.uow.read(({ users }) => users.find(caller.realmId, caller.userId));
    if (!sender?.bot || !this.isDue(sender.id)) return;
    // As code, because it is whatever the bot made of it.
    const quoted = `\`${name.replaceAll('`', "'")}\``;
    await this.uow.write(async (tx) => {
      if (!this.isDue(sender.id)) return;
      const whatHappened = `tried to send a message to the channel ${quoted}, but there is no such channel.`;
      await this.warn(tx, caller, whatHappened, []);
    });
  }

  /** The caller is a bot that has sent a message to the channel. */
  async warnOfNoSubscribers(tx: Transaction, caller: Caller, channel: Channel): Promise<void> {
    if (!this.isDue(caller.userId) || (await tx.channels.countSubscribers(caller.realmId, channel.id)) > 0) return;
    const whatHappened = `sent a message to ${channelLink(channel)}, but nobody is subscribed to this channel.`;
    await this.warn(tx, caller, whatHappened, [channel]);
  }

  private isDue(botId: UserId): boolean {
    const warnedAt = this.warnedAt.get(botId);
    return warnedAt === undefined || this.clock.now() - warnedAt >= PAUSE;
  }

  private async warn(
    tx: Transaction,
    { realmId, userId }: Caller,
    whatHappened: string,
    about: readonly Channel[],
  ): Promise<void> {
    const bot = (await tx.users.find(realmId, userId))!;
    const ownerId = bot.bot?.ownerId ?? null;
    const owner = ownerId === null ? null : await tx.users.find(realmId, ownerId);
    if (!owner?.isActive) return;
    this.markWarned(tx, userId);
    const realm = await tx.realms.get(realmId);
    const actor = await tx.actors.get({ realmId, userId: owner.id });
    await this.systemMessages.sendDirect(tx, realm, owner, `Your bot ${silentMention(bot)} ${whatHappened}`, {
      actor,
      about,
    });
  }

  /** Within the unit: another one of the same batch must not warn as well. */
  private markWarned(tx: Transaction, botId: UserId): void {
    const now = this.clock.now();
    // In the order of time, so that those come first of whom nothing has to be known any more.
    for (const [id, at] of this.warnedAt) {
      if (now - at < PAUSE && this.warnedAt.size < MAX_REMEMBERED) break;
      this.warnedAt.delete(id);
    }
    this.warnedAt.set(botId, now);
    tx.onRollback(() => this.warnedAt.delete(botId));
  }
}
