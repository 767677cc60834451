import type { Ordinal, RecipientId, UserId } from '../../kernel/ids.js';
import type { OrdinalRange } from '../../messages/read-set.js';

/** What one person has received and read of what was sent to one recipient; ascending. */
export interface Runs {
  readonly received: readonly OrdinalRange[];
  readonly read: readonly OrdinalRange[];
}

/** What people have received and read of what was sent to whom, gathered message by message as ranges of ordinals. */
export class OrdinalRuns {
  private readonly recipients = new Map<RecipientId, ReceiverRuns>();
  private readonly users = new Map<UserId, Map<RecipientId, Runs>>();

  to(recipientId: RecipientId): ReceiverRuns {
    const known = this.recipients.get(recipientId);
    if (known) return known;
    const receivers = new ReceiverRuns((userId, runs) => {
      const own = this.users.get(userId);
      if (own) own.set(recipientId, runs);
      else this.users.set(userId, new Map([[recipientId, runs]]));
    });
    this.recipients.set(recipientId, receivers);
    return receivers;
  }

  of(userId: UserId): ReadonlyMap<RecipientId, Runs> {
    return this.users.get(userId) ?? new Map();
  }
}

/** Of one recipient. A message has as many receivers as there are, so that each costs one look-up. */
export class ReceiverRuns {
  private readonly runs = new Map<UserId, { readonly received: Run[]; readonly read: Run[] }>();

  constructor(private readonly onNew: (userId: UserId, runs: Runs) => void) {}

  /** Ordinals come in ascending order. */
  add(userId: UserId, ordinal: Ordinal, isRead: boolean): void {
    let runs = this.runs.get(userId);
    if (!runs) {
      runs = { received: [], read: [] };
      this.runs.set(userId, runs);
      this.onNew(userId, runs);
    }
    extend(runs.received, ordinal);
    if (isRead) extend(runs.read, ordinal);
  }
}

type Run = { -readonly [K in keyof OrdinalRange]: OrdinalRange[K] };

function extend(runs: Run[], ordinal: Ordinal): void {
  const last = runs[runs.length - 1];
  if (last && last.last + 1 === ordinal) last.last = ordinal;
  else runs.push({ first: ordinal, last: ordinal });
}
