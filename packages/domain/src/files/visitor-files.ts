import { isVisitor } from '../access/roles.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { MIB, ownQuotaExceeded } from './files.js';

/** Maximum total size of one visitor's files, including unfinished uploads. */
export const MAX_VISITOR_BYTES = 20 * MIB;
/** Maximum total size of new files of all visitors of an organization, per server and day (UTC). */
export const MAX_VISITORS_BYTES = 200 * MIB;

/** Counts bytes of new files of visitors. */
export interface VisitorUploads {
  /** Returns the bytes of the current day. */
  bytesToday(realmId: RealmId): number;
  /** `bytes` is negative for a file that was not created after all. */
  add(realmId: RealmId, bytes: number): void;
}

/** Quota of visitors, who are anonymous. */
export class VisitorFiles {
  static readonly inject = ['visitorUploads'] as const;
  constructor(private readonly uploads: VisitorUploads) {}

  /** Returns the bytes that the user may still upload; infinite unless they are a visitor. */
  async roomFor(
    { users, files, unfinishedUploads }: Repositories | Transaction,
    realmId: RealmId,
    id: UserId,
  ): Promise<number> {
    const user = await users.find(realmId, id);
    if (!user || !isVisitor(user)) return Number.POSITIVE_INFINITY;
    const stored = await files.spaceOf(realmId, id);
    const unfinished = await unfinishedUploads.summarize(realmId, id);
    const own = MAX_VISITOR_BYTES - stored.bytes - unfinished.bytes;
    return Math.max(0, Math.min(own, MAX_VISITORS_BYTES - this.uploads.bytesToday(realmId)));
  }

  /** Requires room for a file, without counting it. @throws DomainError OWN_UPLOAD_QUOTA_EXCEEDED */
  async requireRoom(tx: Transaction, realmId: RealmId, id: UserId, size: number): Promise<number> {
    const room = await this.roomFor(tx, realmId, id);
    if (size > room) throw ownQuotaExceeded();
    return room;
  }

  /** Counts a new file. @throws DomainError OWN_UPLOAD_QUOTA_EXCEEDED */
  async take(tx: Transaction, realmId: RealmId, id: UserId, size: number): Promise<void> {
    if ((await this.requireRoom(tx, realmId, id, size)) === Number.POSITIVE_INFINITY) return;
    this.uploads.add(realmId, size);
    tx.onRollback(() => this.uploads.add(realmId, -size));
  }
}
