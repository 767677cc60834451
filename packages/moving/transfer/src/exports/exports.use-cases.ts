import {
  EXPIRE_EXPORT,
  type ExportLimits,
  type ExportPayload,
  type ExportType,
  type ExportView,
  exportPath,
  KEEP_ARCHIVE_SECONDS,
  MAX_LISTED_EXPORTS,
  publishExports,
  RENEW_LEASE_MS,
  type RealmExport,
  removeArchive,
  requireArchive,
  requireExportable,
  requireRoomForExport,
  viewOfExport,
  WRITE_EXPORT,
} from '@parley/domain/exports';
import { type BlobContent, type BlobKey, type BlobStore, type ByteRange, pathIdOf } from '@parley/domain/files';
import {
  type Caller,
  type Clock,
  DomainError,
  type EventLoop,
  type ExportId,
  encodeJob,
  enforce,
  type Job,
  type JobHandler,
  type JobWork,
  lastOf,
  type Randomness,
  type RealmId,
  type RealmUrls,
  type RenewLease,
  type Repositories,
  slicesOf,
  type Timers,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
  YieldingWork,
} from '@parley/domain/kernel';
import { canExport, canExportWithoutConsent, type Realm, type UserSettings } from '@parley/domain/realms';
import { SystemMessages } from '@parley/domain/writing';
import type { ArchiveWriter } from './archive-writer.js';
import { RealmReader } from './read-realm.js';
import { type ExportScope, isChannelCovered } from './realm-copy.js';

/** Ratio of pause to work, which leaves a quarter of the event loop's time to exports. */
const REST_FACTOR = 3;

/**
 * Returns a function for steps of a job that writes an archive. It rests, so that requests are served in between, and
 * renews the lease. It fails if another process has taken the job.
 */
export function restingWork(timers: Timers, eventLoop: EventLoop, renewLease: RenewLease): () => Promise<void> {
  const work = new YieldingWork(timers, eventLoop, REST_FACTOR);
  let renewedAt = timers.elapsedMs();
  return async () => {
    await work.rest();
    if (timers.elapsedMs() - renewedAt < RENEW_LEASE_MS) return;
    renewedAt = timers.elapsedMs();
    if (!(await renewLease())) throw new Error('Another process is creating the export');
  };
}

/** Archives of exports, written to the blob store. */
export class ExportArchives {
  static readonly inject = [RealmReader, 'archiveWriter', 'blobStore', 'timers', 'eventLoop', 'randomness'] as const;
  constructor(
    private readonly reader: RealmReader,
    private readonly writer: ArchiveWriter,
    private readonly blobs: BlobStore,
    private readonly timers: Timers,
    private readonly eventLoop: EventLoop,
    private readonly randomness: Randomness,
  ) {}

  /** Removes what an interrupted attempt left. */
  clean(id: ExportId): Promise<void> {
    return this.writer.clean(id);
  }

  async write(
    { id, realmId }: RealmExport,
    scope: ExportScope,
    renewLease: RenewLease,
  ): Promise<{ readonly blob: BlobKey; readonly size: number }> {
    const blob = this.randomness.uuid().replaceAll('-', '') as BlobKey;
    const source = await this.reader.open(realmId, scope);
    const rest = restingWork(this.timers, this.eventLoop, renewLease);
    return { blob, size: await this.blobs.put(blob, this.writer.write(id, source, rest)) };
  }
}

/** Creates the archives requested by administrators (organization §8), a few messages at a time. */
export class WriteRealmExport implements JobHandler<ExportPayload> {
  static readonly inject = ['unitOfWork', ExportArchives, SystemMessages, 'realmUrls', 'clock'] as const;

  readonly kind = WRITE_EXPORT;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly archives: ExportArchives,
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload, attempt }: Job<ExportPayload>, renewLease: RenewLease): Promise<JobWork> {
    const found = await this.uow.read(realmId, ({ exports }) => exports.find(realmId, payload.exportId));
    if (found?.state.status !== 'pending') return async () => {};
    await this.archives.clean(found.id);
    // Attempts that ended in a crash also count.
    if (attempt > this.kind.retries.maxAttempts) throw new DomainError('EXPORT_FAILED', 'It was given up too often.');
    const scope = await this.scopeOf(realmId, found.type);
    const { blob, size } = await this.archives.write(found, scope, renewLease);
    // If the transaction fails, the sweep removes the bytes.
    return (tx) => this.complete(tx, found, blob, size);
  }

  async giveUp(tx: Transaction, { realmId, payload }: Job<ExportPayload>): Promise<void> {
    const found = await tx.exports.find(realmId, payload.exportId);
    if (found?.state.status !== 'pending') return;
    await tx.exports.update({ ...found, state: { status: 'failed', at: this.clock.now() } });
    await publishExports(tx, realmId, found.actingUserId);
  }

  private async scopeOf(realmId: RealmId, type: RealmExport['type']): Promise<ExportScope> {
    if (type === 'withoutConsent') return { covers: 'all' };
    return { covers: type === 'public' ? new Set() : await this.consenting(realmId) };
  }

  /** Returns the consenting users and their bots. */
  private consenting(realmId: RealmId): Promise<ReadonlySet<UserId>> {
    return this.uow.read(realmId, async (reads) => {
      const ids = (await reads.users.listEntries(realmId)).map(({ id }) => id);
      const consenting = new Set<UserId>();
      const owners = new Map<UserId, UserId>();
      for (const { id, bot, settings } of await reads.users.list(realmId, ids)) {
        if (bot) {
          if (bot.ownerId !== null) owners.set(id, bot.ownerId);
        } else if (settings.allowPrivateDataExport) consenting.add(id);
      }
      for (const [botId, ownerId] of owners) if (consenting.has(ownerId)) consenting.add(botId);
      return consenting;
    });
  }

  private async complete(tx: Transaction, newExport: RealmExport, blob: BlobKey, size: number): Promise<void> {
    const { id, realmId, actingUserId } = newExport;
    const state = { status: 'complete', blob, size } as const;
    await tx.exports.update({ ...newExport, state });
    const dueAt = this.clock.now() + KEEP_ARCHIVE_SECONDS;
    await tx.jobs.schedule(encodeJob(EXPIRE_EXPORT, { realmId, dueAt, key: String(id), payload: { exportId: id } }));
    await publishExports(tx, realmId, actingUserId);
    const realm = await tx.realms.get(realmId);
    const person = await tx.users.find(realmId, actingUserId);
    if (!person?.isActive) return;
    const url = `${this.realmUrls.urlOf(realm)}${exportPath({ pathId: newExport.pathId, state })}`;
    const content = `Your data export is complete. [Download the archive](${url}), or see all exports in the organization's settings.`;
    // The message links only to the server itself, so no author's access is needed.
    await this.systemMessages.sendDirect(tx, realm, person, content, { actor: null });
  }
}

const RECIPIENTS_AT_A_TIME = 1000;
/** Delay that lets clients receive the pending event before the completion event. */
const BEGIN_AFTER_SECONDS = 1;

/** Requests an archive of the organization, which the server creates in the background (organization §8). */
export class RequestExport {
  static readonly inject = ['unitOfWork', 'exportLimits', 'clock', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly limits: ExportLimits,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, MUST_BE_OWNER, NOT_PERMITTED, TOO_MANY_EXPORTS, EXPORT_TOO_LARGE */
  async execute(caller: Caller, { type }: { readonly type: ExportType }): Promise<{ readonly id: ExportId }> {
    const now = this.clock.now();
    await this.uow.read(caller.realmId, async (reads) => {
      const actor = await reads.actors.get(caller);
      enforce(canExport(actor));
      const realm = await reads.realms.get(actor.realmId);
      if (type === 'withoutConsent') enforce(canExportWithoutConsent(actor, realm));
      requireRoomForExport(await reads.exports.list(realm.id), now);
      const bytes = (await reads.files.usedBytes(realm.id)) + (await reads.pictures.usedBytes(realm.id));
      requireExportable(this.limits, { messages: await countMessages(reads, realm, type, this.limits), bytes });
    });
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canExport(actor));
      const realm = await tx.realms.get(actor.realmId);
      if (type === 'withoutConsent') enforce(canExportWithoutConsent(actor, realm));
      const earlier = await tx.exports.list(realm.id);
      requireRoomForExport(earlier, now);
      for (const { id } of earlier.slice(0, Math.max(0, earlier.length + 1 - MAX_LISTED_EXPORTS))) {
        await tx.exports.remove(realm.id, id);
      }
      const { id } = await tx.exports.add({
        realmId: realm.id,
        actingUserId: actor.id,
        type,
        requestedAt: now,
        pathId: this.newPath(realm),
        state: { status: 'pending' },
      });
      const job = { realmId: realm.id, dueAt: now + BEGIN_AFTER_SECONDS, key: String(id), payload: { exportId: id } };
      await tx.jobs.schedule(encodeJob(WRITE_EXPORT, job));
      await publishExports(tx, realm.id, actor.id);
      return { id };
    });
  }

  private newPath({ id, stringId }: Realm): string {
    const digits = `${this.randomness.uuid()}${this.randomness.uuid()}`.replaceAll('-', '');
    return pathIdOf(id, `${stringId === '' ? 'parley' : stringId}.tar.gz`, digits);
  }
}

/** Counts the messages ever sent in the scope, including deleted ones, and stops at the limit. */
async function countMessages(
  reads: Repositories,
  realm: Realm,
  type: ExportType,
  { maxMessages }: ExportLimits,
): Promise<number> {
  const scope = { covers: type === 'public' ? new Set<never>() : ('all' as const) };
  const channels = (await reads.channels.listAll(realm.id)).filter((channel) => isChannelCovered(channel, scope, []));
  let count = 0;
  for (const slice of slicesOf(channels, RECIPIENTS_AT_A_TIME)) {
    count += await reads.copies.countSentTo(
      realm.id,
      slice.map(({ recipientId }) => recipientId),
    );
  }
  if (type === 'public') return count;
  for (let after = 0; count <= maxMessages; ) {
    const ids = await reads.recipients.listDirect(realm.id, after, RECIPIENTS_AT_A_TIME);
    count += await reads.copies.countSentTo(realm.id, ids);
    if (ids.length < RECIPIENTS_AT_A_TIME) break;
    after = lastOf(ids);
  }
  return count;
}

/** Lists all exports of the organization by ascending id (organization §8). */
export class ListExports {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller): Promise<readonly ExportView[]> {
    return this.uow.read(caller.realmId, async ({ actors, exports }) => {
      const actor = await actors.get(caller);
      enforce(canExport(actor));
      return (await exports.list(actor.realmId)).map(viewOfExport);
    });
  }
}

/** Lists existing archives that were requested up to a time, such as that of an erasure, by ascending id. */
export class ListEarlierExports {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute(realmId: RealmId, until: UnixSeconds): Promise<readonly RealmExport[]> {
    const all = await this.uow.read(realmId, ({ exports }) => exports.list(realmId));
    return all.filter(({ state, requestedAt }) => state.status === 'complete' && requestedAt <= until);
  }
}

/** Archive that can be read in full or in part. */
export interface ReadableArchive {
  readonly name: string;
  readonly contentType: string;
  readonly blob: BlobKey;
  /** Size in bytes. */
  readonly size: number;
  read(range: ByteRange): BlobContent;
}

/** Opens the archive of an export for any holder of its unguessable URL (organization §8). */
export class ReadExport {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * `realmId`: realm of the requested host; null if there is none. Returns null if there is no archive or it was
   * removed.
   */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { pathId }: { readonly pathId: string },
  ): Promise<ReadableArchive | null> {
    const found = realmId && (await this.uow.read(realmId, ({ exports }) => exports.findByPath(realmId, pathId)));
    if (found?.state.status !== 'complete') return null;
    const { blob, size } = found.state;
    const name = pathId.slice(pathId.lastIndexOf('/') + 1);
    return { name, contentType: 'application/gzip', blob, size, read: (range) => this.blobs.read(blob, range) };
  }
}

/** Deletes the archive of an export but keeps its record (organization §8). */
export class DeleteExport {
  static readonly inject = ['unitOfWork', 'blobStore', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_EXPORT, EXPORT_DELETED, EXPORT_FAILED, EXPORT_IN_PROGRESS */
  async execute(caller: Caller, { id }: { readonly id: ExportId }): Promise<void> {
    const blob = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canExport(actor));
      const found = await tx.exports.find(actor.realmId, id);
      if (!found) throw new DomainError('UNKNOWN_EXPORT', 'Invalid data export ID');
      const archive = requireArchive(found);
      await removeArchive(tx, found, this.clock.now());
      return archive;
    });
    // The archive is no longer reachable. If the removal fails, the sweep removes the bytes.
    await this.blobs.remove(blob).catch(() => undefined);
  }
}

/** Consent of a user to exports of their private data. */
export interface ExportConsent {
  readonly userId: UserId;
  readonly isGiven: boolean;
  readonly emailAddressVisibility: UserSettings['emailAddressVisibility'];
}

/** Lists active human users by ascending id (organization §8). */
export class ListExportConsents {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller): Promise<readonly ExportConsent[]> {
    return this.uow.read(caller.realmId, async (reads) => {
      const actor = await reads.actors.get(caller);
      enforce(canExport(actor));
      const ids = (await reads.users.listEntries(actor.realmId)).map(({ id }) => id);
      const consents: ExportConsent[] = [];
      for (const { id, isActive, bot, settings } of await reads.users.list(actor.realmId, ids)) {
        if (!isActive || bot) continue;
        const { allowPrivateDataExport: isGiven, emailAddressVisibility } = settings;
        consents.push({ userId: id, isGiven, emailAddressVisibility });
      }
      return consents;
    });
  }
}
