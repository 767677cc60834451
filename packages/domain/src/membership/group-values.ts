import type { GroupSettingValue } from '../access/group-setting.js';
import { CHANNEL_PERMISSIONS, type ChannelPermission } from '../channels/channel.js';
import { metadataUsers } from '../channels/channel-audiences.js';
import { GROUP_PERMISSIONS, type GroupPermission } from '../groups/group.js';
import { type Audience, allOf, wholeRealm } from '../kernel/audience.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { REALM_PERMISSIONS, type RealmPermission } from '../realms/realm-settings.js';

/** Which of the groups that somebody is in directly have a name, and which are what a permission is spelt out as. */
export async function directGroupsOf(tx: Transaction, realm: Realm, userId: UserId) {
  const groups = await tx.groups.list(realm.id, await tx.groups.listDirectIds(realm.id, userId));
  const idsOf = (isNamed: boolean) => groups.filter(({ name }) => (name !== null) === isNamed).map(({ id }) => id);
  return { named: idsOf(true), spelt: new Set(idsOf(false)) };
}

/**
 * Announces again what permissions are given to that spell out somebody: clients leave those out who are deactivated, and cannot
 * put them back by themselves (users §4.1, §4.3).
 */
export async function announceValuesNaming(
  tx: Transaction,
  realm: Realm,
  spelt: ReadonlySet<GroupId>,
  to: Audience,
): Promise<void> {
  if (spelt.size === 0) return;
  const values = await tx.groups.settingValues(realm.id, [...spelt]);
  for (const permission of namesIn<RealmPermission>(REALM_PERMISSIONS)) {
    const groupId = realm.permissions[permission];
    const value = values.get(groupId);
    if (value === undefined) continue;
    const event = { type: 'realm.permission_changed', permission, groupId, value } as const;
    await tx.events.append(realm.id, { event, audience: to });
  }
  for (const group of await tx.groups.listNamed(realm.id)) {
    for (const property of namesIn<GroupPermission>(GROUP_PERMISSIONS)) {
      const value = values.get(group.permissions![property]);
      if (value === undefined) continue;
      const { id: groupId, isDeactivated } = group;
      const event = { type: 'group.property_changed', groupId, isDeactivated, property, value } as const;
      await tx.events.append(realm.id, { event, audience: to });
    }
    await tx.yield();
  }
  await announceInChannels(tx, realm, values, to);
}

async function announceInChannels(
  tx: Transaction,
  realm: Realm,
  values: ReadonlyMap<GroupId, GroupSettingValue>,
  to: Audience,
): Promise<void> {
  for (const channel of await tx.channels.listAll(realm.id)) {
    for (const permission of namesIn<ChannelPermission>(CHANNEL_PERMISSIONS)) {
      const groupId = channel.permissions[permission];
      const value = values.get(groupId);
      if (value === undefined) continue;
      const { id: channelId, name } = channel;
      const sendersOf = async () => (await tx.channels.listViews(realm.id, [channelId]))[0]!.sendersSystemGroup;
      const present = permission === 'canSendMessage' ? await sendersOf() : null;
      const senders = permission === 'canSendMessage' ? { before: present, after: present } : null;
      await tx.events.append(realm.id, {
        event: { type: 'channel.permission_changed', channelId, name, permission, groupId, value, senders },
        audience: to === wholeRealm ? metadataUsers(channel) : allOf(metadataUsers(channel), to),
      });
    }
    await tx.yield();
  }
}

const namesIn = <N extends string>(registry: object): readonly N[] => Object.keys(registry) as N[];
