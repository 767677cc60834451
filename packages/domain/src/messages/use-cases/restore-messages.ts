import { metadataUsers } from '../../channels/channel-audiences.js';
import type { ChannelId, RealmId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { ArchiveSelection } from '../message-archive.js';

export interface RestoreMessagesInput {
  readonly realmId: RealmId;
  readonly selection: ArchiveSelection;
  /** Only counts them. */
  readonly isDryRun: boolean;
}

const AT_ONCE = 100;

/**
 * Puts deleted messages back, for an operator. Clients get no event: they find them when they next look, and count what
 * is unread anew when they register.
 */
export class RestoreMessages {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Answers how many there are of them. */
  async execute({ realmId, selection, isDryRun }: RestoreMessagesInput): Promise<number> {
    let count = 0;
    let after = 0;
    for (;;) {
      const archived = await this.uow.read((r) => r.archive.list(realmId, selection, after, AT_ONCE));
      const ids = archived.map(({ id }) => id);
      const channelIds = new Set(archived.flatMap(({ channelId }) => channelId ?? []));
      if (isDryRun) count += ids.length;
      else {
        count += await this.uow.write(async (tx) => {
          const restored = await tx.archive.restore(realmId, ids);
          for (const channelId of channelIds) await renewFirstMessage(tx, realmId, channelId);
          return restored.length;
        });
      }
      if (archived.length < AT_ONCE) return count;
      after = ids.at(-1)!;
    }
  }
}

async function renewFirstMessage(tx: Transaction, realmId: RealmId, channelId: ChannelId): Promise<void> {
  const channel = (await tx.channels.find(realmId, channelId))!;
  const [oldest = null] = await tx.messages.listOldestIds(realmId, channel.recipientId, 1);
  if (oldest === null || (channel.firstMessageId !== null && channel.firstMessageId <= oldest)) return;
  await tx.channels.update({ ...channel, firstMessageId: oldest });
  const { id, name } = channel;
  await tx.events.append(realmId, {
    event: { type: 'channel.property_changed', channelId: id, name, property: 'firstMessageId', value: oldest },
    audience: metadataUsers(channel),
  });
}
