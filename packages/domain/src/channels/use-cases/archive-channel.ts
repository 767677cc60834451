import type { Caller } from '../../kernel/caller.js';
import type { ChannelId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { clearChannelSettings } from '../../realms/clear-channel-settings.js';
import { announceArchiving } from '../announce-archiving.js';
import { metadataUsers } from '../channel-audiences.js';
import { canArchiveChannel } from '../channel-permissions.js';
import { removeFromDefaultGroups } from '../default-channel-group-views.js';
import { loadChannel } from '../load-channel.js';
import type { NotificationBot } from '../notification-bot.js';
import { setDefaultChannel } from '../set-default-channel.js';

/** Takes a channel out of use; what was said in it stays to be read (channels §4.12). */
export class ArchiveChannel {
  static readonly inject = ['unitOfWork', 'systemMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly notificationBot: NotificationBot,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, CANNOT_ADMINISTER_CHANNEL, CHANNEL_ARCHIVED */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      const { channel } = await loadChannel(tx, actor, channelId, canArchiveChannel);
      await clearChannelSettings(tx, await tx.realms.get(realmId), channelId);
      const archived = await tx.channels.update({ ...channel, isArchived: true });
      // After it was archived, so that it is not among them.
      if (channel.isDefault) await setDefaultChannel(tx, archived, false);
      await removeFromDefaultGroups(tx, realmId, channelId);
      const [view] = await tx.channels.listViews(realmId, [channelId]);
      await tx.events.append(realmId, {
        event: { type: 'channel.archived_changed', channel: view! },
        audience: metadataUsers(archived),
      });
      await announceArchiving(
        tx,
        await tx.realms.get(realmId),
        (await tx.channels.find(realmId, channelId))!,
        this.notificationBot,
      );
    });
  }
}
