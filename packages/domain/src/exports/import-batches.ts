import { mustBeOwner } from '../access/actor.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import type { EventSeq, ImportBatchId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { lastOf, ROWS_PER_PAGE } from '../kernel/work.js';
import type { EmojiKey } from '../writing/reactions.js';

/** Import from another system, remembered with the objects that it created. */
export interface ImportBatch {
  readonly id: ImportBatchId;
  readonly realmId: RealmId;
  /** Name of the source in its records, such as `slack:T0123`. */
  readonly source: string;
  readonly startedAt: UnixSeconds;
  readonly status: 'running' | 'complete' | 'undoing' | 'undone';
  /** True if the import created the organization. */
  readonly createdRealm: boolean;
  /** Number of created messages, including lines that the import added. */
  readonly messages: number;
  /** Id of the newest created message; 0 if there is none. */
  readonly lastMessageId: number;
  /** Changes with each unit of work of an import or undo, so that simultaneous runs notice each other. */
  readonly version: number;
  /** Owner who imported an uploaded export; null for the operator of the server. */
  readonly requesterId: UserId | null;
}

/** Kinds of created messages: a message of the source, or a line that the import added. */
export const IMPORTED_MESSAGE_KINDS = ['message', 'pointer', 'broadcast', 'pins'] as const;

/** Kind of record, or of an added line, that became an object. */
export type ImportedKind =
  | (typeof IMPORTED_MESSAGE_KINDS)[number]
  | 'person'
  | 'group'
  | 'channel'
  | 'conversation'
  | 'emoji'
  /** Message in a list of pinned messages, which is the object. */
  | 'pin'
  /** Digest of a channel's members, named by the channel's record. */
  | 'members'
  /** Member of a channel, with a `MembershipState` as `hash`. */
  | 'membership'
  /** Digest of a group's members, named by the group's record. */
  | 'groupMembers'
  /** Member of a group, with a `MembershipState` as `hash`. */
  | 'groupMembership'
  /** Whole export of a complete import, with the number of its records as the target. */
  | 'export'
  /** Added after the import. */
  | 'file'
  /** Changes by a merge of a placeholder, named by its id in `hash`. */
  | 'merge'
  | 'mergedMessage'
  /** Direct message in a conversation with the user in place of the placeholder. */
  | 'mergedDirectMessage'
  | 'mergedReaction'
  | 'mergedSubscription';

/** Record of the source that an object was created from. */
export interface RecordOrigin {
  readonly kind: ImportedKind;
  /** Id in the source; lines that the import added have the id of the record that caused them. */
  readonly recordId: string;
  /** Digest of the record with its dependent records, which is equal as long as the source is unchanged. */
  readonly hash: string;
}

/** Object created by an import. */
export interface ImportedRecord extends RecordOrigin {
  readonly batchId: ImportBatchId;
  /** Id of the object. Several people, conversations or groups can be one object. */
  readonly targetId: number;
  /** Last edit of the message in the source; null if there is none. */
  readonly editedAt: UnixSeconds | null;
  /** Digest of the imported reactions to the message; 0 if there are none. */
  readonly reactions: number;
}

/** Digest of the emoji in any order. It ignores who reacted, which a merge changes. */
export function digestOfReactions(reactions: readonly EmojiKey[]): number {
  let digest = 0;
  for (const { type, code } of reactions) {
    let hash = 1;
    for (const character of `${type} ${code}`) hash = Math.imul(hash, 31) + character.codePointAt(0)!;
    digest = (digest + hash) | 0;
  }
  return digest;
}

/** Position in the records of one kind in a batch. */
export type RecordPosition = Pick<ImportedRecord, 'targetId' | 'recordId'>;

/** Position before all records. */
export const BEFORE_RECORDS: RecordPosition = { targetId: 0, recordId: '' };

export interface ImportedRecordReads {
  /** Returns the records with these ids, of all batches, ordered by record id (code points) and batch. */
  list(realmId: RealmId, kind: ImportedKind, recordIds: readonly string[]): Promise<readonly ImportedRecord[]>;
  /** Returns the first `limit` records of a batch after a position, ordered by target and record id. */
  listOfBatch(
    realmId: RealmId,
    batch: { readonly id: ImportBatchId; readonly kind: ImportedKind },
    after: RecordPosition,
    limit: number,
  ): Promise<readonly ImportedRecord[]>;
  /** Returns those messages with a topic or direct conversation that also contains a message with an id above `last`. */
  listAnswered(realmId: RealmId, ids: readonly MessageId[], last: number): Promise<ReadonlySet<MessageId>>;
}

/** Every implementation passes imported-record-repository.contract.ts. */
export interface ImportedRecordRepository extends ImportedRecordReads {
  /** Replaces records with the same batch, kind and id. */
  put(realmId: RealmId, records: readonly ImportedRecord[]): Promise<void>;
  /** Ignores unknown records. */
  remove(realmId: RealmId, records: readonly Pick<ImportedRecord, 'batchId' | 'kind' | 'recordId'>[]): Promise<void>;
}

export const IMPORT_BATCH_ROWS: RowRules<ImportBatch> = { kind: 'importBatch', owner: 'realm', order: ['id'] };

export const IMPORT_BATCH_ERRORS = declareErrors({
  /** The organization has no import with this number. */
  UNKNOWN_IMPORT: 'unknown',
  /** The import is not complete yet, or another one of the same source runs. */
  IMPORT_RUNNING: 'conflict',
  /** A later import of the organization must be undone first. */
  LATER_IMPORT: 'conflict',
  /** The user is not a placeholder of an import, or was claimed or merged. */
  NOT_A_PLACEHOLDER: 'conflict',
  /** The user was not merged into another one. */
  NOT_MERGED: 'conflict',
  /** The import was undone while it ran. */
  IMPORT_CANCELLED: 'conflict',
  /** The undo of an import was interrupted and must be completed first. */
  UNDO_UNFINISHED: 'conflict',
  /** The export is from another system than the import. */
  ANOTHER_SOURCE: 'invalid',
});

type ImportBatchErrors = typeof IMPORT_BATCH_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    importBatches: [reads: RealmRowReads<ImportBatch>, repository: RealmRows<ImportBatch>];
    importedRecords: [reads: ImportedRecordReads, repository: ImportedRecordRepository];
  }
  interface ErrorCodes extends ImportBatchErrors {}
}

export const IMPORT_BATCH_FEATURE = {
  rows: { importBatches: IMPORT_BATCH_ROWS },
  notExported: {
    importBatches: 'They refer to exports of the original system.',
    importedRecords: 'They refer to exports of the original system.',
  },
};

/** Object that an import just created, without its batch. */
export interface CreatedObject extends Omit<ImportedRecord, 'batchId' | keyof RecordOrigin> {
  /** Absent for objects without a record in the source. */
  readonly origin: RecordOrigin | undefined;
}

/** Remembers created objects. */
export async function rememberCreated(
  tx: Transaction,
  batch: ImportBatch,
  created: readonly CreatedObject[],
): Promise<void> {
  const batchId = batch.id;
  const records: ImportedRecord[] = [];
  // Lists all properties explicitly for speed: V8 copies objects slowly by spreading them.
  for (const { origin, targetId, editedAt, reactions } of created) {
    if (!origin) continue;
    const { kind, recordId, hash } = origin;
    records.push({ batchId, kind, recordId, hash, targetId, editedAt, reactions });
  }
  await tx.importedRecords.put(batch.realmId, records);
}

/** Adds a running batch. */
export const beginBatch = (
  tx: Transaction,
  batch: Pick<ImportBatch, 'realmId' | 'source' | 'startedAt' | 'createdRealm'>,
  requesterId: UserId | null = null,
): Promise<ImportBatch> =>
  tx.importBatches.add({ ...batch, requesterId, status: 'running', messages: 0, lastMessageId: 0, version: 0 });

/** Throws MUST_BE_OWNER or USER_DEACTIVATED unless the requester of an import, if any, still is an owner. */
export async function requireRequester(
  { actors }: Pick<Repositories | Transaction, 'actors'>,
  realmId: RealmId,
  userId: UserId | null,
): Promise<void> {
  if (userId !== null) enforce(mustBeOwner(await actors.get({ realmId, userId })));
}

/** @throws DomainError UNKNOWN_IMPORT */
export function getBatch(batches: readonly ImportBatch[], id: ImportBatchId): ImportBatch {
  const batch = batches.find((it) => it.id === id);
  if (!batch) throw new DomainError('UNKNOWN_IMPORT', `There is no import ${id}.`);
  return batch;
}

/** @throws DomainError ANOTHER_SOURCE */
export function requireSource(batch: ImportBatch, source: string): void {
  if (batch.source === source) return;
  throw new DomainError('ANOTHER_SOURCE', `Import ${batch.id} is from ${batch.source}, not ${source}.`);
}

export const importRunning = (source: string): DomainError =>
  new DomainError('IMPORT_RUNNING', `Another import or undo of ${source} runs or ran in the meantime.`);

/**
 * Returns the unit of work of one run of an import or undo. Its writes yield to others. They fail with IMPORT_CANCELLED
 * once the import is undone, with IMPORT_RUNNING once another run continues it, and with MUST_BE_OWNER once the
 * requester is not an owner.
 */
export function unitsOf(uow: UnitOfWork, batch: ImportBatch, requesterId: UserId | null = null): UnitOfWork {
  let { version } = batch;
  return {
    read: (realmId, work, options) => uow.read(realmId, work, options),
    readAcross: (work) => uow.readAcross(work),
    writeAcross: (work, options) => uow.writeAcross(work, options),
    async write(realmId, work, options) {
      const result = await uow.write(
        realmId,
        async (tx) => {
          await requireRequester(tx, batch.realmId, requesterId);
          await nextVersion(tx, { ...batch, version });
          return work(tx);
        },
        { ...options, yields: true },
      );
      version++;
      return result;
    },
  };
}

async function nextVersion(tx: Transaction, { id, realmId, source, status, version }: ImportBatch): Promise<void> {
  const stored = await tx.importBatches.find(realmId, id);
  if (stored?.status === status && stored.version === version) {
    return tx.importBatches.update({ ...stored, version: version + 1 });
  }
  const isCancelled = status === 'running' && (stored?.status === 'undoing' || stored?.status === 'undone');
  throw isCancelled ? new DomainError('IMPORT_CANCELLED', `Import ${id} was undone.`) : importRunning(source);
}

const QUEUES_AT_A_TIME = 250;

/**
 * Removes all event queues, so that clients register again and load what changed.
 * @param work last changes, in the unit that ends the queues
 * @param units unit of work for `work`
 */
export async function restartClients(
  uow: UnitOfWork,
  realmId: RealmId,
  work: (tx: Transaction) => Promise<void>,
  units: UnitOfWork = uow,
): Promise<void> {
  let seq = 0 as EventSeq;
  await units.write(
    realmId,
    async (tx) => {
      await work(tx);
      await tx.events.append(realmId, { event: { type: 'restarted' }, audience: nobody });
    },
    { onCommit: ({ events }) => (seq = lastOf(events).seq) },
  );
  let count: number;
  do {
    count = await uow.write(
      realmId,
      async (tx) => (await tx.queues.removeBehind(realmId, seq, QUEUES_AT_A_TIME)).length,
      { yields: true },
    );
  } while (count === QUEUES_AT_A_TIME);
}

/** @throws DomainError UNDO_UNFINISHED */
export function requireNoUndo(batches: readonly ImportBatch[]): void {
  const unfinished = batches.find(({ status }) => status === 'undoing');
  if (!unfinished) return;
  throw new DomainError('UNDO_UNFINISHED', `The undo of import ${unfinished.id} must be completed first.`);
}

/** Yields all records of one kind in a batch, in pages. */
export async function* recordsOfBatch(
  uow: UnitOfWork,
  { id, realmId }: Pick<ImportBatch, 'id' | 'realmId'>,
  kind: ImportedKind,
): AsyncGenerator<readonly ImportedRecord[]> {
  let page: readonly ImportedRecord[];
  let after = BEFORE_RECORDS;
  do {
    const from = after;
    page = await uow.read(realmId, ({ importedRecords }) =>
      importedRecords.listOfBatch(realmId, { id, kind }, from, ROWS_PER_PAGE),
    );
    yield page;
    after = page.at(-1) ?? after;
  } while (page.length === ROWS_PER_PAGE);
}

/** Import of a whole export. */
export interface IdenticalImport {
  readonly batch: ImportBatch;
  /** Number of records in the export. */
  readonly records: number;
}

/** Returns the import of an unchanged export, unless an export of its source was imported or undone since. */
export async function findIdentical(
  { importBatches, importedRecords }: Pick<Repositories, 'importBatches' | 'importedRecords'>,
  realmId: RealmId,
  fingerprint: string,
): Promise<IdenticalImport | null> {
  const batches = await importBatches.list(realmId);
  for (const { batchId, targetId } of await importedRecords.list(realmId, 'export', [fingerprint])) {
    const { source } = getBatch(batches, batchId);
    const latest = batches.findLast((batch) => batch.source === source)!;
    if (latest.id === batchId && latest.status === 'complete') return { batch: latest, records: targetId };
  }
  return null;
}

/** Returns the records with these ids that came from one source, because several sources may use the same ids. */
export async function recordsFrom(
  { importBatches, importedRecords }: Pick<Repositories | Transaction, 'importBatches' | 'importedRecords'>,
  { realmId, source }: Pick<ImportBatch, 'realmId' | 'source'>,
  kind: ImportedKind,
  recordIds: readonly string[],
): Promise<readonly ImportedRecord[]> {
  const batches = (await importBatches.list(realmId)).filter((batch) => batch.source === source);
  const ids = new Set(batches.map(({ id }) => id));
  return (await importedRecords.list(realmId, kind, recordIds)).filter(({ batchId }) => ids.has(batchId));
}
