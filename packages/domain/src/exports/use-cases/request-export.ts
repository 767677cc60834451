import { pathIdOf } from '../../files/file.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock, Randomness } from '../../kernel/clock.js';
import type { ExportId } from '../../kernel/ids.js';
import { encodeJob } from '../../kernel/job.js';
import { enforce } from '../../kernel/permission.js';
import { slicesOf } from '../../kernel/slices.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { canExport, canExportWithoutConsent } from '../../realms/realm-permissions.js';
import { publishExports } from '../export-events.js';
import { WRITE_EXPORT } from '../export-jobs.js';
import { isChannelCovered } from '../realm-copy.js';
import {
  type ExportLimits,
  type ExportType,
  MAX_LISTED_EXPORTS,
  requireExportable,
  requireRoomForExport,
} from '../realm-export.js';

const RECIPIENTS_AT_A_TIME = 1000;
/** Clients get the event that it is under way before the one that it is complete. */
const BEGIN_AFTER_SECONDS = 1;

/** Asks for an archive of the organization, which the server then makes (organization §8). */
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
    await this.uow.read(async (reads) => {
      const actor = await reads.actors.get(caller);
      enforce(canExport(actor));
      const realm = await reads.realms.get(actor.realmId);
      if (type === 'withoutConsent') enforce(canExportWithoutConsent(actor, realm));
      requireRoomForExport(await reads.exports.list(realm.id), now);
      const bytes = (await reads.files.usedBytes(realm.id)) + (await reads.pictures.usedBytes(realm.id));
      requireExportable(this.limits, { messages: await countMessages(reads, realm, type, this.limits), bytes });
    });
    return this.uow.write(async (tx) => {
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

/** How many were ever sent to what it covers, deleted ones too; once there are too many, counting ends. */
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
    await reads.yield();
  }
  if (type === 'public') return count;
  for (let after = 0; count <= maxMessages; ) {
    const ids = await reads.recipients.listDirect(realm.id, after, RECIPIENTS_AT_A_TIME);
    count += await reads.copies.countSentTo(realm.id, ids);
    if (ids.length < RECIPIENTS_AT_A_TIME) break;
    after = ids.at(-1)!;
    await reads.yield();
  }
  return count;
}
