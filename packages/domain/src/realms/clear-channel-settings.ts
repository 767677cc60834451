import { wholeRealm } from '../events/audience.js';
import type { ChannelId } from '../shared/ids.js';
import type { Transaction } from '../shared/unit-of-work.js';
import type { Realm } from './realm.js';
import { REALM_SETTINGS, type RealmSettingName } from './realm-settings.js';

/** Settings of the organization that name a channel name none from now on, and everybody is told so at once (channels §4.12). */
export async function clearChannelSettings(tx: Transaction, realm: Realm, channelId: ChannelId): Promise<void> {
  const names = (Object.keys(REALM_SETTINGS) as RealmSettingName[]).filter(
    (name) => REALM_SETTINGS[name].kind === 'channel' && realm.settings[name] === channelId,
  );
  if (names.length === 0) return;
  const cleared = Object.fromEntries(names.map((name) => [name, null]));
  await tx.realms.update({ ...realm, settings: { ...realm.settings, ...cleared } });
  await tx.events.append(realm.id, {
    event: { type: 'realm.channels_cleared', settings: names },
    audience: wholeRealm,
  });
}
