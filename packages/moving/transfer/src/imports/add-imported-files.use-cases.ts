import { getBatch, type ImportBatch, type ImportedRecord, requireSource, unitsOf } from '@parley/domain/exports';
import {
  type BlobStore,
  nameOfFile,
  newBlobKey,
  pathIdOf,
  type StoredFile,
  scheduleThumbnails,
  Thumbnails,
} from '@parley/domain/files';
import {
  type Clock,
  DomainError,
  type FileId,
  type ImportBatchId,
  type MessageId,
  type Randomness,
  type RealmId,
  type Repositories,
  type Transaction,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { attachFiles, type Message } from '@parley/domain/messages';
import { announceUpdate } from '@parley/domain/writing';
import { ImportedTexts, type ParsedText } from './imported-texts.js';

/** Message of the source with files that arrived after the import. */
export interface LateMessage {
  /** Id of the message in the source. */
  readonly recordId: string;
  readonly files: readonly LateFile[];
}

export interface LateFile {
  /** Id of the file in the source. */
  readonly recordId: string;
  readonly name: string;
  readonly contentType: string;
  /** Returns null if the bytes are missing. */
  open(): Promise<AsyncIterable<Uint8Array> | null>;
  /** Replaces the note about the missing file by a link to this path. Returns null for a text without such a note. */
  link(content: string, path: string): string | null;
  /** Adds a link after the text, for notes in code. Returns null if there is no room. */
  append(content: string, path: string): string | null;
}

export interface AddImportedFilesInput {
  readonly realmId: RealmId;
  readonly batchId: ImportBatchId;
  /** Name of the source in its records. */
  readonly source: string;
  readonly messages: AsyncIterable<LateMessage>;
}

export interface AddImportedFilesOutput {
  readonly files: number;
  readonly messages: number;
  /** Number of messages without their files, because people edited or deleted them since the import. */
  readonly kept: number;
}

interface LinkedFile extends LateFile {
  readonly id: FileId;
  /** End of the URL on this server. */
  readonly path: string;
}

const urlOf = (path: string): string => `/user_uploads/${path}`;

/** Message that still has notes instead of files. */
interface Waiting {
  readonly message: Message;
  readonly record: ImportedRecord;
}

/**
 * Adds files that were missing at the time of an import to the messages that refer to them. A killed run continues when
 * it is repeated.
 */
export class AddImportedFiles {
  static readonly inject = ['unitOfWork', 'blobStore', Thumbnails, ImportedTexts, 'clock', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly thumbnails: Thumbnails,
    private readonly texts: ImportedTexts,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError UNKNOWN_IMPORT, ANOTHER_SOURCE, IMPORT_RUNNING, SERVER_BUSY */
  async execute(input: AddImportedFilesInput): Promise<AddImportedFilesOutput> {
    const { realmId, batchId } = input;
    const batches = await this.uow.read(realmId, ({ importBatches }) => importBatches.list(realmId));
    const batch = getBatch(batches, batchId);
    requireSource(batch, input.source);
    if (batch.status === 'running') throw new DomainError('IMPORT_RUNNING', `Import ${batchId} is still running.`);
    const uow = unitsOf(this.uow, batch);
    const counts = { files: 0, messages: 0, kept: 0 };
    for await (const late of input.messages) {
      const waiting = await this.uow.read(realmId, (reads) => findWaiting(reads, batch, late));
      if (waiting === 'changed') counts.kept++;
      if (waiting === null || waiting === 'changed') continue;
      let { content } = waiting.message;
      const files: LinkedFile[] = [];
      for (const file of late.files) {
        if (file.link(content, '') === null) continue;
        const found = (await this.findStored(batch, file)) ?? (await this.store(uow, batch, waiting.message, file));
        if (!found) continue;
        if (found.isNew) counts.files++;
        files.push({ ...file, id: found.file.id, path: found.file.pathId });
        content = file.link(content, urlOf(found.file.pathId))!;
      }
      if (content === waiting.message.content) continue;
      if (await this.show(uow, batch, waiting, { content, files })) counts.messages++;
      else counts.kept++;
    }
    return counts;
  }

  private findStored({ id, realmId }: ImportBatch, { recordId }: LateFile) {
    return this.uow.read(realmId, async (reads) => {
      const known = await reads.importedRecords.list(realmId, 'file', [recordId]);
      const record = known.find(({ batchId }) => batchId === id);
      const file = record && (await reads.files.find(realmId, record.targetId as FileId));
      return file ? { file, isNew: false } : null;
    });
  }

  /** Returns null if the bytes are missing. */
  private async store(
    uow: UnitOfWork,
    { id: batchId, realmId }: ImportBatch,
    { senderId: ownerId }: Message,
    { recordId, open, ...file }: LateFile,
  ): Promise<{ readonly file: StoredFile; readonly isNew: boolean } | null> {
    const content = await open();
    if (!content) return null;
    const key = newBlobKey(this.randomness);
    const size = await this.blobs.put(key, content);
    const name = nameOfFile(file.name);
    const { contentType } = file;
    const prepared = await this.thumbnails.prepare({ realmId, ownerId, blob: key, size, contentType });
    const digits = `${this.randomness.uuid()}${this.randomness.uuid()}`.replaceAll('-', '');
    const pathId = pathIdOf(realmId, name, digits);
    return uow.write(realmId, async (tx) => {
      const row = { realmId, ownerId, name, pathId, size, contentType, ...prepared, createdAt: this.clock.now() };
      const added = await tx.files.add(row);
      if (added.image) await scheduleThumbnails(tx, added, this.clock);
      const origin = { kind: 'file', recordId, hash: '' } as const;
      await tx.importedRecords.put(realmId, [{ ...origin, batchId, targetId: added.id, editedAt: null, reactions: 0 }]);
      return { file: added, isNew: true };
    });
  }

  /** Returns false if the message has changed in the meantime, or has no room for links to files that it names in code. */
  private async show(
    uow: UnitOfWork,
    { realmId }: ImportBatch,
    { message: before, record }: Waiting,
    { content, files }: { readonly content: string; readonly files: readonly LinkedFile[] },
  ): Promise<boolean> {
    let text = await this.texts.parse(uow, realmId, content);
    for (const { path, append } of files) {
      if (text === null || text.parsed.references.uploadPaths.has(path)) continue;
      const longer = append(text.content, urlOf(path));
      if (longer === null) return false;
      text = await this.texts.parse(uow, realmId, longer);
    }
    if (text === null) return false;
    return uow.write(realmId, (tx) => this.replace(tx, { message: before, record }, text, files));
  }

  private async replace(
    tx: Transaction,
    { message: before, record }: Waiting,
    text: ParsedText,
    files: readonly LinkedFile[],
  ): Promise<boolean> {
    const { realmId } = before;
    const [message] = await tx.messages.list(realmId, [before.id]);
    if (message?.content !== before.content) return false;
    // The sender may be a placeholder, or may not be able to read a file that another message has already.
    const attached = new Set(await tx.files.listIdsOfMessage(realmId, message.id));
    const added = new Set(files.flatMap(({ id }) => (attached.has(id) ? [] : id)));
    await attachFiles(tx, message, [...added]);
    const editedAt = this.clock.now();
    const { channel, rendered } = await this.texts.replace(tx, message, text, editedAt);
    await tx.importedRecords.put(realmId, [{ ...record, editedAt }]);
    const edit = { content: text.content, rendered };
    await announceUpdate(tx, { id: message.senderId, realmId }, { message, channel, move: null, edit, editedAt });
    return true;
  }
}

/** Returns null if the message has its files already or was never imported. */
async function findWaiting(
  { importedRecords, messages }: Pick<Repositories, 'importedRecords' | 'messages'>,
  { id: batchId, realmId }: ImportBatch,
  { recordId, files }: LateMessage,
): Promise<Waiting | 'changed' | null> {
  const records = await importedRecords.list(realmId, 'message', [recordId]);
  const record = records.find((one) => one.batchId === batchId);
  if (!record) return null;
  const [message] = await messages.list(realmId, [record.targetId as MessageId]);
  if (!message || (message.lastEditedAt ?? null) !== record.editedAt) return 'changed';
  return files.some(({ link }) => link(message.content, '') !== null) ? { message, record } : null;
}
