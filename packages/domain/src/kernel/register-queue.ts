import { DomainError } from './errors.js';
import {
  checkFilterSize,
  type EventQueue,
  idleTimeoutFrom,
  MAX_QUEUES_PER_USER,
  type QueueFilter,
  type QueueIds,
  type QueueKey,
  type QueueNarrowTerm,
  type ServedQueues,
} from './event-queue.js';
import type { Caller, EventSeq } from './ids.js';
import type { Clock } from './ports.js';
import type { Repositories, Transaction, UnitOfWork } from './unit-of-work.js';

/** State as of one moment for one viewer, read by loaders. */
export interface Snapshot {
  readonly caller: Caller;
  readonly repositories: Repositories;
  /** Returns the result of a loader, which runs at most once per snapshot. */
  load<T>(loader: SnapshotLoader<T>): Promise<T>;
}

/** Part of a client's initial state contributed by a feature. Runs inside the snapshot's read transaction. */
export type SnapshotLoader<T> = (snapshot: Snapshot) => Promise<T>;

/** Loaders by names chosen by the caller. */
export type SnapshotLoaders = Readonly<Record<string, SnapshotLoader<unknown>>>;

/** Results under the same names. */
export type Loaded<L extends SnapshotLoaders> = { readonly [Name in keyof L]: Awaited<ReturnType<L[Name]>> };

/** Loaders and those that run in their place. */
export type LoaderSubstitutes = readonly (readonly [SnapshotLoader<unknown>, SnapshotLoader<unknown>])[];

/** Creates a snapshot inside a read transaction. */
export function takeSnapshot(
  repositories: Repositories,
  caller: Caller,
  substitutes: LoaderSubstitutes = [],
): Snapshot {
  const loaded = new Map<SnapshotLoader<unknown>, Promise<unknown>>();
  const substituteOf = new Map(substitutes);
  const snapshot: Snapshot = {
    caller,
    repositories,
    load: <T>(loader: SnapshotLoader<T>) => {
      const existing = loaded.get(loader) as Promise<T> | undefined;
      if (existing) return existing;
      const loading = (substituteOf.get(loader) ?? loader)(snapshot) as Promise<T>;
      loaded.set(loader, loading);
      return loading;
    },
  };
  return snapshot;
}

/** Runs loaders one after the other, yielding to the event loop during long ones. */
export async function loadAll<L extends SnapshotLoaders>(snapshot: Snapshot, loaders: L): Promise<Loaded<L>> {
  const loaded: Record<string, unknown> = {};
  for (const [name, loader] of Object.entries(loaders)) {
    loaded[name] = await snapshot.load(loader);
  }
  return loaded as Loaded<L>;
}

export interface RegisterQueueInput<L extends SnapshotLoaders = SnapshotLoaders> {
  /** Loaders of the requested parts of the initial state. */
  readonly loaders: L;
  readonly substitutes?: LoaderSubstitutes;
  /** Missing properties and an empty narrow select the user's defaults. */
  readonly filter: Partial<QueueFilter>;
  /** Wanted events and their presentation, stored with the queue unchanged. */
  readonly presentation: EventQueue['presentation'];
  /** Requested idle timeout, clamped to the bounds of events §6.1; null selects the default. */
  readonly idleTimeoutSeconds: number | null;
}

type Viewer = Awaited<ReturnType<Repositories['actors']['get']>>;

export interface QueueFilters {
  /** Returns true if queues support the narrow term. */
  isSupported(term: QueueNarrowTerm): boolean;
  loadDefaults(repositories: Repositories, viewer: Viewer): Promise<QueueFilter>;
}

/** Opens an event queue and returns the matching initial state (events §1, §9). */
export class RegisterQueue {
  static readonly inject = ['unitOfWork', 'clock', 'queueIds', 'servedQueues', 'queueFilters'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly queueIds: QueueIds,
    private readonly served: ServedQueues,
    private readonly filters: QueueFilters,
  ) {}

  /**
   * Evicts the least recently polled queue of a user at the limit.
   * @throws DomainError CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS, UNSUPPORTED_QUEUE_OPERATOR (events §1),
   * EVENT_QUEUE_FILTER_TOO_LONG
   */
  async execute<L extends SnapshotLoaders>(
    caller: Caller,
    input: RegisterQueueInput<L>,
  ): Promise<{ readonly queue: EventQueue; readonly loaded: Loaded<L> }> {
    for (;;) {
      // Reads the end of the log and the state in one transaction, so that no event is missed or duplicated.
      const { startSeq, filter, loaded } = await this.uow.read(caller.realmId, async (repositories) => {
        const viewer = await repositories.actors.get(caller);
        if (viewer.role === 'guest' && input.filter.allPublicChannels) {
          throw new DomainError('CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS', 'User not authorized for this query');
        }
        for (const term of input.filter.narrow ?? []) this.requireSupported(term);
        const filter = await this.filterOf(repositories, viewer, input.filter);
        checkFilterSize({ ...input, filter });
        const startSeq = await repositories.events.lastSeq(viewer.realmId);
        const snapshot = takeSnapshot(repositories, caller, input.substitutes);
        return { startSeq, filter, loaded: await loadAll(snapshot, input.loaders) };
      });
      const queue = this.newQueue(caller, { ...input, filter }, startSeq);
      const replaced = await this.uow.write(
        caller.realmId,
        async (tx) => {
          await tx.actors.get(caller);
          if ((await tx.events.prunedUpTo(caller.realmId)) > startSeq) return null;
          const removed = await this.makeRoom(tx, caller);
          await tx.queues.add(queue);
          return removed;
        },
        { shared: { kind: 'registerQueue', userId: caller.userId } },
      );
      if (!replaced) continue;
      this.served.forgetRemoved(replaced);
      await this.served.openNew(queue);
      return { queue, loaded };
    }
  }

  private async filterOf(repositories: Repositories, viewer: Viewer, asked: Partial<QueueFilter>) {
    const defaults = await this.filters.loadDefaults(repositories, viewer);
    return {
      allPublicChannels: asked.allPublicChannels ?? defaults.allPublicChannels,
      narrow: asked.narrow?.length ? asked.narrow : defaults.narrow,
    };
  }

  private async makeRoom(tx: Transaction, { realmId, userId }: Caller): Promise<readonly QueueKey[]> {
    const stored = await tx.queues.listOf(realmId, userId);
    const surplus = stored.length - (MAX_QUEUES_PER_USER - 1);
    if (surplus <= 0) return [];
    // The stored time of the last poll may be a minute old.
    const polled = this.served.lastPolled(userId);
    const ids = stored
      .map(({ id, lastPolledAt }) => ({ id, at: polled.get(id) ?? lastPolledAt }))
      .sort((a, b) => a.at - b.at)
      .slice(0, surplus)
      .map(({ id }) => id);
    await tx.queues.remove(realmId, ids);
    return ids.map((id) => ({ realmId, id }));
  }

  private requireSupported(term: QueueNarrowTerm): void {
    if (this.filters.isSupported(term)) return;
    throw new DomainError('UNSUPPORTED_QUEUE_OPERATOR', `Operator ${term.operator} not supported.`);
  }

  private newQueue(
    caller: Caller,
    input: RegisterQueueInput & Pick<EventQueue, 'filter'>,
    startSeq: EventSeq,
  ): EventQueue {
    return {
      id: this.queueIds.make(caller.realmId, startSeq),
      realmId: caller.realmId,
      ownerId: caller.userId,
      filter: input.filter,
      presentation: input.presentation,
      startSeq,
      acked: -1,
      floorSeq: startSeq,
      lastPolledAt: this.clock.now(),
      idleTimeoutSeconds: idleTimeoutFrom(input.idleTimeoutSeconds),
    };
  }
}
