import { DomainError } from '@parley/domain/kernel';
import { ClientRejected } from '@parley/domain/log-in';
import type { OutgoingProxy } from '../outgoing-proxy.js';
import { readShort } from '../read-short.js';

const PATIENCE_MS = 10_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Maximum clock difference accepted by log-ins. */
export const CLOCK_SKEW_SECONDS = 60;
/** Statuses without a body. */
const EMPTY = [204, 205, 304];

/** Error for an unconfirmed identity or a declined log-in. */
export const refused = () => new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');

/** Error for an unknown client or a wrong or expired secret. */
export const rejectsClient = (detail?: string) =>
  new ClientRejected(`it rejects clientId with its clientSecret, which may have expired${detail ? `: ${detail}` : ''}`);

/** Sends a request to a log-in service. @throws RangeError if the response is longer than 1 MiB */
export type FetchShort = (url: string | URL, init?: RequestInit) => Promise<Response>;

export const fetchShortBy =
  ({ fetch }: Pick<OutgoingProxy, 'fetch'>): FetchShort =>
  async (url, init = {}) => {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), ...init });
    const { status, statusText, headers } = response;
    const body = await readShort(response, MAX_RESPONSE_BYTES);
    return new Response(EMPTY.includes(status) ? null : body, { status, statusText, headers });
  };

/** @throws Error if the clocks of this machine and the service differ too much for log-ins */
export function requireSameClock({ headers }: Response, nowMs = Date.now()): void {
  const seconds = Math.round((nowMs - Date.parse(headers.get('date') ?? '')) / 1000);
  if (!(Math.abs(seconds) > CLOCK_SKEW_SECONDS)) return;
  const direction = seconds > 0 ? 'ahead of' : 'behind';
  throw new Error(
    `the clock of this machine is ${Math.abs(seconds)} seconds ${direction} that of the service; synchronize it (NTP)`,
  );
}
