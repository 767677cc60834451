import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Randomness } from '@parley/domain/kernel';
import type { Cluster, ClusterNode } from './cluster.js';
import type { FaultyProxy, ProxyMode } from './faulty-proxy.js';

/** Fault that is repaired after a while. */
interface Fault {
  readonly name: string;
  /** Maximum duration in milliseconds. */
  readonly upTo: number;
  run(cluster: Cluster, node: ClusterNode, duration: number): Promise<void>;
}

const disturbing =
  (proxyOf: (node: ClusterNode) => FaultyProxy, mode: ProxyMode): Fault['run'] =>
  async (_cluster, node, duration) => {
    proxyOf(node).become(mode);
    await sleep(duration);
    proxyOf(node).become('open');
  };

const delaying =
  (proxyOf: (node: ClusterNode) => FaultyProxy, delayMs: number): Fault['run'] =>
  async (_cluster, node, duration) => {
    proxyOf(node).delayMs = delayMs;
    await sleep(duration);
    proxyOf(node).delayMs = 0;
  };

/** Fractions of the run at which a rolling upgrade starts and ends. */
const UPGRADE = { begins: 0.25, ends: 0.7 };

const WRONG_CLOCK_MS = 600_000;

const LONG_FREEZE_MS = 90_000;

/** Faults between nodes, database and bus; proxies create partitions. */
const FAULTS: readonly Fault[] = [
  {
    name: 'killed',
    upTo: 1500,
    async run(cluster, node, duration) {
      await node.process.kill();
      await sleep(duration);
      await cluster.restart(node);
    },
  },
  {
    name: 'frozen',
    upTo: 8000,
    async run(_cluster, node, duration) {
      node.process.signal('SIGSTOP');
      await sleep(duration);
      node.process.signal('SIGCONT');
    },
  },
  { name: 'cut off from the database', upTo: 6000, run: disturbing((node) => node.toDatabase, 'refusing') },
  { name: 'unheard by the database', upTo: 6000, run: disturbing((node) => node.toDatabase, 'silent') },
  { name: 'cut off from the bus', upTo: 5000, run: disturbing((node) => node.toBus, 'refusing') },
  { name: 'unheard by the bus', upTo: 5000, run: disturbing((node) => node.toBus, 'silent') },
  { name: 'far from the database', upTo: 5000, run: delaying((node) => node.toDatabase, 10) },
  { name: 'far from the bus', upTo: 5000, run: delaying((node) => node.toBus, 200) },
  {
    name: 'ten minutes ahead, or behind, after a restart',
    upTo: 8000,
    async run(cluster, node, duration) {
      await node.process.kill();
      await cluster.restart(node, duration % 2 === 0 ? WRONG_CLOCK_MS : -WRONG_CLOCK_MS);
      await sleep(duration);
      await node.process.kill();
      await cluster.restart(node);
    },
  },
  {
    name: 'replaced by one of the next release, or of this one again',
    upTo: 1000,
    run: (cluster, node) => (cluster.upgrade === 'begun' ? cluster.exchange(node) : Promise.resolve()),
  },
  {
    name: 'without PostgreSQL, which was killed',
    upTo: 1500,
    async run({ postgres }, _node, duration) {
      await postgres.kill();
      await sleep(duration);
      await postgres.start();
    },
  },
  {
    name: 'without PostgreSQL, whose standby takes over',
    upTo: 1000,
    run: (cluster, _node, duration) => cluster.failOver(duration, duration % 2 === 0),
  },
  {
    name: 'without NATS, which was killed',
    upTo: 3000,
    async run({ nats }, _node, duration) {
      await nats.kill();
      await sleep(duration);
      await nats.start();
    },
  },
];

/** Freezes the first node; other nodes take over its recurring work and scheduled messages. */
async function freezeLong({ nodes, postgres }: Cluster): Promise<void> {
  const [node] = nodes;
  node!.process.signal('SIGSTOP');
  await sleep(LONG_FREEZE_MS);
  const overdue = `
    SELECT name FROM worker_lease WHERE until < extract(epoch FROM now())
    UNION ALL SELECT kind FROM job WHERE set_aside_at IS NULL AND due_at < extract(epoch FROM now()) - 15`;
  const left = await postgres.query(overdue);
  node!.process.signal('SIGCONT');
  assert.deepEqual(left, [], 'other nodes left the work of the frozen one undone');
}

/**
 * Causes random faults, one at a time, until the time is over; a long run freezes a node first. Returns the count of
 * each fault.
 */
export async function causeFaults(
  cluster: Cluster,
  random: Randomness,
  endsAt: number,
  report: (line: string) => void,
  isLong: boolean,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const below = (limit: number) => Math.floor(random.fraction() * limit);
  const startedAt = Date.now();
  if (isLong) {
    report(`${cluster.nodes[0]!.name} is frozen for ${LONG_FREEZE_MS} ms`);
    await freezeLong(cluster);
    counts.set('frozen for 90 s', 1);
  }
  while (Date.now() < endsAt) {
    const share = (Date.now() - startedAt) / (endsAt - startedAt);
    if (cluster.upgrade === 'none' && share > UPGRADE.begins) {
      report('the next release migrates the schema');
      await cluster.beginUpgrade();
    } else if (cluster.upgrade === 'begun' && share > UPGRADE.ends) {
      report('all nodes get the next release, and the upgrade is finished');
      await cluster.finishUpgrade();
    }
    await sleep(below(1000));
    const [fault, node] = [FAULTS[below(FAULTS.length)]!, cluster.nodes[below(cluster.nodes.length)]!];
    const duration = below(fault.upTo);
    report(`${node.name} is ${fault.name} for ${duration} ms`);
    await fault.run(cluster, node, duration);
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
  }
  return counts;
}
