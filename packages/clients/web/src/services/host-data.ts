import type { ParleyClient } from '@parley/client';
import { useEffect, useState } from 'react';
import { useComputed, useServices } from './context.js';

export type DataKind = 'channel' | 'user';

/** Data that the application keeps on a channel or user; `{}` if there is none. */
export type HostData = Readonly<Record<string, unknown>>;

/** Maximum number of objects in a request, whose URL proxies limit. */
const MAX = 100;

/** Request for the objects that components read in the same task. */
interface Batch {
  readonly ids: Set<number>;
  readonly found: Promise<ReadonlyMap<number, HostData>>;
}

const waiting = new WeakMap<ParleyClient, Map<DataKind, Batch>>();

/** Fetches the data of an object together with other objects of its kind. */
export async function fetchData(client: ParleyClient, kind: DataKind, id: number): Promise<HostData> {
  const batches = waiting.get(client) ?? new Map<DataKind, Batch>();
  waiting.set(client, batches);
  let batch = batches.get(kind);
  if (!batch || batch.ids.size >= MAX) {
    const ids = new Set<number>();
    batch = { ids, found: fetchAll(client, kind, ids, () => batches.get(kind)?.ids === ids && batches.delete(kind)) };
    batches.set(kind, batch);
  }
  batch.ids.add(id);
  return (await batch.found).get(id) ?? {};
}

async function fetchAll(client: ParleyClient, kind: DataKind, ids: ReadonlySet<number>, begin: () => void) {
  // Other components of the same task add their ids.
  await null;
  begin();
  const { objects } = await client.get('/application_data', { object_type: kind, object_ids: [...ids] });
  return new Map(objects.map(({ object_id, data }) => [object_id, data]));
}

/** Data of a channel or user, with its changes; `{}` if there is none, null until it is loaded or without an id. */
export function useObjectData(kind: DataKind, id: number | null): HostData | null {
  const { chat, client } = useServices();
  // The queue of another registration, and a queue that continues, may have missed changes.
  const revision = useComputed(
    () => [chat.field('queue_id'), chat.connection.value.state, chat.state.revisions.get(`${kind}:${id ?? 0}`)].join(),
    [chat, kind, id],
  );
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly data: HostData } | null>(null);
  const key = `${kind}:${id}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another revision is fetched again.
  useEffect(() => {
    let isOver = false;
    const show = (data: HostData) => isOver || setLoaded({ key, data });
    // The next connection fetches again after a failure.
    if (id !== null) void fetchData(client, kind, id).then(show, () => {});
    return () => {
      isOver = true;
    };
  }, [client, kind, id, key, revision]);
  return loaded?.key === key ? loaded.data : null;
}
