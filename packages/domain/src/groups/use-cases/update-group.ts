import type { GroupSettingUpdate } from '../../access/group-setting-rules.js';
import { acceptGroupSettings } from '../../access/validate-group-setting.js';
import { changeMembership } from '../../channels/announce-visibility.js';
import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { GroupId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { GROUP_PERMISSIONS, type Group, type GroupPermission, groupNameTaken, parseGroupName } from '../group.js';
import type { GroupEventTypes } from '../group-events.js';
import { canDeactivateGroup, canDeactivateUnused, canManageGroup, usesOfGroup } from '../group-permissions.js';

export interface UpdateGroupInput {
  readonly groupId: GroupId;
  readonly name?: string;
  /** At most `MAX_GROUP_DESCRIPTION_LENGTH`. */
  readonly description?: string;
  /** Deactivating has an operation of its own; here it changes nothing. */
  readonly isDeactivated?: boolean;
  readonly permissions: { readonly [P in GroupPermission]?: GroupSettingUpdate };
}

type PropertyChange = Pick<GroupEventTypes['group.property_changed'], 'property' | 'value'>;

/** Name, description, permissions; brings a deactivated group back (users §12.3). */
export class UpdateGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * All or nothing.
   * @throws DomainError NO_GROUP_CHANGE, MUST_NOT_BE_GUEST, UNKNOWN_GROUP, NOT_PERMITTED, INVALID_GROUP_NAME,
   * GROUP_NAME_TAKEN, STALE_VALUE, and values of permissions as `validateGroupSetting` does
   */
  execute(caller: Caller, input: UpdateGroupInput): Promise<void> {
    const { groupId, name, description, isDeactivated, permissions } = input;
    return this.uow.write(async (tx) => {
      const asked = [name, description, isDeactivated, ...Object.values(permissions)];
      if (asked.every((value) => value === undefined)) {
        throw new DomainError('NO_GROUP_CHANGE', 'No new data supplied', { of: 'group' });
      }
      const { realmId } = caller;
      const actor = await tx.actors.get(caller);
      const group = await tx.groups.find(realmId, groupId);
      enforce(canManageGroup(actor, await tx.realms.get(realmId), group));
      const before = group!;
      const isBack = isDeactivated === false && before.isDeactivated;
      const changes: PropertyChange[] = [];
      const newName = name === undefined || name === before.name ? before.name : await freeName(tx, before, name);
      if (newName !== before.name) changes.push({ property: 'name', value: newName! });
      if (description !== undefined && description !== before.description) {
        changes.push({ property: 'description', value: description });
      }
      const accepted = await acceptGroupSettings(tx, realmId, GROUP_PERMISSIONS, before.permissions!, permissions);
      changes.push(...accepted.map(({ name: property, value }) => ({ property, value })));

      if (isBack) await setDeactivated(tx, before, false);
      if (changes.length === 0) return;
      const after: Group = {
        ...before,
        isDeactivated: before.isDeactivated && !isBack,
        name: newName,
        description: description ?? before.description,
        permissions: {
          ...before.permissions!,
          ...Object.fromEntries(accepted.map((each) => [each.name, each.groupId])),
        },
      };
      await tx.groups.update(after);
      for (const change of changes) {
        await tx.events.append(realmId, {
          event: { type: 'group.property_changed', groupId, isDeactivated: after.isDeactivated, ...change },
          audience: wholeRealm,
        });
      }
    });
  }
}

async function freeName(tx: Transaction, { realmId, id }: Group, raw: string): Promise<string> {
  const name = parseGroupName(raw);
  const other = await tx.groups.findByName(realmId, name);
  if (other && other.id !== id) throw groupNameTaken(name);
  return name;
}

/** A group that nothing in use depends on is used no longer; it keeps its name and members (users §12.3). */
export class DeactivateGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, UNKNOWN_GROUP, GROUP_DEACTIVATED, NOT_PERMITTED,
   * CANNOT_DEACTIVATE_GROUP_IN_USE
   */
  execute(caller: Caller, groupId: GroupId): Promise<void> {
    const { realmId } = caller;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(realmId);
      const group = await tx.groups.find(realmId, groupId);
      enforce(canDeactivateGroup(actor, realm, group));
      const uses = usesOfGroup(groupId, {
        realm,
        channels: await tx.channels.listAll(realmId),
        groups: await tx.groups.listNamed(realmId),
        edges: await tx.groups.listEdges(realmId),
      });
      enforce(canDeactivateUnused(uses));
      await setDeactivated(tx, group!, true);
    });
  }
}

/** Its members are in the groups that hold it only while it is active. */
async function setDeactivated(tx: Transaction, group: Group, isDeactivated: boolean): Promise<void> {
  const { realmId, id } = group;
  await changeMembership(
    tx,
    realmId,
    id,
    () => tx.groups.listMembersRecursively(realmId, [id]),
    async () => {
      await tx.groups.update({ ...group, isDeactivated });
      const view = (await tx.groups.findView(realmId, id))!;
      await tx.events.append(realmId, {
        event: { type: 'group.activation_changed', view },
        audience: wholeRealm,
      });
    },
  );
}
