import { type UserId, WorkQueue } from '@parley/domain/kernel';
import type { Request } from '../kernel/request.js';

/** Queues that are read at the same time; each keeps the event loop for a few milliseconds. */
const READING = 2;
/** Of answers that nobody has carried away yet, in all. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Nobody keeps others waiting by what they do not read. */
const UNSENT_PER_USER = 2;
const PATIENCE_MS = 1000;

/** The right to read a queue that has fallen behind. */
export interface CatchUpTurn {
  /** It was read, and so many bytes are to be sent. They count until they are, or nobody is there to take them. */
  done(bytes: number): void;
}

/**
 * When a server comes back everybody returns at once, each with much to read. They are read a few at a time, and only as
 * fast as answers are carried away: memory holds what is on its way, not what everybody has missed.
 */
export class CatchUpQueue {
  /** From the turn of a queue until its answer is carried away. */
  private readonly unsent = new WorkQueue({ concurrencyPerClient: UNSENT_PER_USER });
  private readonly reading = new WorkQueue({ concurrency: READING });
  private unsentBytes = 0;
  private readonly waitingForRoom: (() => void)[] = [];
  private isClosed = false;

  /** Null: the client has gone, or the server ends. */
  enter(userId: UserId, request: Request): Promise<CatchUpTurn | null> {
    return new Promise((resolve) => {
      const serve = async (): Promise<void> => {
        const bytes = await this.reading.run(userId, () => this.read(request, resolve));
        if (bytes === null) return;
        await carriedAway(request);
        this.unsentBytes -= bytes;
        for (const proceed of this.waitingForRoom.splice(0)) proceed();
      };
      this.unsent.run(userId, serve).catch(() => resolve(null));
    });
  }

  /** Whoever still waits gets no turn. */
  close(): void {
    this.isClosed = true;
    this.unsent.clear();
    this.reading.clear();
    for (const proceed of this.waitingForRoom.splice(0)) proceed();
  }

  /** Resolves to the bytes of the answer once it was read; null: nobody waits for it. */
  private async read(request: Request, begin: (turn: CatchUpTurn | null) => void): Promise<number | null> {
    while (this.unsentBytes >= MAX_UNSENT_BYTES && !this.isClosed) {
      await new Promise<void>((resolve) => this.waitingForRoom.push(resolve));
    }
    if (request.isGone || this.isClosed) {
      begin(null);
      return null;
    }
    return new Promise((resolve) => {
      begin({
        done: (bytes) => {
          this.unsentBytes += bytes;
          // Others have the event loop before the next queue is read.
          setImmediate(() => resolve(bytes));
        },
      });
    });
  }
}

/** Resolves when the answer was taken, at the latest after `PATIENCE_MS`. */
const carriedAway = (request: Request): Promise<void> =>
  new Promise((resolve) => {
    const patience = setTimeout(resolve, PATIENCE_MS).unref();
    request.onEnd(() => {
      clearTimeout(patience);
      resolve();
    });
  });
