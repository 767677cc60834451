import type { ExportId } from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/job.js';

export type ExportPayload = { readonly exportId: ExportId };

const readPayload = idPayload<ExportPayload>('exportId');

/** After a crash another attempt begins this much later: the lease is renewed all the time. */
const LEASE_SECONDS = 120;

export const WRITE_EXPORT = jobKind<ExportPayload>({
  name: 'exports.write',
  readPayload,
  retries: { maxAttempts: 3, firstDelaySeconds: 60, maxDelaySeconds: 3600 },
  leaseSeconds: LEASE_SECONDS,
  concurrency: 1,
});

export const RENEW_LEASE_MS = (LEASE_SECONDS * 1000) / 4;

/** The archive of an export has been there long enough. */
export const EXPIRE_EXPORT = jobKind<ExportPayload>({ name: 'exports.expire', readPayload, concurrency: 1 });
