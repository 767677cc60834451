import type { Ordinal, RecipientId, UserId } from '@parley/domain/kernel';
import type { OrdinalRange } from '@parley/domain/messages';

/** Ordinals of one recipient that a user received and read; ascending. */
export interface Runs {
  readonly received: readonly OrdinalRange[];
  readonly read: readonly OrdinalRange[];
}

/** Collects received and read messages per user and recipient as ranges of ordinals. */
export class OrdinalRuns {
  private readonly recipients = new Map<RecipientId, ReceiverRuns>();
  private readonly users = new Map<UserId, Map<RecipientId, Runs>>();

  /** Returns the collector of messages to a recipient. */
  to(recipientId: RecipientId): ReceiverRuns {
    const existing = this.recipients.get(recipientId);
    if (existing) return existing;
    const receivers = new ReceiverRuns((userId, runs) => {
      const own = this.users.get(userId);
      if (own) own.set(recipientId, runs);
      else this.users.set(userId, new Map([[recipientId, runs]]));
    });
    this.recipients.set(recipientId, receivers);
    return receivers;
  }

  /** `subscribed`: recipients of the channels that the user subscribes to. */
  of(userId: UserId, subscribed: readonly RecipientId[]): ReadonlyMap<RecipientId, Runs> {
    const all = new Map(this.users.get(userId));
    for (const recipientId of subscribed) {
      const shared = this.recipients.get(recipientId)?.forSubscribers ?? [];
      if (shared.length > 0) all.set(recipientId, withShared(shared, all.get(recipientId)));
    }
    return all;
  }
}

/** Ordinal ranges of one recipient. Each receiver of a message costs one look-up. */
export class ReceiverRuns {
  /** Ordinals of messages that all subscribers received and read, unless `add` says that a user did not read them. */
  readonly forSubscribers: OrdinalRange[] = [];
  private readonly runs = new Map<UserId, { readonly received: Run[]; readonly read: Run[] }>();

  constructor(private readonly onNew: (userId: UserId, runs: Runs) => void) {}

  /** Requires ascending ordinals. */
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

  /** Adds a message for all subscribers, at a cost that does not depend on their number. */
  addForSubscribers(ordinal: Ordinal): void {
    extend(this.forSubscribers, ordinal);
  }
}

function withShared(shared: readonly OrdinalRange[], own: Runs = { received: [], read: [] }): Runs {
  const unread = difference(own.received, own.read);
  return { received: union(shared, own.received), read: difference(union(shared, own.read), unread) };
}

/** Returns ascending ranges from ascending ranges. */
function union(a: readonly OrdinalRange[], b: readonly OrdinalRange[]): readonly OrdinalRange[] {
  const joined: Run[] = [];
  for (const range of [...a, ...b].sort((one, other) => one.first - other.first)) {
    const last = joined.at(-1);
    if (last && range.first <= last.last + 1) last.last = Math.max(last.last, range.last) as Ordinal;
    else joined.push({ ...range });
  }
  return joined;
}

/** Returns ascending ranges from ascending ranges. */
export function difference(from: readonly OrdinalRange[], removed: readonly OrdinalRange[]): readonly OrdinalRange[] {
  const left: Run[] = [];
  let index = 0;
  for (const { first, last } of from) {
    let start: number = first;
    while (index < removed.length && removed[index]!.last < start) index++;
    for (let at = index; at < removed.length && removed[at]!.first <= last; at++) {
      const { first: gapStart, last: gapEnd } = removed[at]!;
      if (gapStart > start) left.push({ first: start as Ordinal, last: (gapStart - 1) as Ordinal });
      start = gapEnd + 1;
    }
    if (start <= last) left.push({ first: start as Ordinal, last });
  }
  return left;
}

type Run = { -readonly [K in keyof OrdinalRange]: OrdinalRange[K] };

function extend(runs: Run[], ordinal: Ordinal): void {
  const last = runs[runs.length - 1];
  if (last && last.last + 1 === ordinal) last.last = ordinal;
  else runs.push({ first: ordinal, last: ordinal });
}
