import { defaultGroupSettings } from '../../access/group-settings.js';
import { freeName, loadUses, setDeactivated } from '../../groups/change-group.use-cases.js';
import { countMembershipsAhead, storeMembers } from '../../groups/change-members.use-cases.js';
import {
  GROUP_PERMISSIONS,
  type Group,
  groupNameTaken,
  MAX_MEMBERS_AT_ONCE,
  parseGroupName,
  requireRoomForGroup,
  requireRoomForMembers,
} from '../../groups/group.js';
import { DomainError } from '../../kernel/errors.js';
import { wholeRealm } from '../../kernel/event.js';
import type { GroupId, RealmId, UserId } from '../../kernel/ids.js';
import type { Clock } from '../../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { slicesOf } from '../../kernel/work.js';
import { checkExternalId } from '../../membership/host-users.js';
import type { ContentDigest } from '../../writing/update-message.use-cases.js';
import { type ResourcePage, type ResourceSelection, requireVersion } from './provisioned-users.use-cases.js';
import {
  type ExpectedVersion,
  MAX_MEMBERS_PER_REQUEST,
  type ProvisionedGroup,
  type ProvisionedGroupChange,
  type ProvisionedGroupView,
} from './provisioning.js';

type Reads = Pick<Repositories | Transaction, 'groups' | 'provisioning'>;

/** @throws DomainError UNKNOWN_GROUP */
async function getGroup(
  { groups, provisioning }: Reads,
  realmId: RealmId,
  id: GroupId,
): Promise<{ readonly group: Group; readonly record: ProvisionedGroup }> {
  const record = await provisioning.findGroup(realmId, id);
  if (!record || record.isRemoved) throw new DomainError('UNKNOWN_GROUP', `There is no group ${id}.`);
  return { group: (await groups.find(realmId, id))!, record };
}

async function describe(
  { groups }: Reads,
  digest: ContentDigest,
  group: Group,
  { externalId }: ProvisionedGroup,
): Promise<ProvisionedGroupView> {
  const memberIds = await groups.listDirectMembers(group.realmId, group.id);
  const name = group.name!;
  const version = digest(JSON.stringify([name, externalId, memberIds])).slice(0, VERSION_LENGTH);
  return { id: group.id, externalId, name, createdAt: group.createdAt, memberIds, version };
}

const VERSION_LENGTH = 20;

/** Criterion by which a directory looks up a group. */
export type GroupLookup =
  | { readonly id: GroupId }
  | { readonly name: string }
  | { readonly externalId: string }
  | { readonly memberId: UserId };

/** Lists the groups created by directories. */
export class ListProvisionedGroups {
  static readonly inject = ['unitOfWork', 'contentDigest'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly digest: ContentDigest,
  ) {}

  execute(
    realmId: RealmId,
    { lookup, isWanted, offset, count }: ResourceSelection<GroupLookup, ProvisionedGroupView>,
  ): Promise<ResourcePage<ProvisionedGroupView>> {
    return this.uow.read(realmId, async (repositories) => {
      const records = await this.candidates(repositories, realmId, lookup);
      const views: ProvisionedGroupView[] = [];
      let total = 0;
      for (const record of isWanted ? records : records.slice(offset, offset + count)) {
        const group = (await repositories.groups.find(realmId, record.groupId))!;
        const view = await describe(repositories, this.digest, group, record);
        if (isWanted && !isWanted(view)) continue;
        if (!isWanted || (total >= offset && views.length < count)) views.push(view);
        total++;
      }
      return { total: isWanted ? total : records.length, views };
    });
  }

  private async candidates(
    { groups, provisioning }: Repositories,
    realmId: RealmId,
    lookup: GroupLookup | null,
  ): Promise<readonly ProvisionedGroup[]> {
    const records = (await provisioning.listGroups(realmId)).filter(({ isRemoved }) => !isRemoved);
    if (!lookup) return records;
    if ('externalId' in lookup) return records.filter(({ externalId }) => externalId === lookup.externalId);
    const ids = new Set<GroupId>();
    if ('id' in lookup) ids.add(lookup.id);
    else if ('memberId' in lookup) for (const id of await groups.listDirectIds(realmId, lookup.memberId)) ids.add(id);
    else for (const { id } of await groups.listByName(realmId, [lookup.name])) ids.add(id);
    return records.filter(({ groupId }) => ids.has(groupId));
  }
}

/** Returns one group for a directory. */
export class GetProvisionedGroup {
  static readonly inject = ['unitOfWork', 'contentDigest'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly digest: ContentDigest,
  ) {}

  /** @throws DomainError UNKNOWN_GROUP */
  execute(realmId: RealmId, id: GroupId): Promise<ProvisionedGroupView> {
    return this.uow.read(realmId, async (repositories) => {
      const { group, record } = await getGroup(repositories, realmId, id);
      return describe(repositories, this.digest, group, record);
    });
  }
}

/** Part of a change that fits into one unit of work. */
interface MemberSlice {
  readonly op: 'add' | 'remove';
  readonly userIds: readonly UserId[];
}

/**
 * Creates, changes and removes groups on behalf of a directory. Members change in several idempotent units of work;
 * directories retry interrupted requests.
 */
export class ProvisionGroup {
  static readonly inject = ['unitOfWork', 'contentDigest', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly digest: ContentDigest,
    private readonly clock: Clock,
  ) {}

  /**
   * Restores a group that the directory deleted. @throws DomainError INVALID_GROUP_NAME, GROUP_NAME_TAKEN,
   * TOO_MANY_GROUPS, TOO_MANY_MEMBERSHIPS, TOO_MANY_VALUES, INVALID_EXTERNAL_ID, UNKNOWN_USER
   */
  async create(
    realmId: RealmId,
    { name: raw, externalId = null, members = [] }: ProvisionedGroupChange & { readonly name: string },
  ): Promise<ProvisionedGroupView> {
    if (externalId !== null) checkExternalId(externalId);
    const name = parseGroupName(raw);
    await this.checkPeople(realmId, members);
    const id = await this.uow.write(realmId, async (tx) => {
      const former = await tx.groups.findByName(realmId, name);
      const record = former && (await tx.provisioning.findGroup(realmId, former.id));
      if (former && !record?.isRemoved) throw groupNameTaken(name);
      requireRoomForMembers(await countMembershipsAhead(tx, realmId), members.length);
      const groupId = former?.id ?? (await this.add(tx, realmId, name));
      if (former?.isDeactivated) await setDeactivated(tx, former, false);
      await tx.provisioning.putGroup(realmId, { groupId, externalId, isRemoved: false });
      return groupId;
    });
    await this.changeMembers(realmId, id, [{ op: 'add', userIds: members }]);
    return new GetProvisionedGroup(this.uow, this.digest).execute(realmId, id);
  }

  /**
   * Duplicate additions or removals count once. @throws DomainError UNKNOWN_GROUP, STALE_RESOURCE, INVALID_GROUP_NAME,
   * GROUP_NAME_TAKEN, TOO_MANY_MEMBERSHIPS, TOO_MANY_VALUES, INVALID_EXTERNAL_ID, UNKNOWN_USER
   */
  async change(
    realmId: RealmId,
    id: GroupId,
    { name, externalId, members, added = [], removed = [] }: ProvisionedGroupChange,
    isExpected: ExpectedVersion,
  ): Promise<void> {
    if (externalId) checkExternalId(externalId);
    await this.checkPeople(realmId, [...(members ?? []), ...added]);
    const slices = await this.uow.write(realmId, async (tx) => {
      const { group, record } = await getGroup(tx, realmId, id);
      const current = await describe(tx, this.digest, group, record);
      requireVersion(current.version, isExpected);
      if (name !== undefined && name !== current.name) await this.rename(tx, group, name);
      if (externalId !== undefined) await tx.provisioning.putGroup(realmId, { ...record, externalId });
      const present = new Set(current.memberIds);
      const wanted = new Set(members ?? current.memberIds);
      for (const userId of added) wanted.add(userId);
      for (const userId of removed) wanted.delete(userId);
      const missing = [...wanted].filter((userId) => !present.has(userId));
      requireRoomForMembers(await countMembershipsAhead(tx, realmId), missing.length);
      const former = current.memberIds.filter((userId) => !wanted.has(userId));
      return [
        { op: 'remove', userIds: former },
        { op: 'add', userIds: missing },
      ] as const;
    });
    await this.changeMembers(realmId, id, slices);
  }

  /**
   * Revokes the members' rights through the group. Also deactivates the group if nothing depends on it. @throws
   * DomainError UNKNOWN_GROUP, STALE_RESOURCE
   */
  async remove(realmId: RealmId, id: GroupId, isExpected: ExpectedVersion): Promise<void> {
    await this.change(realmId, id, { members: [] }, isExpected);
    await this.uow.write(realmId, async (tx) => {
      const { group, record } = await getGroup(tx, realmId, id);
      const uses = await loadUses(tx, await tx.realms.get(realmId), id);
      if (uses.length === 0 && !group.isDeactivated) await setDeactivated(tx, group, true);
      await tx.provisioning.putGroup(realmId, { ...record, isRemoved: true });
    });
  }

  /** Only the directory and users who manage all groups may change the group. */
  private async add(tx: Transaction, realmId: RealmId, name: string): Promise<GroupId> {
    requireRoomForGroup(await tx.groups.countNamed(realmId));
    const system = await tx.groups.systemGroupIds(realmId);
    const { nobody } = system;
    const { id } = await tx.groups.add(
      {
        realmId,
        name,
        description: '',
        systemName: null,
        isDeactivated: false,
        creatorId: null,
        createdAt: this.clock.now(),
        permissions: {
          ...(await defaultGroupSettings(GROUP_PERMISSIONS, system, async () => nobody)),
          canLeave: nobody,
        },
      },
      [],
      [],
    );
    const view = (await tx.groups.findView(realmId, id))!;
    const event = { type: 'group.created', groupId: id, memberIds: [], subgroupIds: [], view } as const;
    await tx.events.append(realmId, { event, audience: wholeRealm });
    return id;
  }

  private async rename(tx: Transaction, group: Group, raw: string): Promise<void> {
    const name = await freeName(tx, group, raw);
    await tx.groups.update({ ...group, name });
    const { id: groupId, isDeactivated, realmId } = group;
    const event = { type: 'group.property_changed', groupId, isDeactivated, property: 'name', value: name } as const;
    await tx.events.append(realmId, { event, audience: wholeRealm });
  }

  /** @throws DomainError TOO_MANY_VALUES, UNKNOWN_USER */
  private async checkPeople(realmId: RealmId, userIds: readonly UserId[]): Promise<void> {
    if (userIds.length > MAX_MEMBERS_PER_REQUEST) {
      throw new DomainError('TOO_MANY_VALUES', `Too many members in a request (limit: ${MAX_MEMBERS_PER_REQUEST}).`);
    }
    await this.uow.read(realmId, async ({ users }) => {
      const found = await users.list(realmId, [...new Set(userIds)]);
      const people = new Set(found.filter(({ bot }) => !bot).map(({ id }) => id));
      const unknown = userIds.find((id) => !people.has(id));
      if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `There is no user ${unknown}.`);
    });
  }

  private async changeMembers(realmId: RealmId, groupId: GroupId, changes: readonly MemberSlice[]): Promise<void> {
    for (const { op, userIds } of changes) {
      for (const some of slicesOf(userIds, MAX_MEMBERS_AT_ONCE)) {
        await this.uow.write(
          realmId,
          async (tx) => {
            const activeIds = new Set(await tx.users.listActiveIds(realmId, some));
            await storeMembers(tx, realmId, { groupId, op, userIds: some }, activeIds);
          },
          { yields: changes.some((change) => change.userIds.length > MAX_MEMBERS_AT_ONCE) },
        );
      }
    }
  }
}
