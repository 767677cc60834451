import type { FileId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import { DELETE_REALM_DATA, type RealmDataRepository, type RemovalCursor } from '@parley/domain/realms';
import { isMessageTable, messagesOf } from './messages-of.js';
import type { MemoryUnit } from './tables.js';

/** Columns that identify the owner of any row. */
interface AnyRow {
  readonly realmId?: RealmId;
  readonly user?: { readonly realmId: RealmId };
  readonly group?: { readonly realmId: RealmId };
  readonly file?: { readonly realmId: RealmId };
  readonly userId?: UserId;
  readonly messageId?: MessageId;
  readonly kind?: unknown;
}

/** Tables keyed by file id. */
const BY_FILE: ReadonlySet<string> = new Set(['thumbnails', 'awaitedThumbnails']);

export class MemoryRealmData implements RealmDataRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async removeSome(realmId: RealmId, _from: RemovalCursor, _limit: number): Promise<'done'> {
    const messageIds = new Set(messagesOf(this.unit, realmId).map(({ id }) => id));
    const userIds = new Set<UserId>();
    for (const [id, { user }] of this.unit.read('users')) if (user.realmId === realmId) userIds.add(id);
    const fileIds = new Set<FileId>();
    for (const [id, { file }] of this.unit.read('files')) if (file.realmId === realmId) fileIds.add(id);
    const belongs = (row: AnyRow) =>
      row.realmId === realmId ||
      row.user?.realmId === realmId ||
      row.group?.realmId === realmId ||
      row.file?.realmId === realmId ||
      (row.userId !== undefined && userIds.has(row.userId)) ||
      (row.messageId !== undefined && messageIds.has(row.messageId));
    for (const name of this.unit.names()) {
      if (name === 'counters' || name === 'realms') continue;
      const table = this.unit.change(name) as Map<unknown, AnyRow>;
      for (const [key, row] of table) {
        const isOfMessage = isMessageTable(name) && messageIds.has(key as MessageId);
        const isOfFile = BY_FILE.has(name) && fileIds.has(key as FileId);
        if (row.kind === DELETE_REALM_DATA.name) continue;
        if (isOfMessage || isOfFile || (typeof row === 'object' && belongs(row))) table.delete(key);
      }
    }
    return 'done';
  }

  async removeRealm(realmId: RealmId): Promise<void> {
    this.unit.change('realms').delete(realmId);
    const jobs = this.unit.change('jobs');
    for (const [id, job] of jobs) if (job.realmId === realmId) jobs.delete(id);
    const consumers = this.unit.change('eventConsumers');
    for (const [name, positions] of consumers) {
      consumers.set(name, new Map([...positions].filter(([id]) => id !== realmId)));
    }
  }
}
