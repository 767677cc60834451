import type { Caller } from '../kernel/caller.js';
import { DomainError } from '../kernel/errors.js';
import type { DefaultChannelGroupId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { canChangeDefaultChannels } from './channel-permissions.js';
import type { DefaultChannelGroup } from './default-channel-group.js';

/**
 * For changing it. `first` is asked of those who may, before the group is looked for.
 * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_DEFAULT_CHANNEL_GROUP
 */
export async function loadDefaultChannelGroup(
  tx: Transaction,
  caller: Caller,
  id: DefaultChannelGroupId,
  first: () => void = () => {},
): Promise<DefaultChannelGroup> {
  enforce(canChangeDefaultChannels(await tx.actors.get(caller)));
  first();
  const group = await tx.defaultChannelGroups.find(caller.realmId, id);
  if (group) return group;
  throw new DomainError('UNKNOWN_DEFAULT_CHANNEL_GROUP', `Default channel group with id '${id}' does not exist.`);
}
