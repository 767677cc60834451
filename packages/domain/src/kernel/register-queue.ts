import { DomainError } from './errors.js';
import {
  checkFilterSize,
  type EventQueue,
  idleTimeoutFrom,
  MAX_QUEUES_PER_USER,
  type QueueFilter,
  type QueueKey,
  type QueueNarrowTerm,
  type ServedQueues,
} from './event-queue.js';
import type { Caller, EventSeq } from './ids.js';
import type { Clock, Randomness } from './ports.js';
import type { Repositories, Transaction, UnitOfWork } from './unit-of-work.js';

/** The state as of one moment, for one viewer: what loaders read. */
export interface Snapshot {
  readonly caller: Caller;
  readonly repositories: Repositories;
  /** What the loader loads, which it does once in a snapshot, however often it is asked for. */
  load<T>(loader: SnapshotLoader<T>): Promise<T>;
}

/** What a feature contributes to the state a client begins with. Runs inside the snapshot's read. */
export type SnapshotLoader<T> = (snapshot: Snapshot) => Promise<T>;

/** By names of the caller's choice. */
export type SnapshotLoaders = Readonly<Record<string, SnapshotLoader<unknown>>>;

/** What the loaders loaded, by the same names. */
export type Loaded<L extends SnapshotLoaders> = { readonly [Name in keyof L]: Awaited<ReturnType<L[Name]>> };

/** Within a read. `known`: what these loaders are to answer. */
export function takeSnapshot(
  repositories: Repositories,
  caller: Caller,
  known: readonly (readonly [SnapshotLoader<unknown>, unknown])[] = [],
): Snapshot {
  const loaded = new Map(known.map(([loader, value]) => [loader, Promise.resolve(value)]));
  const snapshot: Snapshot = {
    caller,
    repositories,
    load: <T>(loader: SnapshotLoader<T>) => {
      const known = loaded.get(loader) as Promise<T> | undefined;
      if (known) return known;
      const loading = loader(snapshot);
      loaded.set(loader, loading);
      return loading;
    },
  };
  return snapshot;
}

/** One after the other; the event loop turns in between where it takes long. */
export async function loadAll<L extends SnapshotLoaders>(snapshot: Snapshot, loaders: L): Promise<Loaded<L>> {
  const loaded: Record<string, unknown> = {};
  for (const [name, loader] of Object.entries(loaders)) {
    loaded[name] = await snapshot.load(loader);
    await snapshot.repositories.yield();
  }
  return loaded as Loaded<L>;
}

export interface RegisterQueueInput<L extends SnapshotLoaders = SnapshotLoaders> {
  /** Of the state that the client wants to begin with. */
  readonly loaders: L;
  /** What is absent, and an empty narrow: as queues of the user are by default. */
  readonly filter: Partial<QueueFilter>;
  /** Which events the client wants, and how; kept with the queue as it comes. */
  readonly presentation: EventQueue['presentation'];
  /** How long it lives without being polled, within the bounds of events §6.1; null: the usual time. */
  readonly idleTimeoutSeconds: number | null;
}

type Viewer = Awaited<ReturnType<Repositories['actors']['get']>>;

export interface QueueFilters {
  /** Whether queues can be narrowed by a term. */
  isSupported(term: QueueNarrowTerm): boolean;
  loadDefaults(repositories: Repositories, viewer: Viewer): Promise<QueueFilter>;
}

/** Opens an event queue, and answers with the state that its events go on from (events §1, §9). */
export class RegisterQueue {
  static readonly inject = ['unitOfWork', 'clock', 'randomness', 'servedQueues', 'queueFilters'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly served: ServedQueues,
    private readonly filters: QueueFilters,
  ) {}

  /**
   * Of a user who has as many queues as one may have, the one that was polled least recently expires.
   * @throws DomainError CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS, UNSUPPORTED_QUEUE_OPERATOR (events §1),
   * EVENT_QUEUE_FILTER_TOO_LONG
   */
  async execute<L extends SnapshotLoaders>(
    caller: Caller,
    input: RegisterQueueInput<L>,
  ): Promise<{ readonly queue: EventQueue; readonly loaded: Loaded<L> }> {
    for (;;) {
      // The log's end and the state are of one read: no event is missing between them, none comes twice.
      const { startSeq, filter, loaded } = await this.uow.read(async (repositories) => {
        const viewer = await repositories.actors.get(caller);
        if (viewer.role === 'guest' && input.filter.allPublicChannels) {
          throw new DomainError('CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS', 'User not authorized for this query');
        }
        for (const term of input.filter.narrow ?? []) this.requireSupported(term);
        const filter = await this.filterOf(repositories, viewer, input.filter);
        checkFilterSize({ ...input, filter });
        const startSeq = await repositories.events.lastSeq(viewer.realmId);
        return { startSeq, filter, loaded: await loadAll(takeSnapshot(repositories, caller), input.loaders) };
      });
      const queue = this.newQueue(caller, { ...input, filter }, startSeq);
      const replaced = await this.uow.write(async (tx) => {
        await tx.actors.get(caller);
        if ((await tx.events.prunedUpTo(caller.realmId)) > startSeq) return null;
        const removed = await this.makeRoom(tx, caller);
        await tx.queues.add(queue);
        return removed;
      });
      if (!replaced) continue;
      this.served.forgetRemoved(replaced);
      await this.served.admit(queue);
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
    // What is stored of it may be a minute old.
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
      id: this.randomness.uuid(),
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
