import { type ImportBatch, type ImportedKind, type ImportedRecord, recordsOfBatch } from '@parley/domain/exports';
import {
  type ChannelId,
  type GroupId,
  type RealmId,
  type Repositories,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import {
  isMember,
  type MembersPlace,
  membersOfChannel,
  membersOfGroup,
  type PlaceMembers,
  statesOf,
  userOf,
} from './import-members.js';

/** Membership that the undo of an import changes. */
export interface RevertedMembership extends Pick<PlaceMembers, 'channelId' | 'groupId'> {
  readonly userId: UserId;
  /** True if the undo makes the user a member again. */
  readonly isMember: boolean;
}

interface MembersKind extends Pick<MembersPlace, 'kind'> {
  readonly digests: ImportedKind;
  readonly objects: ImportedKind;
  readonly membersOf: (realmId: RealmId, targetId: number) => PlaceMembers;
}

const CHANNELS: MembersKind = {
  ...{ kind: 'membership', digests: 'members', objects: 'channel' },
  membersOf: (realmId, id) => membersOfChannel(realmId, id as ChannelId),
};

const GROUPS: MembersKind = {
  ...{ kind: 'groupMembership', digests: 'groupMembers', objects: 'group' },
  membersOf: (realmId, id) => membersOfGroup(realmId, id as GroupId),
};

const PEOPLE_AT_A_TIME = 100;

/**
 * Reverts the changes of members by an import, except in the channels and groups that it created. Yields the reverted
 * memberships after each unit of work, and an empty list after each page of records. A killed run continues when it is
 * repeated.
 * @param isDryRun true to change nothing
 */
export async function* undoMembers(
  uow: UnitOfWork,
  batch: ImportBatch,
  isDryRun: boolean,
): AsyncGenerator<readonly RevertedMembership[]> {
  if (batch.createdRealm) return;
  for (const kind of [CHANNELS, GROUPS]) yield* undoKind(uow, batch, kind, isDryRun);
}

async function* undoKind(
  uow: UnitOfWork,
  batch: ImportBatch,
  { kind, digests, objects, membersOf }: MembersKind,
  isDryRun: boolean,
): AsyncGenerator<readonly RevertedMembership[]> {
  const { realmId } = batch;
  const created = new Set<number>();
  for await (const page of recordsOfBatch(uow, batch, objects)) for (const { targetId } of page) created.add(targetId);
  const earlier = (page: readonly ImportedRecord[]) => page.filter(({ targetId }) => !created.has(targetId));
  for await (const page of recordsOfBatch(uow, batch, kind)) {
    for (const slice of slicesOf(earlier(page), PEOPLE_AT_A_TIME)) {
      // One place per unit, because a change of a group reads all channels.
      for (const targetId of new Set(slice.map((record) => record.targetId))) {
        const place = membersOf(realmId, targetId);
        const records = slice.filter((record) => record.targetId === targetId);
        yield isDryRun
          ? await uow.read(realmId, (reads) => revertedBy(reads, batch, place, records))
          : await uow.write(realmId, (tx) => revert(tx, batch, place, records));
      }
    }
    yield [];
  }
  if (isDryRun) return;
  // The next import compares the members again.
  for await (const page of recordsOfBatch(uow, batch, digests)) {
    const records = earlier(page);
    if (records.length > 0) await uow.write(realmId, (tx) => tx.importedRecords.remove(realmId, records));
  }
}

/** Returns the memberships that differ from those before a batch, unless people changed them since. */
async function revertedBy(
  reads: Repositories | Transaction,
  batch: ImportBatch,
  place: PlaceMembers,
  records: readonly ImportedRecord[],
): Promise<readonly RevertedMembership[]> {
  const userIds = records.map(userOf);
  const earlier = await statesOf(reads, batch.realmId, place, userIds, ({ batchId }) => batchId < batch.id);
  const present = await place.present(reads, userIds);
  const { channelId, groupId } = place;
  return records.flatMap((record) => {
    const [userId, wasMember] = [userOf(record), isMember(earlier.get(userOf(record)))];
    const isChanged = record.hash === (wasMember ? 'left' : 'joined') && present.has(userId) !== wasMember;
    return isChanged ? [{ channelId, groupId, userId, isMember: wasMember }] : [];
  });
}

/** Reverts the changes to a place and forgets them. */
async function revert(
  tx: Transaction,
  batch: ImportBatch,
  place: PlaceMembers,
  records: readonly ImportedRecord[],
): Promise<readonly RevertedMembership[]> {
  const reverted = await revertedBy(tx, batch, place, records);
  const users = (becomesMember: boolean) =>
    reverted.flatMap((each) => (each.isMember === becomesMember ? each.userId : []));
  await place.remove(tx, users(false));
  await place.add(tx, users(true));
  await tx.importedRecords.remove(batch.realmId, records);
  return reverted;
}
