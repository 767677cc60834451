import type { Caller } from './caller.js';
import type { Repositories } from './unit-of-work.js';

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
