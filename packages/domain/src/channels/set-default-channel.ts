import type { Transaction } from '../kernel/unit-of-work.js';
import type { Channel } from './channel.js';
import { publishDefaultChannels } from './publish-default-channels.js';

/** Whether newcomers are subscribed to it. Taking away what is not there is announced all the same (channels §4.14). */
export async function setDefaultChannel(tx: Transaction, channel: Channel, isDefault: boolean): Promise<void> {
  if (channel.isDefault && isDefault) return;
  if (channel.isDefault !== isDefault) await tx.channels.update({ ...channel, isDefault });
  await publishDefaultChannels(tx, channel.realmId);
}
