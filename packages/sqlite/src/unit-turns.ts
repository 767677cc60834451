import type { Transaction } from '@parley/domain/shared';
import type { Connection } from './connection.js';

/** How long a unit holds the event loop before `tx.yield` lets it turn. */
const SLICE_MS = 8;

/**
 * A unit awaited something other than its repositories. A write would have held up every other writer; a read would have
 * kept one of few connections, and with its snapshot the write-ahead log from being folded into the file.
 */
export class UnitYielded extends Error {
  constructor() {
    super('A unit of work awaited something other than its repositories (I/O, a timer, or another unit) and was ended');
    this.name = 'UnitYielded';
  }
}

/** Notices that the event loop turns under a unit, and lets it turn where the unit asks for it. */
export class TurnWatch {
  private immediate: NodeJS.Immediate | undefined;
  /** Goes on with the unit, which let the event loop turn. */
  private resume: (() => void) | null = null;
  private sliceStartedAt = 0;
  private turned = false;

  constructor(private readonly now: () => number) {}

  /** Whether a unit was so long since the start that it let the event loop turn. */
  get hasTurned(): boolean {
    return this.turned;
  }

  /** Repositories answer within the turn of the event loop, so units that only await them end before this is called. */
  start(onYielded: () => void): void {
    this.sliceStartedAt = this.now();
    this.turned = false;
    const onNextTurn = () => {
      this.immediate = setImmediate(onNextTurn);
      if (this.resume) this.resume();
      else onYielded();
    };
    this.immediate = setImmediate(onNextTurn);
  }

  stop(): void {
    this.goOn();
    clearImmediate(this.immediate);
  }

  /** For a unit that has not awaited the turn that it asked for. */
  goOn(): void {
    this.resume?.();
  }

  async yield(connection: Connection): Promise<void> {
    connection.requireUnit();
    if (this.now() - this.sliceStartedAt < SLICE_MS) return;
    // Units that run meanwhile must not use the connection of this one.
    connection.suspend();
    this.turned = true;
    await new Promise<void>((resolve) => {
      this.resume = () => {
        this.resume = null;
        connection.enterUnit();
        this.sliceStartedAt = this.now();
        resolve();
      };
    });
  }
}

/** Of a connection: what a unit works with, without `yield`. */
export type WritableRepositories = Omit<Transaction, 'yield'>;

/** What a unit works with, and its `yield`. */
export const withYield = <R extends object>(
  repositories: R,
  connection: Connection,
): R & { yield: () => Promise<void> } => Object.assign(repositories, { yield: () => connection.yield() });
