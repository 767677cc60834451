import type { UserId } from '@parley/domain';
import type { Request } from '../routing/request.js';

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

interface Waiting {
  readonly userId: UserId;
  readonly request: Request;
  readonly start: (turn: CatchUpTurn | null) => void;
}

/** What one user has of the server. */
interface Share {
  unsent: number;
  /** Those who go on when another one of theirs was carried away. */
  readonly heldBack: Waiting[];
}

/**
 * When a server comes back everybody returns at once, each with much to read. They are read a few at a time, and only as
 * fast as answers are carried away: memory holds what is on its way, not what everybody has missed.
 */
export class CatchUpQueue {
  private readonly waiting = new Set<Waiting>();
  private readonly shares = new Map<UserId, Share>();
  private reading = 0;
  private unsentBytes = 0;
  private pump: NodeJS.Immediate | null = null;

  /** Null: the client has gone, or the server ends. */
  enter(userId: UserId, request: Request): Promise<CatchUpTurn | null> {
    return new Promise((start) => {
      this.waiting.add({ userId, request, start });
      this.schedule();
    });
  }

  /** Whoever still waits gets no turn. */
  close(): void {
    const heldBack = [...this.shares.values()].flatMap((share) => share.heldBack.splice(0));
    for (const { start } of [...this.waiting, ...heldBack]) start(null);
    this.waiting.clear();
  }

  private schedule(): void {
    this.pump ??= setImmediate(() => {
      this.pump = null;
      this.admitWaiting();
    });
  }

  private admitWaiting(): void {
    for (const each of this.waiting) {
      if (this.reading >= READING || this.unsentBytes >= MAX_UNSENT_BYTES) return;
      this.waiting.delete(each);
      const share = this.shares.get(each.userId);
      if (each.request.isGone) {
        each.start(null);
        if (share) this.releaseHeldBack(each.userId, share);
      } else if (share && share.unsent >= UNSENT_PER_USER) share.heldBack.push(each);
      else this.start(each);
    }
  }

  private start({ userId, request, start }: Waiting): void {
    this.reading++;
    const share = this.shares.get(userId) ?? { unsent: 0, heldBack: [] };
    share.unsent++;
    this.shares.set(userId, share);
    start({
      done: (bytes) => {
        this.reading--;
        this.unsentBytes += bytes;
        this.schedule();
        let isOver = false;
        const end = () => {
          if (isOver) return;
          isOver = true;
          clearTimeout(patience);
          this.unsentBytes -= bytes;
          share.unsent--;
          this.releaseHeldBack(userId, share);
          this.schedule();
        };
        const patience = setTimeout(end, PATIENCE_MS).unref();
        request.onEnd(end);
      },
    });
  }

  /** The next one of theirs, if one was held back. */
  private releaseHeldBack(userId: UserId, share: Share): void {
    const next = share.heldBack.shift();
    if (next) this.waiting.add(next);
    else if (share.unsent === 0) this.shares.delete(userId);
  }
}
