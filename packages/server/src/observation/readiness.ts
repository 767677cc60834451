import { setTimeout as sleep } from 'node:timers/promises';

export interface ReadinessCheck {
  readonly name: string;
  /** Throws when it is not as it should be; the message goes to the operator. */
  readonly run: () => Promise<void> | void;
}

/** By name: `ok`, or what is wrong. */
export interface ReadinessReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** Checks run at most once in this time, however many requests ask. */
const BELIEVED_MS = 1000;
/** A check that takes longer has failed. */
const PATIENCE_MS = 3000;

/** Whether requests are to be sent here. */
export class Readiness {
  private last: { readonly report: Promise<ReadinessReport>; readonly atMs: number } | null = null;
  private isEnding = false;

  constructor(private readonly checks: readonly ReadinessCheck[]) {}

  /** From now on it is not, although requests are answered. */
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
    const entries = await Promise.all(this.checks.map(async ({ name, run }) => [name, await outcomeOf(run)] as const));
    return { isReady: entries.every(([, outcome]) => outcome === 'ok'), checks: Object.fromEntries(entries) };
  }
}

/** Whatever checks would find. */
export const notReady = (state: 'starting' | 'draining'): ReadinessReport => ({ isReady: false, checks: { state } });

async function outcomeOf(run: ReadinessCheck['run']): Promise<string> {
  const patience = new AbortController();
  try {
    const late = sleep(PATIENCE_MS, 'late', { signal: patience.signal });
    // What ends it is no failure.
    late.catch(() => {});
    const first = await Promise.race([Promise.resolve(run()).then(() => 'ok'), late]);
    return first === 'ok' ? 'ok' : `took longer than ${PATIENCE_MS / 1000} s`;
  } catch (error) {
    const { message, cause } = error as Error;
    // What those who use the server are not told.
    return cause instanceof Error ? cause.message : message;
  } finally {
    patience.abort();
  }
}
