import { activeUserIds } from '@parley/domain/access';
import {
  type Channel,
  hasSharedHistory,
  INHERITED_NOTIFICATIONS,
  isPrivate,
  PALETTE,
  pickColors,
  removeFromDefaultGroups,
  setDefaultChannel,
  subscribeToChannels,
  unsubscribeFromChannels,
} from '@parley/domain/channels';
import type { ImportBatch, ImportedRecord, RecordPosition } from '@parley/domain/exports';
import { storeMembers } from '@parley/domain/groups';
import {
  type ChannelId,
  type GroupId,
  getOrThrow,
  type Ordinal,
  type RealmId,
  type Repositories,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import type { OrdinalRange } from '@parley/domain/messages';
import type { GroupCopy, MembersCopy, MergeSource, RealmSource } from '../exports/realm-copy.js';
import type { ImportedIds } from './import-ids.js';
import { leaveMerged } from './merge-placeholder.use-cases.js';
import { difference, OrdinalRuns } from './ordinal-runs.js';

/**
 * Membership in a channel or group of the source, as of one import: `joined` and `left` if the import changed it in
 * Parley; `present` and `absent` if it stayed as people had made it.
 */
export type MembershipState = 'joined' | 'present' | 'left' | 'absent';

export const isMember = (state: MembershipState | undefined): boolean => state === 'joined' || state === 'present';

const PEOPLE_AT_A_TIME = 100;
const RECORDS_AT_A_TIME = 500;

/** Channel or group. `kind`: record kind for members. */
export interface MembersPlace {
  readonly kind: 'membership' | 'groupMembership';
  readonly targetId: number;
}

const membershipOf = (
  { id: batchId }: Pick<ImportBatch, 'id'>,
  { kind, targetId }: MembersPlace,
  userId: UserId,
  state: MembershipState,
): ImportedRecord => ({
  ...{ kind, targetId, batchId, editedAt: null, reactions: 0 },
  recordId: `${targetId} ${userId}`,
  hash: state,
});

export const userOf = ({ recordId }: ImportedRecord): UserId => Number(recordId.split(' ')[1]) as UserId;

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
  let records: ImportedRecord[] = [];
  const flush = async () => {
    for (const slice of slicesOf(records, RECORDS_AT_A_TIME)) {
      await uow.write(realmId, (tx) => tx.importedRecords.put(realmId, slice));
    }
    records = [];
  };
  const remember = async (added: readonly ImportedRecord[]) => {
    records = [...records, ...added];
    if (records.length >= RECORDS_AT_A_TIME) await flush();
  };
  for (const group of source.realm.groups) {
    if (group.systemName === null) await remember(recordsOfGroup(batch, ids, group));
  }
  for await (const { userId, subscriptions } of source.people()) {
    await remember(
      subscriptions.map(({ channelId }) => {
        const place = { kind: 'membership', targetId: ids.channels.get(channelId) } as const;
        return membershipOf(batch, place, ids.users.get(userId), 'joined');
      }),
    );
  }
  await flush();
}

/** Remembers the members of new groups. */
export async function rememberGroupMembers(
  tx: Transaction,
  batch: ImportBatch,
  ids: ImportedIds,
  groups: readonly NewGroup[],
): Promise<void> {
  for (const group of groups) {
    await tx.importedRecords.put(batch.realmId, recordsOfGroup(batch, ids, group));
  }
}

type NewGroup = Pick<GroupCopy, 'id' | 'memberIds'>;

function recordsOfGroup(batch: ImportBatch, ids: ImportedIds, { id, memberIds }: NewGroup): readonly ImportedRecord[] {
  const place = { kind: 'groupMembership', targetId: ids.groups.get(id) } as const;
  return ids.users.list(memberIds).map((userId) => membershipOf(batch, place, userId, 'joined'));
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
    const { realmId } = this.batch;
    for (const change of memberChanges) {
      const channelId = this.ids.channels.get(change.channelId);
      if (change.becomesPrivate) await this.makePrivate(channelId);
      await this.change(membersOfChannel(realmId, channelId), change);
    }
    for (const change of groupChanges) {
      await this.change(membersOfGroup(realmId, this.ids.groups.get(change.groupId)), change);
    }
  }

  private async change(place: PlaceMembers, copy: Omit<MembersCopy, 'channelId' | 'becomesPrivate'>): Promise<void> {
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
    place: PlaceMembers,
    userIds: readonly UserId[],
    members: readonly UserId[],
  ): Promise<void> {
    const { realmId } = this.batch;
    const { channelId } = place;
    const leaving = await place.present(tx, userIds);
    const merged = channelId === null ? [] : await leaveMerged(tx, { realmId, channelId, members }, userIds);
    await place.remove(tx, [...new Set([...leaving, ...merged])]);
    await this.remember(tx, place, userIds, (userId) => (leaving.has(userId) ? 'left' : 'absent'));
  }

  /** Subscribes the members of a new channel, with its unread messages. */
  subscribe(channelId: ChannelId, userIds: readonly UserId[], runs: OrdinalRuns): Promise<void> {
    return this.join(membersOfChannel(this.batch.realmId, channelId), userIds, runs);
  }

  /** @param runs unread messages of a new channel; null for others, and for groups */
  private async join(place: PlaceMembers, userIds: readonly UserId[], runs: OrdinalRuns | null): Promise<void> {
    const { realmId } = this.batch;
    const { channelId } = place;
    for (const slice of slicesOf(userIds, PEOPLE_AT_A_TIME)) {
      await this.uow.write(realmId, async (tx) => {
        const present = await place.present(tx, slice);
        const joining = runs ? slice : slice.filter((userId) => !present.has(userId));
        const earlier = await statesOf(tx, realmId, place, slice);
        if (channelId === null) await place.add(tx, joining);
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
export async function statesOf(
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

/** Members of a channel or group in Parley. */
export interface PlaceMembers extends MembersPlace {
  /** Null for groups. */
  readonly channelId: ChannelId | null;
  /** Null for channels. */
  readonly groupId: GroupId | null;
  /** Returns the current members among these people, including deactivated users. */
  present(
    reads: Pick<Repositories | Transaction, 'channels' | 'groups'>,
    userIds: readonly UserId[],
  ): Promise<ReadonlySet<UserId>>;
  /** Publishes the change. */
  add(tx: Transaction, userIds: readonly UserId[]): Promise<void>;
  /** Publishes the change. */
  remove(tx: Transaction, userIds: readonly UserId[]): Promise<void>;
}

export const membersOfChannel = (realmId: RealmId, channelId: ChannelId): PlaceMembers => ({
  ...{ kind: 'membership', targetId: channelId, channelId, groupId: null },
  async present({ channels }, userIds) {
    const rows = await channels.listSubscriptionsOf(realmId, userIds, [channelId]);
    return new Set(userIds.filter((userId) => getOrThrow(rows, userId).some(({ isActive }) => isActive)));
  },
  async add(tx, userIds) {
    const channels = await tx.channels.list(realmId, [channelId]);
    await subscribeToChannels(tx, { channels, userIds, requestedColors: new Map() });
  },
  async remove(tx, userIds) {
    await unsubscribe(tx, await tx.channels.get(realmId, channelId), userIds);
  },
});

export const membersOfGroup = (realmId: RealmId, groupId: GroupId): PlaceMembers => ({
  ...{ kind: 'groupMembership', targetId: groupId, channelId: null, groupId },
  present: async ({ groups }, userIds) => new Set(await groups.filterDirectMembers(realmId, groupId, userIds)),
  add: (tx, userIds) => changeGroup(tx, realmId, { groupId, op: 'add', userIds }),
  remove: (tx, userIds) => changeGroup(tx, realmId, { groupId, op: 'remove', userIds }),
});

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
  const channel = await tx.channels.get(realmId, channelId);
  const { recipientId } = channel;
  const rows = await tx.channels.listSubscriptionsOf(realmId, userIds, [channelId]);
  const colors = await tx.channels.listColors(realmId, userIds, PALETTE);
  const last = (hasSharedHistory(channel) ? await tx.copies.countSentTo(realmId, [recipientId]) : 0) as Ordinal;
  const received: readonly OrdinalRange[] = last === 0 ? [] : [{ first: 1 as Ordinal, last }];
  const subscribers = userIds.filter((userId) => getOrThrow(rows, userId).some(({ isActive }) => isActive));
  const suspended = await suspendedAmong(tx, channel, subscribers);
  for (const userId of userIds) {
    if (suspended.has(userId)) continue;
    const [row] = getOrThrow(rows, userId);
    const color = row?.color ?? getOrThrow(pickColors([channelId], new Map(), colors.get(userId) ?? []), channelId);
    const usual = { isMuted: false, isPinned: false, notifications: INHERITED_NOTIFICATIONS };
    await tx.channels.putSubscriptions([{ ...usual, ...row, realmId, channelId, userId, color, isActive: true }]);
    // Former subscribers see the imported messages as history.
    if (row && !row.isActive) continue;
    const own = runs.of(userId, []).get(recipientId) ?? { received: [], read: [] };
    const read = difference(received, difference(own.received, own.read));
    await tx.copies.putReceived({ realmId, userId }, recipientId, received, read);
  }
  await tx.personal.openSpans(
    realmId,
    [recipientId],
    userIds.filter((userId) => !suspended.has(userId)),
  );
}

/** Returns the subscribers who receive nothing because they were deactivated in Parley, unlike placeholders. */
async function suspendedAmong(
  tx: Transaction,
  { realmId, id: channelId }: Channel,
  subscribers: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  const suspended = new Set<UserId>();
  for (const { id: userId, isActive } of await tx.users.list(realmId, subscribers)) {
    if (isActive) continue;
    const spans = await tx.personal.listSubscribedSpans({ realmId, userId });
    const isOpen = spans.some((span) => span.channelId === channelId && span.toSeq === null);
    if (!isOpen) suspended.add(userId);
  }
  return suspended;
}
