import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from '@parley/domain/composition';
import { diskSpaceOf, diskStateOf } from './disk-space.js';
import type { Bucket, ServerGauges, ServerMetrics } from './metrics.js';

export interface ReadinessCheck {
  readonly name: string;
  /** Throws if the check fails; the message is for the operator. */
  readonly run: () => Promise<void> | void;
  /** True if the server is ready although the check fails. */
  readonly isAdvice?: boolean;
}

/** Results by name: `ok` or the problem. */
export interface ReadinessReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** Cache lifetime of check results. */
const BELIEVED_MS = 1000;
/** Timeout of a check. */
const PATIENCE_MS = 3000;

/** Checks whether the server can accept requests. */
export class Readiness {
  private last: { readonly report: Promise<ReadinessReport>; readonly atMs: number } | null = null;
  private isEnding = false;

  constructor(private readonly checks: readonly ReadinessCheck[]) {}

  /** Reports the server as not ready while it still responds. */
  end(): void {
    this.isEnding = true;
  }

  async report(): Promise<ReadinessReport> {
    if (this.isEnding) return notReady('draining');
    const now = performance.now();
    if (!this.last || now - this.last.atMs > BELIEVED_MS) this.last = { report: this.look(), atMs: now };
    return this.last.report;
  }

  private async look(): Promise<ReadinessReport> {
    const results = await Promise.all(
      this.checks.map(async (check) => ({ ...check, outcome: await outcomeOf(check.run) })),
    );
    return {
      isReady: results.every(({ outcome, isAdvice }) => outcome === 'ok' || isAdvice),
      checks: Object.fromEntries(results.map(({ name, outcome }) => [name, outcome])),
    };
  }
}

/** Report that overrides the checks. */
export const notReady = (state: 'starting' | 'draining'): ReadinessReport => ({ isReady: false, checks: { state } });

async function outcomeOf(run: ReadinessCheck['run']): Promise<string> {
  const patience = new AbortController();
  try {
    const late = sleep(PATIENCE_MS, 'late', { signal: patience.signal });
    // The timeout may reject after the check has succeeded.
    late.catch(() => {});
    const first = await Promise.race([Promise.resolve(run()).then(() => 'ok'), late]);
    return first === 'ok' ? 'ok' : `took longer than ${PATIENCE_MS / 1000} s`;
  } catch (error) {
    const { message, cause } = error as Error;
    // Cause that is hidden from users of the server.
    return cause instanceof Error ? cause.message : message;
  } finally {
    patience.abort();
  }
}

interface CheckedParts {
  /** Folder on the disk that needs free space; null if data is stored elsewhere. */
  readonly dataFolder: string | null;
  readonly hasBus: boolean;
  readonly bucket: Pick<Bucket, 'problem'> | null;
}

export function readinessChecks(
  { unitOfWork, apiKeyMint, bus }: Pick<Ports, 'unitOfWork' | 'apiKeyMint' | 'bus'>,
  gauges: () => Promise<ServerGauges>,
  { dataFolder, hasBus, bucket }: CheckedParts,
): readonly ReadinessCheck[] {
  const checks: ReadinessCheck[] = [
    {
      name: 'write',
      // Rewrites the existing value, which changes nothing but requires a commit.
      run: () =>
        unitOfWork.writeAcross((tx) => tx.apiKeys.setSecretFingerprint(apiKeyMint.secretFingerprint), {
          shared: { kind: 'health' },
        }),
    },
    {
      name: 'schema',
      run: async () => {
        if ((await gauges()).storage?.hasOwnSchema === false) throw new Error('another version has changed the schema');
      },
    },
  ];
  if (dataFolder !== null) {
    checks.push({
      name: 'disk',
      run: () => {
        const space = diskSpaceOf(dataFolder);
        if (diskStateOf(space) === 'full') throw new Error(`only ${space.free} bytes are free`);
      },
    });
  }
  if (hasBus) {
    checks.push({
      name: 'bus',
      isAdvice: true,
      run: () => {
        if (bus.state === 'unavailable')
          throw new Error('unavailable; events of other servers are read from the database');
      },
    });
  }
  if (bucket) {
    checks.push({
      name: 'files',
      isAdvice: true,
      run: () => {
        if (bucket.problem !== null) throw new Error(bucket.problem);
      },
    });
  }
  return checks;
}

type Ready = () => Promise<ReadinessReport>;

/** Adds `/healthz` (process responds) and `/readyz` (accepts requests) for load balancers and supervisors. */
export function withHealth(ready: Ready, otherwise: RequestListener): RequestListener {
  return (request, response) => {
    if (request.url === '/healthz' && isRead(request)) reply(request, response, 200, { status: 'ok' });
    else if (request.url === '/readyz' && isRead(request)) void respondReadiness(ready, request, response, false);
    else otherwise(request, response);
  };
}

/** Listener for the operator only: metrics and details of failed readiness checks. */
export function operatorListener(ready: Ready, metrics: ServerMetrics): RequestListener {
  return (request, response) => {
    if (!isRead(request)) reply(request, response, 405, { status: 'Method Not Allowed' });
    else if (request.url === '/metrics') void respondMetrics(metrics, request, response);
    else if (request.url === '/healthz') reply(request, response, 200, { status: 'ok' });
    else if (request.url === '/readyz') void respondReadiness(ready, request, response, true);
    else reply(request, response, 404, { status: 'Not found' });
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

async function respondReadiness(
  ready: Ready,
  request: IncomingMessage,
  response: ServerResponse,
  withChecks: boolean,
): Promise<void> {
  const { isReady, checks } = await ready();
  const status = isReady ? 'ready' : 'not ready';
  reply(request, response, isReady ? 200 : 503, withChecks ? { status, checks } : { status });
}

async function respondMetrics(metrics: ServerMetrics, request: IncomingMessage, response: ServerResponse) {
  try {
    write(request, response, 200, metrics.contentType, await metrics.text());
  } catch (error) {
    reply(request, response, 500, { status: (error as Error).message });
  }
}

const reply = (request: IncomingMessage, response: ServerResponse, status: number, body: object) =>
  write(request, response, status, 'application/json', `${JSON.stringify(body)}\n`);

function write(request: IncomingMessage, response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
