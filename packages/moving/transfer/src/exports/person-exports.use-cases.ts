import {
  canExportPerson,
  EXPIRE_PERSON_EXPORT,
  type ExportLimits,
  KEEP_COPY_SECONDS,
  PERSON_EXPORT_SECONDS,
  type PersonExport,
  type PersonExportId,
  type PersonExportPayload,
  requireExportable,
  requireRoomForCopy,
  WRITE_PERSON_EXPORT,
} from '@parley/domain/exports';
import type { BlobKey, BlobStore } from '@parley/domain/files';
import {
  type Caller,
  type Clock,
  DomainError,
  type EventLoop,
  encodeJob,
  enforce,
  type Job,
  type JobHandler,
  type JobWork,
  type Randomness,
  type RenewLease,
  type Repositories,
  type Timers,
  type Transaction,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import { type OwnPassword, PasswordCheck, requireRecentLogIn, type User } from '@parley/domain/users';
import { SystemMessages } from '@parley/domain/writing';
import type { ArchiveWriter } from './archive-writer.js';
import { type ReadableArchive, restingWork } from './exports.use-cases.js';
import { PersonReader } from './read-person.js';

/** Copy of a person's data as shown to its requester. */
export interface PersonExportView {
  readonly id: PersonExportId;
  readonly personId: UserId;
  readonly requestedAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  /** Earliest time of the next request. */
  readonly nextAt: UnixSeconds;
  readonly status: 'pending' | 'complete' | 'failed';
  /** Size of the archive in bytes; 0 unless complete. */
  readonly size: number;
}

function viewOf({ id, personId, requestedAt, blob, size, failedAt }: PersonExport): PersonExportView {
  const status = blob !== null ? 'complete' : failedAt !== null ? 'failed' : 'pending';
  const [expiresAt, nextAt] = [requestedAt + KEEP_COPY_SECONDS, requestedAt + PERSON_EXPORT_SECONDS];
  return { id, personId, requestedAt, expiresAt, nextAt, status, size };
}

/** @throws DomainError UNKNOWN_USER, MUST_BE_OWNER, EXPORT_WITHOUT_CONSENT */
async function loadExportedPerson(reads: Repositories, caller: Caller, personId: UserId): Promise<User> {
  const actor = await reads.actors.get(caller);
  const person = await reads.users.get(caller.realmId, personId);
  enforce(canExportPerson(actor, await reads.realms.get(caller.realmId), person));
  return person;
}

export interface RequestPersonExportInput extends OwnPassword {
  readonly personId: UserId;
}

/** Requests a copy of everything stored about a person, which the server creates in the background. */
export class RequestPersonExport {
  static readonly inject = [PasswordCheck, 'blobStore', 'exportLimits'] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly blobs: BlobStore,
    private readonly limits: ExportLimits,
  ) {}

  /**
   * @throws DomainError UNKNOWN_USER, MUST_BE_OWNER, EXPORT_WITHOUT_CONSENT, EXPORTED_RECENTLY, TOO_MANY_EXPORTS,
   * EXPORT_TOO_LARGE, LOG_IN_REQUIRED, RATE_LIMITED, SERVER_BUSY, WRONG_PASSWORD
   */
  async execute(caller: Caller, { personId, ...proof }: RequestPersonExportInput): Promise<PersonExportView> {
    const { uow, clock } = this.check;
    const { realmId, userId } = caller;
    const now = clock.now();
    const of = { realmId, userId, personId };
    await uow.read(realmId, async (reads) => {
      await loadExportedPerson(reads, caller, personId);
      requireRoomForCopy(await reads.personExports.list(realmId, userId), of, now);
      const { bytes } = await reads.files.spaceOf(realmId, personId);
      requireExportable(this.limits, { messages: 0, bytes });
    });
    await requireRecentLogIn(this.check, caller, proof);
    const { requested, replaced } = await uow.write(realmId, async (tx) => {
      await loadExportedPerson(tx, caller, personId);
      const earlier = requireRoomForCopy(await tx.personExports.list(realmId, userId), of, now);
      for (const { id } of earlier) await removeCopy(tx, caller, id);
      const added = await tx.personExports.add({ ...of, requestedAt: now, blob: null, size: 0, failedAt: null });
      const job = { realmId, key: String(added.id), payload: { exportId: added.id, userId } };
      await tx.jobs.schedule(encodeJob(WRITE_PERSON_EXPORT, { ...job, dueAt: now }));
      await tx.jobs.schedule(encodeJob(EXPIRE_PERSON_EXPORT, { ...job, dueAt: now + KEEP_COPY_SECONDS }));
      return { requested: added, replaced: earlier };
    });
    // The archives are no longer reachable. If the removal fails, the sweep removes the bytes.
    for (const { blob } of replaced) if (blob !== null) await this.blobs.remove(blob).catch(() => undefined);
    return viewOf(requested);
  }
}

/** Removes a copy and its jobs; the caller must delete its bytes. */
async function removeCopy(tx: Transaction, { realmId, userId }: Caller, id: PersonExportId): Promise<void> {
  await tx.personExports.remove(realmId, userId, id);
  for (const { name } of [WRITE_PERSON_EXPORT, EXPIRE_PERSON_EXPORT]) await tx.jobs.cancel(realmId, name, String(id));
}

/** Lists the copies that the caller requested, oldest first. */
export class ListPersonExports {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly PersonExportView[]> {
    return this.uow.read(realmId, async ({ personExports }) => (await personExports.list(realmId, userId)).map(viewOf));
  }
}

/** Opens a copy for its requester, as long as the requester may request it. */
export class ReadPersonExport {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** @throws DomainError UNKNOWN_EXPORT, EXPORT_FAILED, EXPORT_IN_PROGRESS, MUST_BE_OWNER, EXPORT_WITHOUT_CONSENT */
  execute(caller: Caller, { id }: { readonly id: PersonExportId }): Promise<ReadableArchive> {
    return this.uow.read(caller.realmId, async (reads) => {
      const found = await reads.personExports.find(caller.realmId, caller.userId, id);
      if (found === null) throw new DomainError('UNKNOWN_EXPORT', 'Invalid data export ID');
      await loadExportedPerson(reads, caller, found.personId);
      const { blob, size, failedAt, personId } = found;
      if (failedAt !== null) throw new DomainError('EXPORT_FAILED', 'Export failed');
      if (blob === null) throw new DomainError('EXPORT_IN_PROGRESS', 'Export still in progress');
      const name = `user-${personId}.zip`;
      return { name, contentType: 'application/zip', blob, size, read: (range) => this.blobs.read(blob, range) };
    });
  }
}

/** Archives of copies, written to the blob store. */
export class PersonArchives {
  static readonly inject = [PersonReader, 'archiveWriter', 'blobStore', 'timers', 'eventLoop', 'randomness'] as const;
  constructor(
    private readonly reader: PersonReader,
    private readonly writer: ArchiveWriter,
    private readonly blobs: BlobStore,
    private readonly timers: Timers,
    private readonly eventLoop: EventLoop,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError EXPORT_TOO_LARGE */
  async write(
    { realmId, personId }: PersonExport,
    limits: ExportLimits,
    renewLease: RenewLease,
  ): Promise<{ readonly blob: BlobKey; readonly size: number }> {
    const blob = this.randomness.uuid().replaceAll('-', '') as BlobKey;
    const source = await this.reader.open({ realmId, userId: personId });
    const rest = restingWork(this.timers, this.eventLoop, renewLease);
    return { blob, size: await this.blobs.put(blob, bounded(this.writer.writePerson(source, rest), limits)) };
  }
}

async function* bounded(archive: AsyncIterable<Uint8Array>, limits: ExportLimits): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of archive) {
    bytes += chunk.length;
    requireExportable(limits, { messages: 0, bytes });
    yield chunk;
  }
}

/** Writes requested copies, a few messages at a time. An interrupted attempt begins anew. */
export class WritePersonExport implements JobHandler<PersonExportPayload> {
  static readonly inject = ['unitOfWork', PersonArchives, 'exportLimits', SystemMessages, 'clock'] as const;

  readonly kind = WRITE_PERSON_EXPORT;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly archives: PersonArchives,
    private readonly limits: ExportLimits,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  async prepare(job: Job<PersonExportPayload>, renewLease: RenewLease): Promise<JobWork> {
    const found = await this.uow.read(job.realmId, (reads) => findPending(reads, job));
    if (found === null) return async () => {};
    // Attempts that ended in a crash also count.
    if (job.attempt > this.kind.retries.maxAttempts)
      throw new DomainError('EXPORT_FAILED', 'It was given up too often.');
    const { blob, size } = await this.archives.write(found, this.limits, renewLease);
    // The sweep removes the bytes if the transaction fails or the copy was replaced.
    return (tx) => this.complete(tx, job, blob, size);
  }

  async giveUp(tx: Transaction, job: Job<PersonExportPayload>): Promise<void> {
    const found = await findPending(tx, job);
    if (found) await tx.personExports.update({ ...found, failedAt: this.clock.now() });
  }

  private async complete(tx: Transaction, job: Job<PersonExportPayload>, blob: BlobKey, size: number): Promise<void> {
    const found = await findPending(tx, job);
    if (found === null) return;
    const { realmId, userId, personId } = found;
    await tx.personExports.update({ ...found, blob, size });
    const requester = await tx.users.find(realmId, userId);
    const person = await tx.users.find(realmId, personId);
    if (!requester?.isActive || person === null) return;
    const whose = userId === personId ? 'your data' : `the data of @_**${person.fullName}|${personId}**`;
    const where = userId === personId ? 'your account settings' : 'the settings of the user';
    const content = `The copy of ${whose} is complete. You can download it in ${where} for a week.`;
    // The message has no links, so no author's access is needed.
    await this.systemMessages.sendDirect(tx, await tx.realms.get(realmId), requester, content, { actor: null });
  }
}

/** Returns the copy if it still waits to be written. */
async function findPending(
  { personExports }: Pick<Repositories, 'personExports'>,
  { realmId, payload: { exportId, userId } }: Job<PersonExportPayload>,
): Promise<PersonExport | null> {
  const found = await personExports.find(realmId, userId, exportId);
  return found && found.blob === null && found.failedAt === null ? found : null;
}

/** Removes copies after their lifetime. */
export class ExpirePersonExports implements JobHandler<PersonExportPayload> {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;

  readonly kind = EXPIRE_PERSON_EXPORT;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  async prepare({ realmId, payload: { exportId, userId } }: Job<PersonExportPayload>): Promise<JobWork> {
    const found = await this.uow.read(realmId, ({ personExports }) => personExports.find(realmId, userId, exportId));
    // The row still refers to the bytes, so a failed attempt is retried.
    if (found?.blob) await this.blobs.remove(found.blob);
    return (tx) => tx.personExports.remove(realmId, userId, exportId);
  }
}
