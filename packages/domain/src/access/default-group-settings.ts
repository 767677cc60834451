import type { RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { GroupSettingDefinition, GroupSettings } from './group-setting.js';
import type { SystemGroupName } from './system-groups.js';

type SystemGroupIds = Awaited<ReturnType<Transaction['groups']['systemGroupIds']>>;

/**
 * The groups that permissions of a registry start with. `creator` becomes an anonymous group of the creator alone, or
 * nobody where there is no creator.
 */
export async function defaultGroupSettings<R extends Readonly<Record<string, GroupSettingDefinition>>>(
  registry: R,
  system: SystemGroupIds,
  creatorGroup: () => Promise<SystemGroupIds[SystemGroupName]>,
): Promise<GroupSettings<R>> {
  const groupSettings: Record<string, SystemGroupIds[SystemGroupName]> = {};
  for (const [name, definition] of Object.entries(registry)) {
    groupSettings[name] = definition.default === 'creator' ? await creatorGroup() : system[definition.default];
  }
  return groupSettings as GroupSettings<R>;
}

/** An anonymous group, and its place in the log for whoever follows membership. */
export async function addAnonymousGroup(
  tx: Transaction,
  realmId: RealmId,
  members: Parameters<Transaction['groups']['add']>[1],
  subgroups: Parameters<Transaction['groups']['add']>[2],
): Promise<SystemGroupIds[SystemGroupName]> {
  const group = await tx.groups.add(
    {
      realmId,
      name: null,
      description: '',
      systemName: null,
      isDeactivated: false,
      creatorId: null,
      createdAt: null,
      permissions: null,
    },
    members,
    subgroups,
  );
  await tx.events.append(realmId, {
    event: { type: 'group.created', groupId: group.id, memberIds: members, subgroupIds: subgroups, view: null },
    audience: { kind: 'nobody' },
  });
  await tx.yield();
  return group.id;
}
