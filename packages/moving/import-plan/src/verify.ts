import type { ImportedRecord, RecordOrigin } from '@parley/domain/exports';
import {
  getOrThrow,
  type ImportBatchId,
  invalidImport,
  type RealmCopy,
  type RealmId,
  type RecipientId,
  slicesOf,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import type { RealmReader } from '@parley/transfer/exports';
import type { ImportedRealm } from '@parley/transfer/imports';
import { type AccessCopy, newAccess, type Readers } from '@parley/transfer/records';
import type { ImportPlan } from './plan.js';
import { addedReaderError, targetAccess } from './plan-access.js';

/**
 * Compares the stored organization with the plan: numbers of objects, and readers of every conversation. @throws
 * DomainError INVALID_IMPORT
 */
export async function verifyImport(
  { access, summary }: Pick<ImportPlan, 'access' | 'summary'>,
  { realmId, counts, users, recipients }: ImportedRealm,
  reader: Pick<RealmReader, 'open'>,
): Promise<void> {
  for (const kind of ['channels', 'messages'] as const) {
    if (counts[kind] !== summary[kind]) {
      throw invalidImport(`It has ${summary[kind]} ${kind}, but ${counts[kind]} were imported.`);
    }
  }
  const { realm, after } = await storedAccess(realmId, reader);
  const before = renumbered(
    access,
    (id) => users.get(id),
    (id) => recipients.get(id),
  );
  const [added] = newAccess(before, after);
  if (!added) return;
  throw addedReaderError(
    realm.users.find(({ user }) => user.id === added.person)?.user,
    realm.channels.find(({ recipientId }) => String(recipientId) === added.conversation),
  );
}

const RECORDS_AT_A_TIME = 200;

/** Person who can read a conversation of the source but could not in the source. */
export interface AddedReader {
  readonly userId: UserId;
  readonly person: string;
  /** Name of the channel; null for direct conversations. */
  readonly channel: string | null;
}

interface VerifiedImports {
  readonly realmId: RealmId;
  readonly batchIds: readonly ImportBatchId[];
}

/** Lists people who can read imported conversations now but could not in the source. */
export async function addedReaders(
  { access, source }: Pick<ImportPlan, 'access' | 'source'>,
  { realmId, batchIds }: VerifiedImports,
  uow: UnitOfWork,
  reader: Pick<RealmReader, 'open'>,
): Promise<readonly AddedReader[]> {
  const { realm, after } = await storedAccess(realmId, reader);
  const planned = new Map(source.realm.channels.map(({ id, recipientId }) => [id as number, recipientId]));
  const stored = new Map(realm.channels.map(({ id, recipientId }) => [id as number, recipientId]));
  const users = new Map<UserId, UserId>();
  const recipients = new Map<RecipientId, RecipientId>();
  const origins = [...(source.origins?.list() ?? [])];
  for (const kind of ['person', 'channel', 'conversation'] as const) {
    for (const slice of slicesOf(
      origins.filter(({ origin }) => origin.kind === kind),
      RECORDS_AT_A_TIME,
    )) {
      const targets = await targetsOf(uow, { batchIds, realmId, kind }, slice);
      for (const { origin, targetId } of slice) {
        const target = targets.get(origin.recordId);
        if (target === undefined) continue;
        if (kind === 'person') users.set(targetId as UserId, target as UserId);
        else if (kind === 'conversation') recipients.set(targetId as RecipientId, target as RecipientId);
        else recipients.set(getOrThrow(planned, targetId), getOrThrow(stored, target));
      }
    }
  }
  const before = renumbered(
    access,
    (id) => users.get(id),
    (id) => recipients.get(id),
  );
  const gained = await mergedReaders(realmId, realm, uow);
  const imported = [...after.conversations]
    .filter(([recipient]) => before.conversations.has(recipient))
    .map(([recipient, { isOpen, readers }]): [string, Readers<UserId>] => [
      recipient,
      { isOpen, readers: new Set([...readers, ...(gained.get(recipient) ?? [])]) },
    ]);
  const names = new Map(realm.users.map(({ user }) => [user.id, user.fullName]));
  const channels = new Map(realm.channels.map(({ recipientId, name }) => [String(recipientId), name]));
  return newAccess(before, { ...after, conversations: new Map(imported) }).map(({ person, conversation }) => ({
    ...{ userId: person, person: names.get(person) ?? '', channel: channels.get(conversation) ?? null },
  }));
}

/** Returns the users that took the place of merged placeholders, by direct conversation. */
async function mergedReaders(
  realmId: RealmId,
  { conversations }: Pick<RealmCopy, 'conversations'>,
  uow: UnitOfWork,
): Promise<ReadonlyMap<string, readonly UserId[]>> {
  const users = new Map<string, UserId>();
  const people = new Set(conversations.flatMap(({ userIds }) => userIds.map(String)));
  for (const slice of slicesOf([...people], RECORDS_AT_A_TIME)) {
    const merges = await uow.read(realmId, ({ importedRecords }) => importedRecords.list(realmId, 'merge', slice));
    for (const { recordId, targetId } of merges) users.set(recordId, targetId as UserId);
  }
  return new Map(
    conversations.map(({ recipientId, userIds }) => [
      String(recipientId),
      userIds.flatMap((id) => users.get(String(id)) ?? []),
    ]),
  );
}

/** Returns ids of imported objects by record id. */
async function targetsOf(
  uow: UnitOfWork,
  { batchIds, realmId, kind }: VerifiedImports & Pick<ImportedRecord, 'kind'>,
  origins: readonly { readonly origin: RecordOrigin }[],
): Promise<ReadonlyMap<string, number>> {
  const ids = origins.map(({ origin }) => origin.recordId);
  const records = await uow.read(realmId, ({ importedRecords }) => importedRecords.list(realmId, kind, ids));
  return new Map(records.filter(({ batchId }) => batchIds.includes(batchId)).map((it) => [it.recordId, it.targetId]));
}

async function storedAccess(realmId: RealmId, reader: Pick<RealmReader, 'open'>) {
  const stored = await reader.open(realmId, { covers: 'all' });
  const people = [];
  for await (const person of stored.people()) people.push(person);
  return { realm: stored.realm, after: targetAccess(stored.realm, people) };
}

/** Returns the readers by ids of this server. Omits people and conversations without one. */
function renumbered(
  access: AccessCopy<UserId>,
  userOf: (id: UserId) => UserId | undefined,
  recipientOf: (id: RecipientId) => RecipientId | undefined,
): AccessCopy<UserId> {
  const idsOf = (ids: Iterable<UserId>) => new Set([...ids].flatMap((id) => userOf(id) ?? []));
  const conversations = [...access.conversations].flatMap(
    ([recipient, { isOpen, readers }]): readonly [string, Readers<UserId>][] => {
      const id = recipientOf(Number(recipient) as RecipientId);
      return id === undefined ? [] : [[String(id), { isOpen, readers: idsOf(readers) }]];
    },
  );
  return { fullMembers: idsOf(access.fullMembers), conversations: new Map(conversations) };
}
