import { wholeRealm } from '../kernel/audience.js';
import type { ChannelId } from '../kernel/ids.js';
import { recordOf } from '../kernel/record-of.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { CHANNEL_SETTINGS } from './channel-settings.js';
import type { Realm } from './realm.js';

/** Settings of the organization that name a channel name none from now on, which is announced to everybody at once (channels §4.12). */
export async function clearChannelSettings(tx: Transaction, realm: Realm, channelId: ChannelId): Promise<void> {
  const names = CHANNEL_SETTINGS.filter((name) => realm.settings[name] === channelId);
  if (names.length === 0) return;
  const settings = { ...realm.settings, ...recordOf(names, () => null) };
  await tx.realms.update({ ...realm, settings });
  await tx.events.append(realm.id, {
    event: { type: 'realm.channels_cleared', settings: names },
    audience: wholeRealm,
  });
}
