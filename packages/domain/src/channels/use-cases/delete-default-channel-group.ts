import type { Caller } from '../../kernel/caller.js';
import type { DefaultChannelGroupId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { publishDefaultChannelGroups } from '../default-channel-group-views.js';
import { loadDefaultChannelGroup } from '../load-default-channel-group.js';

/** The group alone: its channels stay (channels §4.14). */
export class DeleteDefaultChannelGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_DEFAULT_CHANNEL_GROUP */
  execute(caller: Caller, { groupId }: { readonly groupId: DefaultChannelGroupId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const { id, realmId } = await loadDefaultChannelGroup(tx, caller, groupId);
      await tx.defaultChannelGroups.remove(realmId, id);
      await publishDefaultChannelGroups(tx, realmId);
    });
  }
}
