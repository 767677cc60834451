import type { BlobKey, BlobStore } from '../files/blob-store.js';
import type { Clock, Randomness } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { EventLoop } from '../kernel/event-loop.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/job.js';
import type { JobHandler, JobWork, RenewLease } from '../kernel/job-handler.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import { slicesOf } from '../kernel/slices.js';
import { SparingWork } from '../kernel/sparing-work.js';
import type { Timers } from '../kernel/timers.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { SystemMessages } from '../messages/system-messages.js';
import type { ArchiveWriter } from './archive-writer.js';
import { publishExports } from './export-events.js';
import { EXPIRE_EXPORT, type ExportPayload, RENEW_LEASE_MS, WRITE_EXPORT } from './export-jobs.js';
import { RealmReader } from './read-realm.js';
import type { ExportScope } from './realm-copy.js';
import { exportPath, KEEP_ARCHIVE_SECONDS, type RealmExport } from './realm-export.js';

const USERS_AT_A_TIME = 100;
/** It has a quarter of the event loop's time. */
const REST_FACTOR = 3;

/** Makes the archives that administrators asked for (organization §8), a few messages at a time. */
export class WriteRealmExport implements JobHandler<ExportPayload> {
  static readonly inject = [
    'unitOfWork',
    RealmReader,
    'archiveWriter',
    'blobStore',
    SystemMessages,
    'realmUrls',
    'clock',
    'timers',
    'eventLoop',
    'randomness',
  ] as const;

  readonly kind = WRITE_EXPORT;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly reader: RealmReader,
    private readonly writer: ArchiveWriter,
    private readonly blobs: BlobStore,
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly eventLoop: EventLoop,
    private readonly randomness: Randomness,
  ) {}

  async prepare({ realmId, payload, attempt }: Job<ExportPayload>, renewLease: RenewLease): Promise<JobWork> {
    const found = await this.uow.read(({ exports }) => exports.find(realmId, payload.exportId));
    if (found?.state.status !== 'pending') return async () => {};
    await this.writer.clean(found.id);
    // Those that ended with the process count as well.
    if (attempt > this.kind.retries.maxAttempts) throw new DomainError('EXPORT_FAILED', 'It was given up too often.');
    const blob = this.randomness.uuid().replaceAll('-', '') as BlobKey;
    const size = await this.write(found, blob, renewLease);
    // Where the unit fails, the sweep finds the bytes.
    return (tx) => this.complete(tx, found, blob, size);
  }

  async giveUp(tx: Transaction, { realmId, payload }: Job<ExportPayload>): Promise<void> {
    const found = await tx.exports.find(realmId, payload.exportId);
    if (found?.state.status !== 'pending') return;
    await tx.exports.setState(realmId, found.id, { status: 'failed', at: this.clock.now() });
    await publishExports(tx, realmId, found.actingUserId);
  }

  private async write({ id, realmId, type }: RealmExport, blob: BlobKey, renewLease: RenewLease): Promise<number> {
    const scope = await this.scopeOf(realmId, type);
    const source = await this.reader.open(realmId, scope);
    const { timers, eventLoop } = this;
    const work = new SparingWork(timers, eventLoop, REST_FACTOR);
    let renewedAt = timers.elapsedMs();
    const rest = async () => {
      await work.rest();
      if (timers.elapsedMs() - renewedAt < RENEW_LEASE_MS) return;
      renewedAt = timers.elapsedMs();
      if (!(await renewLease())) throw new Error('Somebody else makes the export');
    };
    return this.blobs.put(blob, this.writer.write(id, source, rest));
  }

  private async scopeOf(realmId: RealmId, type: RealmExport['type']): Promise<ExportScope> {
    if (type === 'withoutConsent') return { covers: 'all' };
    return { covers: type === 'public' ? new Set() : await this.consenting(realmId) };
  }

  /** With the bots of those who agree. */
  private consenting(realmId: RealmId): Promise<ReadonlySet<UserId>> {
    return this.uow.read(async (reads) => {
      const ids = (await reads.users.listEntries(realmId)).map(({ id }) => id);
      const consenting = new Set<UserId>();
      const owners = new Map<UserId, UserId>();
      for (const slice of slicesOf(ids, USERS_AT_A_TIME)) {
        for (const { id, bot, settings } of await reads.users.list(realmId, slice)) {
          if (bot) {
            if (bot.ownerId !== null) owners.set(id, bot.ownerId);
          } else if (settings.allowPrivateDataExport) consenting.add(id);
        }
        await reads.yield();
      }
      for (const [botId, ownerId] of owners) if (consenting.has(ownerId)) consenting.add(botId);
      return consenting;
    });
  }

  private async complete(tx: Transaction, given: RealmExport, blob: BlobKey, size: number): Promise<void> {
    const { id, realmId, actingUserId } = given;
    const state = { status: 'complete', blob, size } as const;
    await tx.exports.setState(realmId, id, state);
    const dueAt = this.clock.now() + KEEP_ARCHIVE_SECONDS;
    await tx.jobs.schedule(encodeJob(EXPIRE_EXPORT, { realmId, dueAt, key: String(id), payload: { exportId: id } }));
    await publishExports(tx, realmId, actingUserId);
    const realm = await tx.realms.get(realmId);
    const person = await tx.users.find(realmId, actingUserId);
    if (!person?.isActive) return;
    const url = `${this.realmUrls.urlOf(realm)}${exportPath({ pathId: given.pathId, state })}`;
    const content = `Your data export is complete. [Download the archive](${url}), or see all exports in the organization's settings.`;
    // The address is our own.
    await this.systemMessages.sendDirect(tx, realm, person, content, { actor: null });
  }
}
