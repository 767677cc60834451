import { activeUserIds } from '../access/group-settings.js';
import { type Channel, hasSharedHistory, isPrivate } from '../channels/channel.js';
import { removeFromDefaultGroups, setDefaultChannel } from '../channels/default-channels.js';
import { subscribeToChannels, unsubscribeFromChannels } from '../channels/subscribing.js';
import { INHERITED_NOTIFICATIONS, pickColors } from '../channels/subscriptions.js';
import { storeMembers } from '../groups/change-members.use-cases.js';
import type { ChannelId, GroupId, Ordinal, RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { OrdinalRange } from '../messages/read-set.js';
import {
  BEFORE_RECORDS,
  type ImportBatch,
  type ImportedKind,
  type ImportedRecord,
  type RecordPosition,
  recordsOfBatch,
} from './import-batches.js';
import type { ImportedIds } from './import-ids.js';
import { leaveMerged } from './merge-placeholder.use-cases.js';
import { difference, OrdinalRuns } from './ordinal-runs.js';
import type { GroupCopy, MembersCopy, MergeSource, RealmSource } from './realm-copy.js';

/**
 * Membership in a channel or group of the source, as of one import: `joined` and `left` if the import changed it in
 * Parley; `present` and `absent` if it stayed as people had made it.
 */
export type MembershipState = 'joined' | 'present' | 'left' | 'absent';

export const isMember = (state: MembershipState | undefined): boolean => state === 'joined' || state === 'present';

const PEOPLE_AT_A_TIME = 100;
const RECORDS_AT_A_TIME = 500;

/** Channel or group. `kind`: kind of the records of its members. */
export interface MembersPlace {
  readonly kind: 'membership' | 'groupMembership';
  readonly targetId: number;
}

const membershipOf = (
  { id: batchId }: Pick<ImportBatch, 'id'>,
  place: MembersPlace,
  userId: UserId,
  state: MembershipState,
): ImportedRecord => ({
  ...{ ...place, batchId, editedAt: null, reactions: 0 },
  recordId: `${place.targetId} ${userId}`,
  hash: state,
});

const userOf = ({ recordId }: ImportedRecord): UserId => Number(recordId.split(' ')[1]) as UserId;

/**
 * Returns the memberships in a channel or group after some imports of its source.
 * @param batches ascending
 */
export async function membershipsOf(
  uow: UnitOfWork,
  batches: readonly Pick<ImportBatch, 'id' | 'realmId'>[],
  { kind, targetId: place }: MembersPlace,
): Promise<ReadonlyMap<UserId, MembershipState>> {
  const states = new Map<UserId, MembershipState>();
  for (const { id, realmId } of batches) {
    const batch = { id, kind };
    for (let after: RecordPosition | undefined = { targetId: place, recordId: '' }; after; ) {
      const from: RecordPosition = after;
      const page = await uow.read(realmId, ({ importedRecords }) =>
        importedRecords.listOfBatch(realmId, batch, from, RECORDS_AT_A_TIME),
      );
      const own = page.filter(({ targetId }) => targetId === place);
      for (const record of own) states.set(userOf(record), record.hash as MembershipState);
      after = own.length === RECORDS_AT_A_TIME ? own.at(-1) : undefined;
    }
  }
  return states;
}

/** Remembers the members of all channels and groups of a new organization. */
export async function rememberMembers(
  uow: UnitOfWork,
  batch: ImportBatch,
  ids: ImportedIds,
  source: Pick<RealmSource, 'people' | 'realm'>,
): Promise<void> {
  const { realmId } = batch;
  const groups = source.realm.groups.filter(({ systemName }) => systemName === null);
  await uow.write(realmId, (tx) => rememberGroupMembers(tx, batch, ids, groups));
  let records: ImportedRecord[] = [];
  const flush = async () => {
    for (const slice of slicesOf(records, RECORDS_AT_A_TIME)) {
      await uow.write(realmId, (tx) => tx.importedRecords.put(realmId, slice));
    }
    records = [];
  };
  for await (const { userId, subscriptions } of source.people()) {
    for (const { channelId } of subscriptions) {
      const place = { kind: 'membership', targetId: ids.channels.get(channelId) } as const;
      records.push(membershipOf(batch, place, ids.users.get(userId), 'joined'));
    }
    if (records.length >= RECORDS_AT_A_TIME) await flush();
  }
  await flush();
}

/** Remembers the members of new groups. */
export async function rememberGroupMembers(
  tx: Transaction,
  batch: ImportBatch,
  ids: ImportedIds,
  groups: readonly Pick<GroupCopy, 'id' | 'memberIds'>[],
): Promise<void> {
  for (const { id, memberIds } of groups) {
    const place = { kind: 'groupMembership', targetId: ids.groups.get(id) } as const;
    const members = ids.users.list(memberIds);
    await tx.importedRecords.put(
      batch.realmId,
      members.map((userId) => membershipOf(batch, place, userId, 'joined')),
    );
    await tx.yield();
  }
}

/** Applies changes of the members in the source to channels and groups of earlier imports. */
export class MemberImport {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly batch: ImportBatch,
    private readonly ids: ImportedIds,
  ) {}

  /** Must run before new messages are added, since former members could read them. */
  async apply({ memberChanges, groupChanges }: Pick<MergeSource, 'memberChanges' | 'groupChanges'>): Promise<void> {
    for (const change of memberChanges) {
      const targetId = this.ids.channels.get(change.channelId);
      if (change.becomesPrivate) await this.makePrivate(targetId);
      await this.change({ kind: 'membership', targetId }, change);
    }
    for (const change of groupChanges) {
      await this.change({ kind: 'groupMembership', targetId: this.ids.groups.get(change.groupId) }, change);
    }
  }

  private async change(place: MembersPlace, copy: Omit<MembersCopy, 'channelId' | 'becomesPrivate'>): Promise<void> {
    const { realmId } = this.batch;
    const { users } = this.ids;
    const members = users.list(copy.members);
    for (const left of slicesOf(users.list(copy.left), PEOPLE_AT_A_TIME)) {
      await this.uow.write(realmId, (tx) => this.leave(tx, place, left, members));
    }
    for (const kept of slicesOf(users.list(copy.kept), PEOPLE_AT_A_TIME)) {
      await this.uow.write(realmId, (tx) => this.remember(tx, place, kept, () => 'absent'));
    }
    await this.join(place, users.list(copy.joined), null);
    const digest = { ...copy.origin, batchId: this.batch.id, targetId: place.targetId, editedAt: null, reactions: 0 };
    await this.uow.write(realmId, (tx) => tx.importedRecords.put(realmId, [digest]));
  }

  private makePrivate(channelId: ChannelId): Promise<void> {
    return this.uow.write(this.batch.realmId, async (tx) => {
      const channel = await tx.channels.find(this.batch.realmId, channelId);
      if (!channel || isPrivate(channel)) return;
      const closed = await tx.channels.update({ ...channel, privacy: 'privateSharedHistory' });
      // New accounts would be subscribed to the channel.
      if (channel.isDefault) await setDefaultChannel(tx, closed, false);
      await removeFromDefaultGroups(tx, closed.realmId, channelId);
    });
  }

  private async leave(
    tx: Transaction,
    place: MembersPlace,
    userIds: readonly UserId[],
    members: readonly UserId[],
  ): Promise<void> {
    const { realmId } = this.batch;
    const leaving = await presentAmong(tx, realmId, place, userIds);
    const channelId = place.targetId as ChannelId;
    const merged = place.kind === 'membership' ? await leaveMerged(tx, { realmId, channelId, members }, userIds) : [];
    await removeMembers(tx, realmId, place, [...new Set([...leaving, ...merged])]);
    await this.remember(tx, place, userIds, (userId) => (leaving.has(userId) ? 'left' : 'absent'));
  }

  /** Subscribes the members of a new channel, with its unread messages. */
  subscribe(channelId: ChannelId, userIds: readonly UserId[], runs: OrdinalRuns): Promise<void> {
    return this.join({ kind: 'membership', targetId: channelId }, userIds, runs);
  }

  /** @param runs unread messages of a new channel; null for others, and for groups */
  private async join(place: MembersPlace, userIds: readonly UserId[], runs: OrdinalRuns | null): Promise<void> {
    const { realmId } = this.batch;
    for (const slice of slicesOf(userIds, PEOPLE_AT_A_TIME)) {
      await this.uow.write(realmId, async (tx) => {
        const present = await presentAmong(tx, realmId, place, slice);
        const joining = runs ? slice : slice.filter((userId) => !present.has(userId));
        const earlier = await statesOf(tx, realmId, place, slice);
        const channelId = place.targetId as ChannelId;
        if (place.kind === 'groupMembership') await addMembers(tx, realmId, place, joining);
        else await subscribe(tx, { realmId, channelId, runs: runs ?? new OrdinalRuns() }, joining);
        await this.remember(tx, place, slice, (userId) =>
          present.has(userId) && earlier.get(userId) !== 'joined' ? 'present' : 'joined',
        );
      });
    }
  }

  private remember(
    tx: Transaction,
    place: MembersPlace,
    userIds: readonly UserId[],
    stateOf: (userId: UserId) => MembershipState,
  ): Promise<void> {
    const records = userIds.map((userId) => membershipOf(this.batch, place, userId, stateOf(userId)));
    return tx.importedRecords.put(this.batch.realmId, records);
  }
}

/** Returns the memberships of these people after the imports up to a batch. */
async function statesOf(
  { importedRecords }: Pick<Repositories | Transaction, 'importedRecords'>,
  realmId: RealmId,
  { kind, targetId }: MembersPlace,
  userIds: readonly UserId[],
  isIncluded: (record: ImportedRecord) => boolean = () => true,
): Promise<ReadonlyMap<UserId, MembershipState>> {
  const recordIds = userIds.map((userId) => `${targetId} ${userId}`);
  const records = await importedRecords.list(realmId, kind, recordIds);
  return new Map(records.filter(isIncluded).map((record) => [userOf(record), record.hash as MembershipState]));
}

/** Returns the current members, including deactivated users. */
async function presentAmong(
  { channels, groups }: Pick<Repositories | Transaction, 'channels' | 'groups'>,
  realmId: RealmId,
  { kind, targetId }: MembersPlace,
  userIds: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  if (kind === 'groupMembership') {
    return new Set(await groups.filterDirectMembers(realmId, targetId as GroupId, userIds));
  }
  const rows = await channels.listSubscriptionsOf(realmId, userIds, [targetId as ChannelId]);
  return new Set(userIds.filter((userId) => rows.get(userId)!.some(({ isActive }) => isActive)));
}

async function removeMembers(
  tx: Transaction,
  realmId: RealmId,
  { kind, targetId }: MembersPlace,
  userIds: readonly UserId[],
): Promise<void> {
  if (kind === 'membership') {
    await unsubscribe(tx, (await tx.channels.find(realmId, targetId as ChannelId))!, userIds);
  } else await changeGroup(tx, realmId, { groupId: targetId as GroupId, op: 'remove', userIds });
}

async function addMembers(
  tx: Transaction,
  realmId: RealmId,
  { kind, targetId }: MembersPlace,
  userIds: readonly UserId[],
): Promise<void> {
  if (kind === 'membership') {
    const channels = await tx.channels.list(realmId, [targetId as ChannelId]);
    await subscribeToChannels(tx, { channels, userIds, requestedColors: new Map() });
  } else await changeGroup(tx, realmId, { groupId: targetId as GroupId, op: 'add', userIds });
}

/** Clients do not see placeholders as members, since they are deactivated. */
async function changeGroup(tx: Transaction, realmId: RealmId, change: Parameters<typeof storeMembers>[2]) {
  if (change.userIds.length === 0) return;
  await storeMembers(tx, realmId, change, await activeUserIds(tx, realmId, change.userIds));
}

/** Unsubscribes people, including placeholders, who are deactivated and may be claimed later. */
async function unsubscribe(tx: Transaction, channel: Channel, userIds: readonly UserId[]): Promise<void> {
  const { realmId, id: channelId, recipientId } = channel;
  await unsubscribeFromChannels(tx, [channel], userIds);
  const rows = await tx.channels.listSubscriptionsOf(realmId, userIds, [channelId]);
  const left = [...rows.values()].flat().filter(({ isActive }) => isActive);
  await tx.channels.putSubscriptions(left.map((row) => ({ ...row, isActive: false })));
  await tx.personal.closeSpans(
    realmId,
    [recipientId],
    left.map(({ userId }) => userId),
  );
}

interface Joined {
  readonly realmId: RealmId;
  readonly channelId: ChannelId;
  readonly runs: OrdinalRuns;
}

/**
 * Subscribes people to a channel with its whole history, which is read except for the unread messages in `runs`. If
 * people protected the history in Parley, they get none of it.
 */
async function subscribe(
  tx: Transaction,
  { realmId, channelId, runs }: Joined,
  userIds: readonly UserId[],
): Promise<void> {
  const channel = (await tx.channels.find(realmId, channelId))!;
  const { recipientId } = channel;
  const rows = await tx.channels.listSubscriptionsOf(realmId, userIds, [channelId]);
  const colors = await tx.channels.listColors(realmId, userIds);
  const last = (hasSharedHistory(channel) ? await tx.copies.countSentTo(realmId, [recipientId]) : 0) as Ordinal;
  const received: readonly OrdinalRange[] = last === 0 ? [] : [{ first: 1 as Ordinal, last }];
  for (const userId of userIds) {
    const [row] = rows.get(userId)!;
    const color = row?.color ?? pickColors([channelId], new Map(), colors.get(userId) ?? []).get(channelId)!;
    const usual = { isMuted: false, isPinned: false, notifications: INHERITED_NOTIFICATIONS };
    await tx.channels.putSubscriptions([{ ...usual, ...row, realmId, channelId, userId, color, isActive: true }]);
    // Former subscribers see the imported messages as history.
    if (row && !row.isActive) continue;
    const own = runs.of(userId, []).get(recipientId) ?? { received: [], read: [] };
    const read = difference(received, difference(own.received, own.read));
    await tx.copies.putReceived({ realmId, userId }, recipientId, received, read);
    await tx.yield();
  }
  await tx.personal.openSpans(realmId, [recipientId], userIds);
}

/** Membership that the undo of an import changes. */
export interface RevertedMembership {
  /** Null for groups. */
  readonly channelId: ChannelId | null;
  /** Null for channels. */
  readonly groupId: GroupId | null;
  readonly userId: UserId;
  /** True if the undo makes the user a member again. */
  readonly isMember: boolean;
}

export interface MembersUndo {
  /** True to change nothing. */
  readonly isDryRun: boolean;
  readonly onReverted: (memberships: readonly RevertedMembership[]) => void;
}

/**
 * Reverts the changes of members by an import, except in the channels and groups that it created. A killed run continues
 * when it is repeated.
 */
export async function undoMembers(uow: UnitOfWork, batch: ImportBatch, undo: MembersUndo): Promise<void> {
  await undoKind(uow, batch, { kind: 'membership', digests: 'members', objects: 'channel' }, undo);
  await undoKind(uow, batch, { kind: 'groupMembership', digests: 'groupMembers', objects: 'group' }, undo);
}

interface MembersKind {
  readonly kind: MembersPlace['kind'];
  readonly digests: ImportedKind;
  readonly objects: ImportedKind;
}

async function undoKind(
  uow: UnitOfWork,
  batch: ImportBatch,
  { kind, digests, objects }: MembersKind,
  { isDryRun, onReverted }: MembersUndo,
): Promise<void> {
  const { realmId } = batch;
  const created = new Set<number>();
  for await (const page of recordsOfBatch(uow, batch, objects)) for (const { targetId } of page) created.add(targetId);
  const isEarlier = ({ targetId }: ImportedRecord) => !created.has(targetId);
  let after: RecordPosition = BEFORE_RECORDS;
  let page: readonly ImportedRecord[];
  do {
    const from = after;
    const revert = async (reads: Repositories | Transaction) => {
      const all = await reads.importedRecords.listOfBatch(realmId, { id: batch.id, kind }, from, PEOPLE_AT_A_TIME);
      const records = all.filter(isEarlier);
      for (const targetId of new Set(records.map((record) => record.targetId))) {
        const own = records.filter((record) => record.targetId === targetId);
        const reverted = await revertedBy(reads, batch, { kind, targetId }, own);
        if (!isDryRun) await revertAll(reads as Transaction, realmId, { kind, targetId }, reverted);
        onReverted(reverted);
      }
      if (!isDryRun) await (reads as Transaction).importedRecords.remove(realmId, records);
      return all;
    };
    page = await (isDryRun ? uow.read(realmId, revert) : uow.write(realmId, revert));
    after = page.at(-1) ?? after;
  } while (page.length === PEOPLE_AT_A_TIME);
  if (isDryRun) return;
  // The next import compares the members again.
  for await (const some of recordsOfBatch(uow, batch, digests)) {
    await uow.write(realmId, (tx) => tx.importedRecords.remove(realmId, some.filter(isEarlier)));
  }
}

/** Returns the memberships that differ from those before a batch, unless people changed them since. */
async function revertedBy(
  reads: Repositories | Transaction,
  batch: ImportBatch,
  place: MembersPlace,
  records: readonly ImportedRecord[],
): Promise<readonly RevertedMembership[]> {
  const { realmId } = batch;
  const userIds = records.map(userOf);
  const earlier = await statesOf(reads, realmId, place, userIds, ({ batchId }) => batchId < batch.id);
  const present = await presentAmong(reads, realmId, place, userIds);
  const isGroup = place.kind === 'groupMembership';
  const named = {
    channelId: isGroup ? null : (place.targetId as ChannelId),
    groupId: isGroup ? (place.targetId as GroupId) : null,
  };
  return records.flatMap((record) => {
    const [userId, wasMember] = [userOf(record), isMember(earlier.get(userOf(record)))];
    const isChanged = record.hash === (wasMember ? 'left' : 'joined') && present.has(userId) !== wasMember;
    return isChanged ? [{ ...named, userId, isMember: wasMember }] : [];
  });
}

async function revertAll(
  tx: Transaction,
  realmId: RealmId,
  place: MembersPlace,
  reverted: readonly RevertedMembership[],
): Promise<void> {
  const users = (becomesMember: boolean) =>
    reverted.flatMap((each) => (each.isMember === becomesMember ? each.userId : []));
  await removeMembers(tx, realmId, place, users(false));
  await addMembers(tx, realmId, place, users(true));
}
