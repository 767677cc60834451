import type { UnixSeconds } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { publishExports } from './export-events.js';
import { EXPIRE_EXPORT } from './export-jobs.js';
import type { RealmExport } from './realm-export.js';

/** The archive of an export cannot be fetched any more; its bytes are the caller's to remove. */
export async function removeArchive(
  tx: Transaction,
  { id, realmId, actingUserId }: RealmExport,
  at: UnixSeconds,
): Promise<void> {
  await tx.exports.setState(realmId, id, { status: 'deleted', at });
  await tx.jobs.cancel(realmId, EXPIRE_EXPORT.name, String(id));
  await publishExports(tx, realmId, actingUserId);
}
