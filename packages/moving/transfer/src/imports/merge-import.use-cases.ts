import { unsubscribeFromChannels } from '@parley/domain/channels';
import {
  beginBatch,
  type ImportBatch,
  importRunning,
  requireNoUndo,
  requireRequester,
  restartClients,
  unitsOf,
} from '@parley/domain/exports';
import type { FileLimits } from '@parley/domain/files';
import {
  lastOf,
  type RealmId,
  type RecipientId,
  slicesOf,
  type Transaction,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import type { MergeSource } from '../exports/realm-copy.js';
import { areRemembered, CreatedRecords, rememberExport } from './created-records.js';
import { type AppliedChanges, ImportChanges } from './import-changes.js';
import { ImportedIds, TopicLinks } from './import-ids.js';
import { MemberImport, rememberGroupMembers } from './import-members.js';
import { type AddedMessage, FileImport, MessageImport, type PageOptions } from './import-messages.js';
import { ImportedPictures, PictureImport } from './import-people.js';
import { ImportPorts } from './import-ports.js';
import { type OnAdded, StructureImport } from './import-structure.js';
import { ImportedTexts } from './imported-texts.js';
import { OrdinalRuns } from './ordinal-runs.js';

export interface MergeImportInput {
  readonly realmId: RealmId;
  readonly source: MergeSource;
  /** Owner who uploaded the export, within the limits of uploads; absent for the operator. */
  readonly requesterId?: UserId | null;
  /** Called periodically with the number of imported messages. */
  readonly onProgress?: (messages: number) => void;
}

export interface MergeImportOutput {
  /** Null if the organization has everything already. */
  readonly batch: ImportBatch | null;
  readonly users: number;
  readonly channels: number;
  readonly messages: number;
  readonly changes: AppliedChanges;
}

/** A unit of messages takes about 4 ms and others at most 50 ms, to limit the delay of other writes. */
const MESSAGES_AT_A_TIME = 40;
const PEOPLE_AT_A_TIME = 100;
const NO_CHANGES: AppliedChanges = { changed: 0, deleted: 0, kept: 0, keptMessages: [] };

/**
 * Imports new objects into an existing organization while people use it, without notifications. Messages arrive as
 * read, except after the source's read positions in new channels. New channels stay hidden until they are complete. A
 * killed import continues when it is repeated.
 */
export class MergeImport {
  static readonly inject = [ImportPorts, 'fileLimits', ImportedTexts] as const;
  constructor(
    private readonly ports: ImportPorts,
    private readonly fileLimits: FileLimits,
    private readonly texts: ImportedTexts,
  ) {}

  /**
   * @throws DomainError INVALID_IMPORT, IMPORT_CANCELLED, IMPORT_RUNNING, UNDO_UNFINISHED; for requesters also
   * MUST_BE_OWNER, UPLOAD_QUOTA_EXCEEDED, OWN_UPLOAD_QUOTA_EXCEEDED, TOO_MANY_FILES
   */
  async execute({
    realmId,
    source,
    requesterId = null,
    onProgress = () => {},
  }: MergeImportInput): Promise<MergeImportOutput> {
    const { users, channels } = source.realm;
    const range = await source.messageRange();
    const isNothing =
      range === null &&
      users.length === 0 &&
      source.published.length === 0 &&
      !source.hasChanges &&
      source.memberChanges.length === 0 &&
      source.groupChanges.length === 0 &&
      source.existing.batches.every(({ status }) => status !== 'running') &&
      (await areRemembered(this.ports.uow, realmId, source.origins));
    if (isNothing) return { batch: null, users: 0, channels: 0, messages: 0, changes: NO_CHANGES };
    const batch = await this.begin(realmId, source, requesterId);
    const uow = unitsOf(this.ports.uow, batch, requesterId);
    const ids = idsOf(realmId, source);
    const records = new CreatedRecords(batch, ids, source.origins);
    const made = new ImportedPictures(this.ports);
    const pictures = new PictureImport(uow, made, ids, source);
    await ids.messages.reserve(uow, source);
    const onAdded: OnAdded = async (tx, kind, added) => {
      await records.onAdded(tx, kind, added);
      const groups = kind === 'group' ? source.realm.groups.filter(({ id }) => added.includes(id)) : [];
      await rememberGroupMembers(tx, batch, ids, groups);
    };
    await new StructureImport(uow, this.ports.mint, ids, [], onAdded).merge(source.realm, this.ports.clock.now());
    await pictures.addCustomEmoji();
    await pictures.addAvatars();
    await records.rememberOthers(uow);
    const existing = new Set(source.existing.channels);
    for (const channel of source.published) {
      if (!existing.has(channel.id)) continue;
      // The channel is a part of this import now, and of its undo.
      await uow.write(realmId, (tx) => records.onAdded(tx, 'channel', [channel.id]));
      await this.unsubscribeOthers(uow, ids, channel);
    }
    const members = new MemberImport(uow, batch, ids);
    await members.apply(source);
    const runs = new OrdinalRuns();
    const limits = requesterId === null ? null : this.fileLimits;
    const files = new FileImport(uow, this.ports, limits, ids, source);
    const topicLinks = new TopicLinks(this.ports.renderer, source.realm.linkifiers);
    const importer = new MessageImport(uow, ids, source, runs, topicLinks, batch);
    const messages = await this.addMessages(importer, batch, ids, files, source, onProgress);
    const changes = await new ImportChanges(uow, batch, ids, files, this.texts, this.ports.clock).apply(source);
    for (const channel of source.published) await this.publish(uow, ids, members, runs, channel);
    await this.complete(uow, batch, source);
    return { batch, users: users.length, channels: channels.length, messages, changes };
  }

  /** Continues a killed import of the same source, or one that runs, which ends it. */
  private begin(
    realmId: RealmId,
    { origins, existing }: MergeSource,
    requesterId: UserId | null,
  ): Promise<ImportBatch> {
    const { source } = origins;
    return this.ports.uow.write(realmId, async (tx) => {
      await requireRequester(tx, realmId, requesterId);
      const all = await tx.importBatches.list(realmId);
      requireNoUndo(all);
      const batches = all.filter((batch) => batch.source === source);
      // A copy made from an older state could contain messages that exist by now.
      if (stateOf(batches) !== stateOf(existing.batches)) throw importRunning(source);
      const running = batches.find(({ status }) => status === 'running');
      const startedAt = this.ports.clock.now();
      if (!running) return beginBatch(tx, { realmId, source, startedAt, createdRealm: false }, requesterId);
      // An owner continues nobody else's import, and objects of one that the operator continues are the operator's.
      if (requesterId !== null && running.requesterId !== requesterId) throw importRunning(source);
      const continued = { ...running, requesterId, version: running.version + 1 };
      await tx.importBatches.update(continued);
      return continued;
    });
  }

  private addMessages(
    importer: MessageImport,
    { id, realmId }: ImportBatch,
    ids: ImportedIds,
    files: FileImport,
    source: MergeSource,
    onProgress: (messages: number) => void,
  ): Promise<number> {
    const participants = new Map(
      source.realm.conversations.map(({ recipientId, userIds }) => [recipientId, ids.users.list(userIds)]),
    );
    const prepare: PageOptions['prepare'] = async (page) => {
      const addFiles = await files.prepare(source.filesOf(page.map(({ message }) => message.id)));
      return async (tx, added) => {
        const stored = (await tx.importBatches.find(realmId, id))!;
        const messages = stored.messages + added.length;
        await tx.importBatches.update({ ...stored, messages, lastMessageId: lastOf(added).id });
        await addFiles(tx);
        await markRead(tx, ids, participants, added);
      };
    };
    return importer.run(onProgress, { pageSize: MESSAGES_AT_A_TIME, prepare });
  }

  /** Unsubscribes people who are not members in the source from a channel of an undone import. */
  private async unsubscribeOthers(
    uow: UnitOfWork,
    ids: ImportedIds,
    { id, members }: MergeSource['published'][number],
  ): Promise<void> {
    const { realmId } = ids;
    const channelId = ids.channels.get(id);
    const subscribers = await uow.read(realmId, ({ channels }) => channels.listSubscribers(realmId, [channelId]));
    const staying = new Set(ids.users.list(members));
    const others = (subscribers.get(channelId) ?? []).filter((userId) => !staying.has(userId));
    for (const slice of slicesOf(others, PEOPLE_AT_A_TIME)) {
      await uow.write(realmId, async (tx) =>
        unsubscribeFromChannels(tx, await tx.channels.list(realmId, [channelId]), slice),
      );
    }
  }

  /** Subscribes the members of a complete channel and makes it visible. */
  private async publish(
    uow: UnitOfWork,
    ids: ImportedIds,
    memberImport: MemberImport,
    runs: OrdinalRuns,
    { id, members, privacy, isArchived }: MergeSource['published'][number],
  ): Promise<void> {
    const { realmId } = ids;
    const channelId = ids.channels.get(id);
    await memberImport.subscribe(channelId, ids.users.list(members), runs);
    await uow.write(realmId, async (tx) => {
      const channel = await tx.channels.get(realmId, channelId);
      const [firstMessageId = null] = await tx.messages.listOldestIds(realmId, channel.recipientId, 1);
      await tx.channels.update({ ...channel, privacy, isArchived, firstMessageId });
    });
  }

  private complete(uow: UnitOfWork, batch: ImportBatch, { origins }: MergeSource): Promise<void> {
    const { id, realmId } = batch;
    const complete = async (tx: Transaction) => {
      await tx.importBatches.update({ ...(await tx.importBatches.find(realmId, id))!, status: 'complete' });
      await rememberExport(tx, batch, origins);
    };
    return restartClients(this.ports.uow, realmId, complete, uow);
  }
}

/** Returns a text that changes with every unit of work of an import or undo. */
const stateOf = (batches: readonly ImportBatch[]): string =>
  batches.map(({ id, status, version }) => `${id} ${status} ${version}`).join();

function idsOf(realmId: RealmId, source: MergeSource): ImportedIds {
  const ids = new ImportedIds(realmId, source);
  const { users, groups, channels, recipients, emoji, channelFolders, lastMessageId } = source.existing;
  ids.users.keep(users);
  ids.groups.keep(groups);
  ids.channels.keep(channels);
  ids.recipients.keep(recipients);
  ids.emoji.keep(emoji);
  ids.messages.keepUpTo(lastMessageId);
  ids.keep('channelFolder', channelFolders);
  return ids;
}

/**
 * Marks messages in new direct conversations as read by the participants, unless a read position of the source says
 * otherwise. Messages in existing conversations arrive read, and `subscribe` marks those in new channels.
 * @param participants by recipient in the copy
 */
async function markRead(
  tx: Transaction,
  ids: ImportedIds,
  participants: ReadonlyMap<RecipientId, readonly UserId[]>,
  added: readonly AddedMessage[],
): Promise<void> {
  const runs = new OrdinalRuns();
  const readers = new Set<UserId>();
  for (const { recipientId, ordinal, copy } of added) {
    const unread = new Set(copy.holders.filter(({ flags }) => !flags.read).map(({ userId }) => ids.users.get(userId)));
    for (const userId of participants.get(copy.message.recipientId) ?? []) {
      if (unread.has(userId)) continue;
      runs.to(recipientId).add(userId, ordinal, true);
      readers.add(userId);
    }
  }
  for (const userId of readers) {
    for (const [recipientId, { read }] of runs.of(userId, [])) {
      await tx.copies.putReceived({ realmId: ids.realmId, userId }, recipientId, [], read);
    }
  }
}
