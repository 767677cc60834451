import type { FileUser } from '../files/use-cases/sweep-files.js';
import { users } from '../kernel/audience.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ExportId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { type ExportType, exportPath, type RealmExport } from './realm-export.js';

/** An export as clients are shown it. */
export interface ExportView {
  readonly id: ExportId;
  readonly actingUserId: UserId;
  readonly type: ExportType;
  readonly requestedAt: UnixSeconds;
  /** Counted from the organization's own address; null: there is no archive. */
  readonly path: string | null;
  readonly isPending: boolean;
  readonly deletedAt: UnixSeconds | null;
  readonly failedAt: UnixSeconds | null;
}

export function viewOfExport(given: RealmExport): ExportView {
  const { id, actingUserId, type, requestedAt, state } = given;
  return {
    id,
    actingUserId,
    type,
    requestedAt,
    path: exportPath(given),
    isPending: state.status === 'pending',
    deletedAt: state.status === 'deleted' ? state.at : null,
    failedAt: state.status === 'failed' ? state.at : null,
  };
}

export interface ExportEventTypes {
  /** To whoever asked for the one that changed: all of the organization, at most `MAX_LISTED_EXPORTS` (organization §8). */
  'exports.changed': { readonly exports: readonly ExportView[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ExportEventTypes {}
}

export const EXPORT_FEATURE = {
  eventFormats: { 'exports.changed': 1 },
  // Archives are blobs that belong to no file.
  fileUser: { filterBlobs: ({ exports }, keys) => exports.filterBlobs(keys) },
  notExported: {
    exports: 'Archives stay on the server that made them.',
  },
} satisfies FeatureParts<ExportEventTypes> & { readonly fileUser: FileUser };

/** Organization §8. */
export async function publishExports(tx: Transaction, realmId: RealmId, receiverId: UserId): Promise<void> {
  const exports = (await tx.exports.list(realmId)).map(viewOfExport);
  await tx.events.append(realmId, { event: { type: 'exports.changed', exports }, audience: users([receiverId]) });
}
