import { archiveChannel } from '@parley/domain/channels';
import {
  BEFORE_RECORDS,
  digestOfReactions,
  getBatch,
  IMPORTED_MESSAGE_KINDS,
  type ImportBatch,
  type ImportedKind,
  type ImportedRecord,
  ImportReports,
  type ImportRun,
  type RecordPosition,
  unitsOf,
} from '@parley/domain/exports';
import { UnneededFiles } from '@parley/domain/files';
import {
  type ChannelId,
  type Clock,
  DomainError,
  type FileId,
  getOrThrow,
  type ImportBatchId,
  lastOf,
  type MessageId,
  type RealmId,
  type Repositories,
  type Transaction,
  type UnitOfWork,
} from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import { deleteMessages } from '@parley/domain/writing';
import { type RevertedMembership, undoMembers } from './undo-members.js';

export interface UndoImportInput {
  readonly realmId: RealmId;
  readonly batchId: ImportBatchId;
  /** True to remove messages that people answered, edited, moved or reacted to. */
  readonly isForced: boolean;
  /** True to change nothing. */
  readonly isDryRun: boolean;
  /** Called periodically with the number of removed messages; an error ends the run. */
  readonly onProgress?: (messages: number) => unknown;
}

export type KeepReason = 'answered' | 'edited' | 'moved' | 'reaction';

/** Imported message that people used since the import. */
export interface KeptMessage<Reason = KeepReason> {
  readonly id: MessageId;
  readonly reason: Reason;
  /** Null for direct messages. */
  readonly channelId: ChannelId | null;
  readonly topic: string;
}

export interface UndoImportOutput {
  readonly removed: number;
  readonly kept: number;
  /** Kept messages, at most `MAX_LISTED_MESSAGES`. */
  readonly keptMessages: readonly KeptMessage[];
  /** Zero in a dry run. */
  readonly archivedChannels: number;
  /** Number of members of earlier imported channels and groups that are put back. */
  readonly memberships: number;
  /** Members that are put back, at most `MAX_LISTED_MEMBERSHIPS`. */
  readonly revertedMemberships: readonly RevertedMembership[];
}

export const MAX_LISTED_MESSAGES = 1000;
export const MAX_LISTED_MEMBERSHIPS = 1000;

/** Messages per unit of work, to limit the delay of other writes. */
const MESSAGES_AT_A_TIME = 50;
const CHANNELS_AT_A_TIME = 10;

/** Part of a batch with the reasons to keep its messages. */
interface JudgedPage {
  readonly records: readonly ImportedRecord[];
  readonly messages: readonly Message[];
  readonly reasons: ReadonlyMap<MessageId, KeepReason>;
}

interface KeptCounts<Reason = KeepReason> {
  kept: number;
  readonly keptMessages: KeptMessage<Reason>[];
}

interface Counts extends KeptCounts {
  removed: number;
}

/**
 * Removes the messages of an import and archives its channels without messages, in small units of work. A killed run
 * continues when it is repeated. The files of an owner's import are removed at once, so that imports cannot be used to
 * exceed the upload quotas, and so is its report.
 */
export class ImportUndo {
  static readonly inject = ['unitOfWork', 'clock', UnneededFiles, ImportReports] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly files: UnneededFiles,
    private readonly reports: ImportReports,
  ) {}

  /** @throws DomainError UNKNOWN_IMPORT, IMPORT_RUNNING, LATER_IMPORT */
  async undo(input: UndoImportInput): Promise<UndoImportOutput> {
    const { realmId, batchId, isForced, isDryRun, onProgress = () => {} } = input;
    if (isDryRun) {
      const batch = await this.uow.read(realmId, (reads) => loadLatest(reads, realmId, batchId));
      const survey = (kind: ImportedKind, after: RecordPosition) =>
        this.uow.read(realmId, (reads) => judge(reads, batch, kind, after));
      const counts = await countPages(survey, isForced);
      return { ...counts, ...(await putBackMembers(undoMembers(this.uow, batch, isDryRun))), archivedChannels: 0 };
    }
    // The status keeps a running import from adding messages.
    const batch = await this.uow.write(realmId, async (tx) => {
      const latest = await loadLatest(tx, realmId, batchId);
      const undoing = { ...latest, status: 'undoing', version: latest.version + 1 } as const;
      await tx.importBatches.update(undoing);
      return undoing;
    });
    const uow = unitsOf(this.uow, batch);
    const counts = await countPages(
      (kind, after) => this.remove(uow, batch, isForced, kind, after),
      isForced,
      (sum) => onProgress(sum.removed),
    );
    const report = () => onProgress(counts.removed);
    const members = await putBackMembers(undoMembers(uow, batch, isDryRun), report);
    const archivedChannels = await this.archiveEmptyChannels(uow, batch, report);
    // Imports by the operator have no report in the database.
    const isOfBatch = (run: ImportRun) => run.status === 'imported' && run.requesterId === batch.requesterId;
    await this.reports.remove(uow, realmId, isOfBatch);
    await uow.write(realmId, async (tx) =>
      tx.importBatches.update({ ...(await tx.importBatches.find(realmId, batchId))!, status: 'undone' }),
    );
    return { ...counts, ...members, archivedChannels };
  }

  private async remove(
    uow: UnitOfWork,
    batch: ImportBatch,
    isForced: boolean,
    kind: ImportedKind,
    after: RecordPosition,
  ): Promise<JudgedPage> {
    const { page, files } = await uow.write(batch.realmId, async (tx) => {
      const judged = await judge(tx, batch, kind, after);
      const ofPage = batch.requesterId === null ? [] : await importedFiles(tx, judged);
      await this.removePage(tx, batch, judged, isForced);
      return { page: judged, files: ofPage };
    });
    await this.files.remove(uow, batch.realmId, files);
    return page;
  }

  private async removePage(tx: Transaction, { realmId }: ImportBatch, page: JudgedPage, isForced: boolean) {
    const { records, messages, reasons } = page;
    const isKept = (id: number) => !isForced && reasons.has(id as MessageId);
    const deletedAt = this.clock.now();
    for (const [channelId, removed] of byChannel(messages.filter(({ id }) => !isKept(id)))) {
      const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
      // Clients get one event per direct message.
      for (const part of channel === null ? removed.map((message) => [message]) : [removed]) {
        await deleteMessages(tx, { realmId, deletedBy: null, deletedAt, channel, messages: part });
      }
    }
    const removed = records.filter(({ targetId }) => !isKept(targetId));
    await tx.importedRecords.remove(realmId, removed);
    for (const { batchId, kind, targetId } of removed) {
      if (kind === 'pins') await forgetPins(tx, realmId, batchId, targetId);
    }
  }

  /** Returns the number of archived channels. */
  private async archiveEmptyChannels(
    uow: UnitOfWork,
    { id, realmId }: ImportBatch,
    onProgress: () => unknown,
  ): Promise<number> {
    let count = 0;
    let after: RecordPosition | null = BEFORE_RECORDS;
    while (after !== null) {
      const from: RecordPosition = after;
      const [archived, records] = await uow.write(realmId, async (tx) => {
        const batch = { id, kind: 'channel' } as const;
        const page = await tx.importedRecords.listOfBatch(realmId, batch, from, CHANNELS_AT_A_TIME);
        let archivedNow = 0;
        for (const { targetId } of page) {
          const channel = await tx.channels.find(realmId, targetId as ChannelId);
          if (!channel || channel.isArchived) continue;
          if ((await tx.messages.listOldestIds(realmId, channel.recipientId, 1)).length > 0) continue;
          await archiveChannel(tx, channel);
          archivedNow++;
        }
        return [archivedNow, page] as const;
      });
      count += archived;
      await onProgress();
      after = records.length < CHANNELS_AT_A_TIME ? null : lastOf(records);
    }
    return count;
  }
}

/** Removes the messages of an import and archives its channels without messages. */
export class UndoImport {
  static readonly inject = [ImportUndo] as const;
  constructor(private readonly imports: ImportUndo) {}

  /** @throws DomainError UNKNOWN_IMPORT, IMPORT_RUNNING, LATER_IMPORT */
  execute(input: UndoImportInput): Promise<UndoImportOutput> {
    return this.imports.undo(input);
  }
}

/** Returns the files of messages without an edit, by which people could have added their own. */
async function importedFiles(
  { files }: Pick<Transaction, 'files'>,
  { records, messages }: JudgedPage,
): Promise<readonly FileId[]> {
  const editedAt = new Map(records.map((record) => [record.targetId, record.editedAt]));
  const ids = new Set<FileId>();
  for (const { realmId, id, hasAttachment, lastEditedAt } of messages) {
    if (!hasAttachment || (lastEditedAt ?? null) !== editedAt.get(id)) continue;
    for (const file of await files.listIdsOfMessage(realmId, id)) ids.add(file);
  }
  return [...ids];
}

async function putBackMembers(
  undo: AsyncIterable<readonly RevertedMembership[]>,
  onProgress: () => unknown = () => {},
): Promise<Pick<UndoImportOutput, 'memberships' | 'revertedMemberships'>> {
  let memberships = 0;
  const revertedMemberships: RevertedMembership[] = [];
  for await (const reverted of undo) {
    memberships += reverted.length;
    revertedMemberships.push(...reverted.slice(0, MAX_LISTED_MEMBERSHIPS - revertedMemberships.length));
    await onProgress();
  }
  return { memberships, revertedMemberships };
}

/** Forgets which messages a removed list contained, so that the next import lists them again. */
async function forgetPins(tx: Transaction, realmId: RealmId, id: ImportBatchId, list: number): Promise<void> {
  const batch = { id, kind: 'pin' } as const;
  for (let page: readonly ImportedRecord[]; ; ) {
    page = await tx.importedRecords.listOfBatch(realmId, batch, { targetId: list, recordId: '' }, MESSAGES_AT_A_TIME);
    const own = page.filter(({ targetId }) => targetId === list);
    await tx.importedRecords.remove(realmId, own);
    if (own.length < MESSAGES_AT_A_TIME) return;
  }
}

type Reads = Pick<Repositories | Transaction, 'importBatches' | 'importedRecords' | 'messages' | 'pages' | 'channels'>;

/** Returns the batch if it is the latest, because later ones may have added messages to its topics. */
export async function loadLatest(reads: Reads, realmId: RealmId, batchId: ImportBatchId): Promise<ImportBatch> {
  const batches = await reads.importBatches.list(realmId);
  const batch = getBatch(batches, batchId);
  // An import into an existing organization checks its status, so it can be cancelled.
  if (batch.status === 'running' && batch.createdRealm)
    throw new DomainError('IMPORT_RUNNING', `Import ${batchId} is still running.`);
  const later = batches.findLast(({ id, status }) => id > batchId && status !== 'undone');
  if (later) throw new DomainError('LATER_IMPORT', `Import ${later.id} is later and must be undone first.`);
  return batch;
}

async function judge(reads: Reads, batch: ImportBatch, kind: ImportedKind, after: RecordPosition): Promise<JudgedPage> {
  const { realmId, lastMessageId } = batch;
  const part = { id: batch.id, kind };
  const records = await reads.importedRecords.listOfBatch(realmId, part, after, MESSAGES_AT_A_TIME);
  const ids = records.map(({ targetId }) => targetId as MessageId);
  const messages = await reads.messages.list(realmId, ids);
  const answered = await reads.importedRecords.listAnswered(realmId, ids, lastMessageId);
  const byId = new Map(records.map((record) => [record.targetId, record]));
  const reasons = new Map<MessageId, KeepReason>();
  for (const message of messages) {
    const reason = answered.has(message.id)
      ? 'answered'
      : await changeSinceImport(reads, message, getOrThrow(byId, message.id));
    if (reason) reasons.set(message.id, reason);
  }
  return { records, messages, reasons };
}

/** Returns what people changed about an imported message; null for nothing. */
export async function changeSinceImport(
  reads: Pick<Reads, 'pages'>,
  message: Message,
  { editedAt, reactions }: ImportedRecord,
): Promise<Exclude<KeepReason, 'answered'> | null> {
  if ((message.lastEditedAt ?? null) !== editedAt) return 'edited';
  if ((message.lastMovedAt ?? null) !== null) return 'moved';
  return (await hasOtherReactions(reads, message, reactions)) ? 'reaction' : null;
}

async function hasOtherReactions(
  { pages }: Pick<Reads, 'pages'>,
  { realmId, id, hasReactions }: Message,
  imported: number,
): Promise<boolean> {
  const [view] = hasReactions ? await pages.listViews(realmId, [id]) : [];
  return digestOfReactions(view?.reactions ?? []) !== imported;
}

/** Runs `next` for every page of messages, and returns the sum. */
async function countPages(
  next: (kind: ImportedKind, after: RecordPosition) => Promise<JudgedPage>,
  isForced: boolean,
  onPage: (sum: Counts) => unknown = () => {},
): Promise<Counts> {
  const counts: Counts = { removed: 0, kept: 0, keptMessages: [] };
  for (const kind of IMPORTED_MESSAGE_KINDS) {
    for (let after: RecordPosition | null = BEFORE_RECORDS; after !== null; ) {
      const page: JudgedPage = await next(kind, after);
      countPage(counts, page, isForced);
      await onPage(counts);
      after = endOf(page.records);
    }
  }
  return counts;
}

function countPage(counts: Counts, { messages, reasons }: JudgedPage, isForced: boolean): void {
  for (const message of messages) {
    const reason = isForced ? undefined : reasons.get(message.id);
    if (reason === undefined) counts.removed++;
    else countKept(counts, message, reason);
  }
}

/** Counts a kept message, and lists it if there is room. */
export function countKept<Reason>(counts: KeptCounts<Reason>, { id, channelId, topic }: Message, reason: Reason): void {
  counts.kept++;
  if (counts.keptMessages.length < MAX_LISTED_MESSAGES) counts.keptMessages.push({ id, reason, channelId, topic });
}

const endOf = (records: readonly ImportedRecord[]): RecordPosition | null =>
  records.length < MESSAGES_AT_A_TIME ? null : lastOf(records);

function byChannel(messages: readonly Message[]): ReadonlyMap<ChannelId | null, readonly Message[]> {
  const groups = new Map<ChannelId | null, Message[]>();
  for (const message of messages) {
    const group = groups.get(message.channelId);
    if (group) group.push(message);
    else groups.set(message.channelId, [message]);
  }
  return groups;
}
