import type { OrdinalRange } from '../messages/read-set.js';
import type { Ordinal, RecipientId, UserId } from '../shared/ids.js';

interface Runs {
  readonly received: Run[];
  readonly read: Run[];
}

type Run = { -readonly [K in keyof OrdinalRange]: OrdinalRange[K] };

/** What people have received and read of what was sent to whom, gathered message by message as ranges of ordinals. */
export class OrdinalRuns {
  private readonly users = new Map<UserId, Map<RecipientId, Runs>>();

  /** Ordinals of one recipient come in ascending order. */
  add(userId: UserId, recipientId: RecipientId, ordinal: Ordinal, isRead: boolean): void {
    let recipients = this.users.get(userId);
    if (!recipients) {
      recipients = new Map();
      this.users.set(userId, recipients);
    }
    let runs = recipients.get(recipientId);
    if (!runs) {
      runs = { received: [], read: [] };
      recipients.set(recipientId, runs);
    }
    extend(runs.received, ordinal);
    if (isRead) extend(runs.read, ordinal);
  }

  of(
    userId: UserId,
  ): ReadonlyMap<RecipientId, { readonly received: readonly OrdinalRange[]; readonly read: readonly OrdinalRange[] }> {
    return this.users.get(userId) ?? new Map();
  }
}

function extend(runs: Run[], ordinal: Ordinal): void {
  const last = runs.at(-1);
  if (last && last.last + 1 === ordinal) last.last = ordinal;
  else runs.push({ first: ordinal, last: ordinal });
}
