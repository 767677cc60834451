import {
  digestOfReactions,
  IMPORTED_MESSAGE_KINDS,
  type ImportBatch,
  type ImportedRecord,
  recordsFrom,
} from '@parley/domain/exports';
import {
  type Clock,
  getOrThrow,
  type MessageId,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
} from '@parley/domain/kernel';
import { listReadableEntries, type Message } from '@parley/domain/messages';
import { deleteMessages } from '@parley/domain/writing';
import type { MergeSource, MessageCopy } from '../exports/realm-copy.js';
import type { ImportedIds } from './import-ids.js';
import type { FileImport } from './import-messages.js';
import type { ImportedTexts, ParsedText } from './imported-texts.js';
import { changeSinceImport, countKept, type KeepReason, type KeptMessage } from './undo-import.use-cases.js';

export interface AppliedChanges {
  readonly changed: number;
  readonly deleted: number;
  /** Number of messages that are left unchanged because people changed them in Parley, or the owner cannot read them. */
  readonly kept: number;
  /** Limited to `MAX_LISTED_MESSAGES`. */
  readonly keptMessages: readonly KeptMessage<KeepReason | 'private'>[];
}

const RECORDS_AT_A_TIME = 20;
/** Digest of messages that were deleted in the source, but kept. */
export const DELETED_HASH = 'deleted';

/** Applies edits, reactions and deletions in the source to messages of earlier imports. */
export class ImportChanges {
  private readonly counts = {
    changed: 0,
    deleted: 0,
    kept: 0,
    keptMessages: [] as KeptMessage<KeepReason | 'private'>[],
  };

  constructor(
    private readonly uow: UnitOfWork,
    private readonly batch: ImportBatch,
    private readonly ids: ImportedIds,
    private readonly files: FileImport,
    private readonly texts: ImportedTexts,
    private readonly clock: Clock,
  ) {}

  async apply(source: MergeSource): Promise<AppliedChanges> {
    for await (const page of source.changed()) {
      for (const copy of page) await this.change(copy, await this.files.prepare(source.filesOf([copy.message.id])));
    }
    for await (const page of source.deleted()) {
      for (const slice of slicesOf(page, RECORDS_AT_A_TIME)) await this.remove(slice);
    }
    return this.counts;
  }

  private async change(copy: MessageCopy, addFiles: (tx: Transaction) => Promise<void>): Promise<void> {
    const { realmId } = this.batch;
    const kept = await this.withKeptFiles(copy);
    const outcome = await this.uow.write(realmId, async (tx) => {
      const [record] = await recordsOf(tx, this.batch, [copy.origin!.recordId]);
      const [message] = await tx.messages.list(realmId, [copy.message.id]);
      if (!record) return null;
      const { hash } = copy.origin!;
      // Kept messages get the new digest too, so that the next import skips them.
      await tx.importedRecords.put(realmId, [{ ...record, hash }]);
      if (!message) return null;
      const reason = await this.reasonToKeep(tx, message, record);
      if (reason !== null) return { message, reason };
      await this.replaceText(tx, message, copy, { addFiles, kept });
      const reactions = await this.replaceReactions(tx, message, copy);
      const [stored] = await tx.messages.list(realmId, [message.id]);
      const editedAt = stored!.lastEditedAt ?? null;
      await tx.importedRecords.put(realmId, [{ ...record, hash, editedAt, reactions }]);
      return 'changed';
    });
    if (outcome === 'changed') this.counts.changed++;
    else if (outcome) countKept(this.counts, outcome.message, outcome.reason);
  }

  /** Returns null if the import may change the message. */
  private async reasonToKeep(
    tx: Transaction,
    message: Message,
    record: ImportedRecord,
  ): Promise<KeepReason | 'private' | null> {
    const { realmId, requesterId: userId } = this.batch;
    if (userId !== null) {
      const actor = await tx.actors.get({ realmId, userId });
      if ((await listReadableEntries(tx, actor, [message.id], [])).length === 0) return 'private';
    }
    return changeSinceImport(tx, message, record);
  }

  /** Returns the new text with links to files that the newer export lacks. Returns null if it lacks none. */
  private async withKeptFiles({ message: { id, content }, keepFiles }: MessageCopy): Promise<ParsedText | null> {
    if (!keepFiles) return null;
    const { realmId } = this.batch;
    const [message] = await this.uow.read(realmId, ({ messages }) => messages.list(realmId, [id]));
    const text = this.ids.rewriter.markdown(content);
    const kept = message ? keepFiles(text, message.content) : text;
    return kept === text ? null : this.texts.parse(this.uow, realmId, kept);
  }

  private async replaceText(
    tx: Transaction,
    message: Message,
    copy: MessageCopy,
    { addFiles, kept }: { readonly addFiles: (tx: Transaction) => Promise<void>; readonly kept: ParsedText | null },
  ): Promise<void> {
    const { realmId, id } = message;
    const { isMeMessage, mentionsChannel, hasLink, hasImage, hasAttachment, lastEditedAt } = copy.message;
    const content = kept?.content ?? this.ids.rewriter.markdown(copy.message.content);
    if (withoutPaths(content) === withoutPaths(message.content)) return;
    const editedAt = Math.max(lastEditedAt ?? this.clock.now(), message.lastEditedAt ?? 0) as UnixSeconds;
    const previousContent = { content: message.content, rendered: message.renderedContent };
    // The author may never have seen the new text.
    const { id: userId } = await tx.users.findSystemBot(realmId, 'notification');
    await tx.copies.putEdits(realmId, id, [{ userId, editedAt, previousContent, topic: null, channel: null }]);
    if (kept) {
      await addFiles(tx);
      await this.texts.replace(tx, message, kept, editedAt);
      return;
    }
    const renderedContent = this.ids.rewriter.html(copy.message.renderedContent);
    const text = { content, renderedContent, isMeMessage, mentionsChannel, hasLink, hasImage, hasAttachment };
    await tx.messages.edit(realmId, id, { ...text, editedAt, exceptions: new Map() });
    await tx.files.detachAll(realmId, [id], this.clock.now());
    await addFiles(tx);
  }

  /** Returns the digest of the new reactions. */
  private async replaceReactions(tx: Transaction, { realmId, id }: Message, copy: MessageCopy): Promise<number> {
    const [view] = await tx.pages.listViews(realmId, [id]);
    const present = view?.reactions ?? [];
    const wanted = copy.reactions.map(({ userId, ...emoji }) => ({
      ...this.ids.emojiOf(emoji),
      userId: this.ids.users.get(userId),
    }));
    const has = (all: typeof wanted, { userId, type, code }: (typeof wanted)[number]) =>
      all.some((other) => other.userId === userId && other.type === type && other.code === code);
    for (const reaction of present) {
      if (!has(wanted, reaction)) await tx.reactions.remove(realmId, id, reaction, reaction.userId);
    }
    for (const reaction of wanted) if (!has([...present], reaction)) await tx.reactions.add(realmId, id, reaction);
    return digestOfReactions(wanted);
  }

  /** Removes messages with the lines about them. */
  private async remove(recordIds: readonly string[]): Promise<void> {
    const { realmId } = this.batch;
    const { kept, count } = await this.uow.write(realmId, async (tx) => {
      const records = await recordsOf(tx, this.batch, recordIds);
      const byId = new Map(records.map((record) => [record.targetId, record]));
      const messages = await tx.messages.list(realmId, [...byId.keys()] as MessageId[]);
      const kept: {
        readonly message: Message;
        readonly record: ImportedRecord;
        readonly reason: KeepReason | 'private';
      }[] = [];
      for (const message of messages) {
        const record = getOrThrow(byId, message.id);
        const reason = await this.reasonToKeep(tx, message, record);
        if (reason === null) await this.delete(tx, message);
        else kept.push({ message, record, reason });
      }
      const keptRecords = new Set(kept.map(({ record }) => record));
      await tx.importedRecords.put(
        realmId,
        [...keptRecords].map((record) => ({ ...record, hash: DELETED_HASH })),
      );
      await tx.importedRecords.remove(
        realmId,
        records.filter((record) => !keptRecords.has(record)),
      );
      return { kept, count: messages.length - kept.length };
    });
    this.counts.deleted += count;
    for (const { message, reason } of kept) countKept(this.counts, message, reason);
  }

  private async delete(tx: Transaction, message: Message): Promise<void> {
    const { realmId, channelId } = message;
    const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
    const deletedAt = this.clock.now();
    await deleteMessages(tx, { realmId, deletedBy: null, deletedAt, channel, messages: [message] });
  }
}

/** Removes the paths of files, because every import assigns new ones. */
const withoutPaths = (text: string): string => text.replace(/\/user_uploads\/[^)\s]*/g, '');

/** Returns the messages that came from records, with the lines about them. */
async function recordsOf(
  tx: Transaction,
  batch: ImportBatch,
  recordIds: readonly string[],
): Promise<readonly ImportedRecord[]> {
  const all: ImportedRecord[] = [];
  for (const kind of IMPORTED_MESSAGE_KINDS) {
    if (kind !== 'pins') all.push(...(await recordsFrom(tx, batch, kind, recordIds)));
  }
  return all;
}
