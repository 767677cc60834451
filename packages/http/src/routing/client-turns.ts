import { ClientGone } from './body-rules.js';
import type { ClientKey } from './byte-budget.js';
import { tooMuchAtOnce } from './errors.js';
import type { Request } from './request.js';

/** Of one client, at the same time. */
const AT_ONCE = 4;
const MAX_WAITING = 1000;

/** What one client has under way. */
interface Line {
  working: number;
  /** Oldest first. */
  readonly waiting: (() => void)[];
}

/**
 * What an answer is made of is in memory before its bytes can be charged for. So only a few works of one client go on at the same
 * time, however many it asks for; the others wait for theirs, which takes no longer, as there is one thread.
 */
export class ClientTurns {
  private readonly lines = new Map<ClientKey, Line>();

  /** Resolves or rejects as the work does. @throws HttpRefusal 429 where too many wait; ClientGone when the client has left meanwhile */
  async run<T>(client: ClientKey, request: Pick<Request, 'isGone'>, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(client) ?? { working: 0, waiting: [] };
    this.lines.set(client, line);
    if (line.working < AT_ONCE) line.working++;
    else {
      if (line.waiting.length >= MAX_WAITING) throw tooMuchAtOnce();
      // Whoever ends a work passes its turn on.
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    }
    try {
      if (request.isGone) throw new ClientGone();
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.working === 0) this.lines.delete(client);
    }
  }
}
