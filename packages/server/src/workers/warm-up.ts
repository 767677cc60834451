import type { Resolve } from '@parley/domain/composition';
import type { ListClientsInUse, QueueOwner } from '@parley/domain/events';
import type { ReportProblem, Timers } from '@parley/domain/shared';
import type { Route } from '@parley/http';
import type { Worker } from './worker.js';

/** After the start: who was waiting for it is answered first. */
const FIRST_DELAY_MS = 250;
/** What is kept in memory has its own bounds; this one is for how long it goes on. */
const MAX_ORGANIZATIONS = 10;
/** Afterwards V8 has compiled whatever it will. */
const MAX_ROUNDS = 12;
/** What takes no longer needs nothing: so it is in small organizations. */
const QUICK_MS = 8;

const CLIENT_NAME = 'internal';

type WarmRoute = Pick<Route, 'method' | 'path' | 'warmUp'>;

/**
 * After a start, does what is asked for first and takes long in large organizations: everything that a client begins with, the
 * lists of channels and of users. For those organizations whose clients will come back, as somebody of each; nothing is changed. It
 * rests as long as it worked, and where everything is quick it ends at once.
 */
export class WarmUp implements Worker {
  readonly name = 'warming up';
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;
  private cancel = () => {};
  private endRest = () => {};

  constructor(
    private readonly routes: readonly WarmRoute[],
    private readonly resolve: Resolve,
    private readonly clients: Pick<ListClientsInUse, 'execute'>,
    private readonly timers: Timers,
    private readonly report: ReportProblem,
  ) {}

  start(): void {
    this.cancel = this.timers.after(FIRST_DELAY_MS, () => {
      this.running = this.run().catch((error) => this.report(`${this.name} failed`, { err: error }));
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel();
    this.endRest();
    await this.running;
  }

  private async run(): Promise<void> {
    const owners = await this.clients.execute({ limit: MAX_ORGANIZATIONS });
    for (const { path, warmUp } of this.routes) {
      if (!warmUp) continue;
      try {
        await this.warm(warmUp, owners);
      } catch (error) {
        // Whoever asks for it is told what is wrong with it.
        this.report(`${this.name} failed`, { path, err: error });
      }
    }
  }

  /** Code is compiled for all organizations at once; what each of them has is read once. */
  private async warm(warmUp: NonNullable<Route['warmUp']>, owners: readonly QueueOwner[]): Promise<void> {
    let rounds = MAX_ROUNDS;
    for (const owner of owners) {
      let took: number;
      do {
        if (this.isStopped) return;
        const startedAt = this.timers.elapsedMs();
        await warmUp({ ...owner, clientName: CLIENT_NAME }, this.resolve);
        took = this.timers.elapsedMs() - startedAt;
        rounds--;
        await this.rest(took);
      } while (took > QUICK_MS && rounds > 0);
    }
  }

  private async rest(ms: number): Promise<void> {
    if (this.isStopped) return;
    await new Promise<void>((resolve) => {
      this.cancel = this.timers.after(ms, resolve);
      this.endRest = resolve;
    });
  }
}
