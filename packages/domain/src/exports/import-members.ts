import { type Channel, isPrivate } from '../channels/channel.js';
import { removeFromDefaultGroups, setDefaultChannel } from '../channels/default-channels.js';
import { subscribeToChannels, unsubscribeFromChannels } from '../channels/subscribing.js';
import { INHERITED_NOTIFICATIONS, pickColors } from '../channels/subscriptions.js';
import type { ChannelId, Ordinal, RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { OrdinalRange } from '../messages/read-set.js';
import {
  BEFORE_RECORDS,
  type ImportBatch,
  type ImportedRecord,
  type RecordPosition,
  recordsOfBatch,
} from './import-batches.js';
import type { ImportedIds } from './import-ids.js';
import { leaveMerged } from './merge-placeholder.use-cases.js';
import { difference, OrdinalRuns } from './ordinal-runs.js';
import type { MembersCopy, MergeSource, RealmSource } from './realm-copy.js';

/**
 * Membership in a channel of the source, as of one import: `joined` and `left` if the import changed the subscription;
 * `present` and `absent` if the subscription stayed as people had made it.
 */
export type MembershipState = 'joined' | 'present' | 'left' | 'absent';

export const isMember = (state: MembershipState | undefined): boolean => state === 'joined' || state === 'present';

const PEOPLE_AT_A_TIME = 100;
const RECORDS_AT_A_TIME = 500;

const membershipOf = (
  { id: batchId }: Pick<ImportBatch, 'id'>,
  channelId: ChannelId,
  userId: UserId,
  state: MembershipState,
): ImportedRecord => ({
  ...{ batchId, kind: 'membership', targetId: channelId, editedAt: null, reactions: 0 },
  recordId: `${channelId} ${userId}`,
  hash: state,
});

const userOf = ({ recordId }: ImportedRecord): UserId => Number(recordId.split(' ')[1]) as UserId;

/**
 * Returns the memberships in a channel after some imports of its source.
 * @param batches ascending
 */
export async function membershipsOf(
  uow: UnitOfWork,
  batches: readonly Pick<ImportBatch, 'id' | 'realmId'>[],
  channelId: ChannelId,
): Promise<ReadonlyMap<UserId, MembershipState>> {
  const states = new Map<UserId, MembershipState>();
  for (const { id, realmId } of batches) {
    const batch = { id, kind: 'membership' } as const;
    for (let after: RecordPosition | undefined = { targetId: channelId, recordId: '' }; after; ) {
      const from: RecordPosition = after;
      const page = await uow.read(realmId, ({ importedRecords }) =>
        importedRecords.listOfBatch(realmId, batch, from, RECORDS_AT_A_TIME),
      );
      const own = page.filter(({ targetId }) => targetId === channelId);
      for (const record of own) states.set(userOf(record), record.hash as MembershipState);
      after = own.length === RECORDS_AT_A_TIME ? own.at(-1) : undefined;
    }
  }
  return states;
}

/** Remembers the members of all channels of a new organization. */
export async function rememberMembers(
  uow: UnitOfWork,
  batch: ImportBatch,
  ids: ImportedIds,
  source: Pick<RealmSource, 'people'>,
): Promise<void> {
  const { realmId } = batch;
  let records: ImportedRecord[] = [];
  const flush = async () => {
    for (const slice of slicesOf(records, RECORDS_AT_A_TIME)) {
      await uow.write(realmId, (tx) => tx.importedRecords.put(realmId, slice));
    }
    records = [];
  };
  for await (const { userId, subscriptions } of source.people()) {
    for (const { channelId } of subscriptions) {
      records.push(membershipOf(batch, ids.channels.get(channelId), ids.users.get(userId), 'joined'));
    }
    if (records.length >= RECORDS_AT_A_TIME) await flush();
  }
  await flush();
}

/** Applies changes of the members in the source to channels of earlier imports. */
export class MemberImport {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly batch: ImportBatch,
    private readonly ids: ImportedIds,
  ) {}

  /** Must run before new messages are added, since former members could read them. */
  async apply({ memberChanges }: Pick<MergeSource, 'memberChanges'>): Promise<void> {
    for (const change of memberChanges) await this.change(change);
  }

  private async change(copy: MembersCopy): Promise<void> {
    const { users } = this.ids;
    const channelId = this.ids.channels.get(copy.channelId);
    const members = users.list(copy.members);
    if (copy.becomesPrivate) await this.makePrivate(channelId);
    for (const left of slicesOf(users.list(copy.left), PEOPLE_AT_A_TIME)) {
      await this.uow.write(this.batch.realmId, (tx) => this.unsubscribe(tx, channelId, left, members));
    }
    for (const kept of slicesOf(users.list(copy.kept), PEOPLE_AT_A_TIME)) {
      await this.uow.write(this.batch.realmId, (tx) => this.remember(tx, channelId, kept, () => 'absent'));
    }
    await this.subscribe(channelId, users.list(copy.joined), null);
    await this.uow.write(this.batch.realmId, (tx) =>
      tx.importedRecords.put(this.batch.realmId, [
        { ...copy.origin, batchId: this.batch.id, targetId: channelId, editedAt: null, reactions: 0 },
      ]),
    );
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

  private async unsubscribe(
    tx: Transaction,
    channelId: ChannelId,
    userIds: readonly UserId[],
    members: readonly UserId[],
  ): Promise<void> {
    const { realmId } = this.batch;
    const leaving = await subscribedAmong(tx, realmId, channelId, userIds);
    const merged = await leaveMerged(tx, { realmId, channelId, members }, userIds);
    const channel = (await tx.channels.find(realmId, channelId))!;
    await unsubscribe(tx, channel, [...new Set([...leaving, ...merged])]);
    await this.remember(tx, channelId, userIds, (userId) => (leaving.has(userId) ? 'left' : 'absent'));
  }

  /**
   * Subscribes members to a channel.
   * @param runs unread messages of a new channel; null for a channel that people read already
   */
  async subscribe(channelId: ChannelId, userIds: readonly UserId[], runs: OrdinalRuns | null): Promise<void> {
    const { realmId } = this.batch;
    for (const slice of slicesOf(userIds, PEOPLE_AT_A_TIME)) {
      await this.uow.write(this.batch.realmId, async (tx) => {
        const present = await subscribedAmong(tx, realmId, channelId, slice);
        const joining = slice.filter((userId) => !present.has(userId));
        const earlier = await statesOf(tx, realmId, channelId, slice);
        await subscribe(tx, { realmId, channelId, runs: runs ?? new OrdinalRuns() }, runs ? slice : joining);
        await this.remember(tx, channelId, slice, (userId) =>
          present.has(userId) && earlier.get(userId) !== 'joined' ? 'present' : 'joined',
        );
      });
    }
  }

  private remember(
    tx: Transaction,
    channelId: ChannelId,
    userIds: readonly UserId[],
    stateOf: (userId: UserId) => MembershipState,
  ): Promise<void> {
    const records = userIds.map((userId) => membershipOf(this.batch, channelId, userId, stateOf(userId)));
    return tx.importedRecords.put(this.batch.realmId, records);
  }
}

/** Returns the memberships of these people after the imports up to a batch. */
async function statesOf(
  { importedRecords }: Pick<Repositories | Transaction, 'importedRecords'>,
  realmId: RealmId,
  channelId: ChannelId,
  userIds: readonly UserId[],
  isIncluded: (record: ImportedRecord) => boolean = () => true,
): Promise<ReadonlyMap<UserId, MembershipState>> {
  const recordIds = userIds.map((userId) => `${channelId} ${userId}`);
  const records = await importedRecords.list(realmId, 'membership', recordIds);
  return new Map(records.filter(isIncluded).map((record) => [userOf(record), record.hash as MembershipState]));
}

/** Returns the users with an active subscription, including deactivated users. */
async function subscribedAmong(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  realmId: RealmId,
  channelId: ChannelId,
  userIds: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  const rows = await channels.listSubscriptionsOf(realmId, userIds, [channelId]);
  return new Set(userIds.filter((userId) => rows.get(userId)!.some(({ isActive }) => isActive)));
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

/** Subscribes people to a channel with its whole history, which is read except for the unread messages in `runs`. */
async function subscribe(
  tx: Transaction,
  { realmId, channelId, runs }: Joined,
  userIds: readonly UserId[],
): Promise<void> {
  const { recipientId } = (await tx.channels.find(realmId, channelId))!;
  const rows = await tx.channels.listSubscriptionsOf(realmId, userIds, [channelId]);
  const colors = await tx.channels.listColors(realmId, userIds);
  const last = (await tx.copies.countSentTo(realmId, [recipientId])) as Ordinal;
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

/** Subscription that the undo of an import changes. */
export interface RevertedSubscription {
  readonly channelId: ChannelId;
  readonly userId: UserId;
  /** True if the undo subscribes the user again. */
  readonly isSubscribed: boolean;
}

/**
 * Reverts the changes of subscriptions by an import, except in the channels that it created, and calls `onReverted` with
 * them. A killed run continues when it is repeated. A dry run changes nothing.
 */
export async function undoMembers(
  uow: UnitOfWork,
  batch: ImportBatch,
  isDryRun = false,
  onReverted: (subscriptions: readonly RevertedSubscription[]) => void = () => {},
): Promise<void> {
  const { realmId } = batch;
  const created = new Set<number>();
  for await (const page of recordsOfBatch(uow, batch, 'channel')) {
    for (const { targetId } of page) created.add(targetId);
  }
  let after: RecordPosition = BEFORE_RECORDS;
  let page: readonly ImportedRecord[];
  do {
    const from = after;
    const revert = async (reads: Repositories | Transaction) => {
      const part = { id: batch.id, kind: 'membership' } as const;
      const all = await reads.importedRecords.listOfBatch(realmId, part, from, PEOPLE_AT_A_TIME);
      const records = all.filter(({ targetId }) => !created.has(targetId));
      const reverted = await revertedBy(reads, batch, records);
      if (!isDryRun) await revertRecords(reads as Transaction, batch, records, reverted);
      return { all, reverted };
    };
    const { all, reverted } = await (isDryRun ? uow.read(realmId, revert) : uow.write(realmId, revert));
    onReverted(reverted);
    page = all;
    after = page.at(-1) ?? after;
  } while (page.length === PEOPLE_AT_A_TIME);
  if (isDryRun) return;
  // The next import compares the members again.
  for await (const digests of recordsOfBatch(uow, batch, 'members')) {
    await uow.write(realmId, (tx) =>
      tx.importedRecords.remove(
        realmId,
        digests.filter(({ targetId }) => !created.has(targetId)),
      ),
    );
  }
}

/** Returns the subscriptions that differ from those before a batch, as far as people left them unchanged since. */
async function revertedBy(
  reads: Repositories | Transaction,
  batch: ImportBatch,
  records: readonly ImportedRecord[],
): Promise<readonly RevertedSubscription[]> {
  const { realmId } = batch;
  const reverted: RevertedSubscription[] = [];
  for (const channelId of new Set(records.map(({ targetId }) => targetId as ChannelId))) {
    const own = records.filter(({ targetId }) => targetId === channelId);
    const userIds = own.map(userOf);
    const earlier = await statesOf(reads, realmId, channelId, userIds, ({ batchId }) => batchId < batch.id);
    const present = await subscribedAmong(reads, realmId, channelId, userIds);
    for (const record of own) {
      const [userId, isSubscribed] = [userOf(record), record.hash === 'left'];
      const isChanged = record.hash === (isMember(earlier.get(userId)) ? 'left' : 'joined');
      if (isChanged && present.has(userId) !== isSubscribed) reverted.push({ channelId, userId, isSubscribed });
    }
  }
  return reverted;
}

async function revertRecords(
  tx: Transaction,
  { realmId }: ImportBatch,
  records: readonly ImportedRecord[],
  reverted: readonly RevertedSubscription[],
): Promise<void> {
  for (const channelId of new Set(reverted.map((each) => each.channelId))) {
    const own = reverted.filter((each) => each.channelId === channelId);
    const usersTo = (state: boolean) =>
      own.flatMap(({ userId, isSubscribed }) => (isSubscribed === state ? userId : []));
    const channel = (await tx.channels.find(realmId, channelId))!;
    await unsubscribe(tx, channel, usersTo(false));
    await subscribeToChannels(tx, { channels: [channel], userIds: usersTo(true), requestedColors: new Map() });
  }
  await tx.importedRecords.remove(realmId, records);
}
