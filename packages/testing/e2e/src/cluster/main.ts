import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { hasNatsServer, SeededRandomness } from '@parley/testkit';
import { Cluster, type Person, type Reply, type StoredMessages } from './cluster.js';
import { ClusterClient, history, unreadIn } from './cluster-client.js';
import { causeFaults } from './faults.js';

const USAGE = `Usage: npm run cluster [-- [MINUTES] [--seed N] [--nodes N]]

Starts nodes, PostgreSQL and NATS, and randomly kills, freezes and disconnects them while people write (default: 1 minute). In the
end every acknowledged message must exist once, and each client must have the same state as a new one. Exit code 1: a check failed.
A run of 4 minutes or more starts by freezing a node for 90 seconds.

  --seed N    determines the faults; default: random
  --nodes N   number of nodes; default: 3`;

/** Minimum duration of a run that starts by freezing a node for 90 seconds. */
const LONG_RUN_MINUTES = 4;
const WRITERS = 4;
const READERS = 4;
/** Time limit for all queues to receive everything after the last fault is repaired. */
const SETTLE_MS = 20_000;
/** Time limit for clients with expired queues to register and load stored messages: tens of thousands after an hour. */
const REGISTER_MS = 120_000;
/** Longer than a request takes. */
const SCHEDULED_SECONDS = 10;
/** Time limit for delivering scheduled messages, including those that a killed node was about to deliver. */
const DELIVERY_MS = 60_000;

/** Messages and edits of one person. */
class Writer {
  /** Contents of acknowledged messages by id. */
  readonly acknowledged = new Map<number, string>();
  /** Contents of acknowledged scheduled messages. */
  readonly scheduled = new Set<string>();
  readonly attempted = new Set<string>();
  /** Messages with an edit that got no response. */
  readonly uncertain = new Set<number>();
  failures = 0;
  /** Number of acknowledged messages missing on a standby. */
  lost = 0;

  constructor(
    private readonly cluster: Cluster,
    readonly person: Person,
    private readonly people: readonly Person[],
  ) {}

  async write(endsAt: number): Promise<void> {
    for (let count = 1; Date.now() < endsAt; count++) {
      await this.send(count);
      if (count % 5 === 0) await this.edit();
      if (count % 20 === 0) await this.schedule(count);
      await sleep(20);
    }
  }

  /** Sends messages until one is acknowledged, and returns its content. */
  async finish(): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const content = `last words of ${this.person.email}, attempt ${attempt}`;
      if ((await this.post(content)) !== null) return content;
      await sleep(100);
    }
  }

  /** Adopts the surviving messages after a failover. */
  takeLoss(left: StoredMessages, waiting: ReadonlySet<string>): void {
    const delivered = new Set(left.values());
    for (const content of this.scheduled) {
      if (!delivered.has(content) && !waiting.has(content) && this.scheduled.delete(content)) this.lost++;
    }
    for (const id of [...this.acknowledged.keys()]) {
      const content = left.get(id);
      this.uncertain.delete(id);
      if (content !== undefined) this.acknowledged.set(id, content);
      else if (this.acknowledged.delete(id)) this.lost++;
    }
  }

  private async send(count: number): Promise<void> {
    await this.post(`${this.person.email} ${count}`);
  }

  private async post(content: string): Promise<number | null> {
    this.attempted.add(content);
    const to = this.people.map(({ id }) => id);
    const reply = await this.change('POST', '/messages', { type: 'direct', to, content });
    if (reply === null) return null;
    this.acknowledged.set(reply.body.id, content);
    return reply.body.id;
  }

  private async schedule(count: number): Promise<void> {
    const content = `${this.person.email} ${count}, later`;
    this.attempted.add(content);
    const reply = await this.change('POST', '/scheduled_messages', {
      type: 'direct',
      to: this.people.map(({ id }) => id),
      content,
      scheduled_delivery_timestamp: Math.ceil(Date.now() / 1000) + SCHEDULED_SECONDS,
    });
    if (reply !== null) this.scheduled.add(content);
  }

  private async edit(): Promise<void> {
    const last = [...this.acknowledged.keys()].at(-1);
    if (last === undefined) return;
    const content = `${this.acknowledged.get(last)} (edited)`;
    this.attempted.add(content);
    if ((await this.change('PATCH', `/messages/${last}`, { content })) === null) this.uncertain.add(last);
    else this.acknowledged.set(last, content);
  }

  /** Returns null if it is unknown whether the change was made. */
  private async change(method: string, path: string, params: Readonly<Record<string, unknown>>) {
    const { losses } = this.cluster;
    const reply: Reply | null = await this.cluster.request(this.person, method, path, params).catch(() => null);
    const isCertain = this.cluster.losses === losses;
    if (reply?.status === 200 && isCertain) return reply;
    if (reply !== null && isCertain)
      assert.equal(reply.status, 503, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    this.failures++;
    return null;
  }
}

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly nodes: number;
}

/** @throws Error with an explanation of the invalid command line */
function readOptions(args: readonly string[]): Options {
  const options = { seed: { type: 'string' }, nodes: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [minutes = '1', ...others] = positionals;
  const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
  const nodes = values.nodes ?? '3';
  if (others.length > 0 || !/^\d+(\.\d+)?$/.test(minutes)) throw new Error('It takes a number of minutes.');
  if (!/^\d{1,9}$/.test(seed)) throw new Error('--seed takes a number.');
  if (!/^([1-9]|[12]\d|3[0-2])$/.test(nodes)) throw new Error('--nodes takes a number from 1 to 32.');
  return { minutes: Number(minutes), seed: Number(seed), nodes: Number(nodes) };
}

async function run({ minutes, seed, nodes }: Options): Promise<void> {
  if (!hasNatsServer) throw new Error('nats-server is not installed; on Debian: apt-get install nats-server');
  const cluster = await Cluster.start(nodes);
  try {
    const people = await Promise.all(
      Array.from({ length: WRITERS }, (_, index) => cluster.addPerson(`person${index}`)),
    );
    const writers = people.map((person) => new Writer(cluster, person, people));
    cluster.onLoss = (left, waiting) => {
      for (const writer of writers) writer.takeLoss(left, waiting);
    };
    const clients = Array.from(
      { length: READERS },
      (_, i) => new ClusterClient(cluster, people[i % people.length]!, i % 2 === 1),
    );
    for (const client of clients) assert.ok(await client.register());
    const endsAt = Date.now() + minutes * 60_000;
    const following = Promise.all(clients.map((client) => client.follow()));
    const working = Promise.all([
      causeFaults(
        cluster,
        new SeededRandomness(seed),
        endsAt,
        (line) => console.log(line),
        minutes >= LONG_RUN_MINUTES,
      ),
      ...writers.map((writer) => writer.write(endsAt)),
      ...clients.map((client) => markRead(cluster, client, endsAt)),
    ]);
    const [faults] = await Promise.race([working, following.then(() => working)]);
    await Promise.race([settle(cluster, writers, clients).then(() => check(cluster, writers, clients)), following]);
    for (const client of clients) client.stop();
    await following;
    summarize(faults, writers, clients);
  } catch (error) {
    // Nodes log the reason after sending the response.
    await sleep(500);
    console.error(cluster.problems.slice(-40).join('\n'));
    console.error((await cluster.describeLog().catch((reason) => [String(reason)])).join('\n'));
    throw error;
  } finally {
    await cluster.close();
  }
}

/** Occasionally marks the client's messages as read, so that unread messages differ between people. */
async function markRead(cluster: Cluster, client: ClusterClient, endsAt: number): Promise<void> {
  while (Date.now() < endsAt) {
    await sleep(700);
    const messages = [...client.unread].slice(0, 10);
    if (messages.length === 0) continue;
    const params = { messages, op: 'add', flag: 'read' };
    await cluster.request(client.person, 'POST', '/messages/flags', params).catch(() => null);
  }
}

/**
 * Waits until each client has received the last message and the scheduled messages of each person, and until scheduled
 * messages without a response to their writer are delivered too.
 */
async function settle(cluster: Cluster, writers: readonly Writer[], clients: readonly ClusterClient[]): Promise<void> {
  const last = await Promise.all(writers.map((writer) => writer.finish()));
  const scheduled = writers.flatMap((writer) => [...writer.scheduled]);
  for (const [awaited, patienceMs, name] of [
    [last, SETTLE_MS, 'last'],
    [scheduled, DELIVERY_MS, 'scheduled'],
  ] as const) {
    const registeredBy = Date.now() + REGISTER_MS;
    let deadline = Date.now() + patienceMs;
    for (const client of clients) {
      for (;;) {
        const known = new Set(client.contents.values());
        const missing = awaited.filter((content) => !known.has(content));
        if (missing.length === 0) break;
        if (!client.hasQueue && Date.now() < registeredBy) deadline = Date.now() + patienceMs;
        if (Date.now() >= deadline) {
          const nodes = await client.describeNodes();
          assert.fail(`${client.person.email} lacks ${name} messages: ${missing.join(' ')}\n${nodes.join('\n')}`);
        }
        await sleep(50);
      }
    }
  }
  const deadline = Date.now() + DELIVERY_MS;
  while ((await cluster.postgres.query("SELECT 1 FROM scheduled_message WHERE status = 'waiting'")).length > 0) {
    assert.ok(Date.now() < deadline, 'scheduled messages are not delivered');
    await sleep(200);
  }
}

/** Returns the ids of a person's unread messages. Retries requests without a response. */
async function unreadOf(cluster: Cluster, person: Person): Promise<readonly number[]> {
  for (;;) {
    const params = { fetch_event_types: ['message', 'update_message_flags'] };
    const reply = await cluster.request(person, 'POST', '/register', params).catch(() => null);
    if (reply?.status === 200) return unreadIn(reply.body.unread_msgs);
    await sleep(200);
  }
}

/** Waits until a client that still follows has the state of a new one. Returns the stored contents by id. */
async function untilSame(cluster: Cluster, client: ClusterClient): Promise<ReadonlyMap<number, string>> {
  for (const deadline = Date.now() + SETTLE_MS; ; await sleep(1000)) {
    const stored = await history(cluster, client.person);
    const unread = await unreadOf(cluster, client.person);
    const knowsContents = isDeepStrictEqual([...client.contents], [...stored]);
    if (knowsContents && isDeepStrictEqual(client.unread, new Set(unread))) return stored;
    if (Date.now() >= deadline) assert.fail(client.describeDifference(stored, unread));
  }
}

async function check(cluster: Cluster, writers: readonly Writer[], clients: readonly ClusterClient[]): Promise<void> {
  for (const client of clients) {
    const stored = await untilSame(cluster, client);
    const contents = [...stored.values()];
    assert.equal(new Set(contents).size, contents.length, 'a message exists twice');
    for (const { acknowledged, scheduled, attempted, uncertain, person } of writers) {
      for (const content of scheduled) assert.ok(contents.includes(content), `${content} was not delivered`);
      for (const [id, content] of acknowledged) {
        const isEdited = uncertain.has(id) && stored.get(id) === `${content} (edited)`;
        if (!isEdited) assert.equal(stored.get(id), content, `message ${id} of ${person.email}`);
      }
      const own = contents.filter((content) => content.startsWith(`${person.email} `));
      assert.deepEqual(
        own.filter((content) => !attempted.has(content)),
        [],
      );
    }
  }
}

function summarize(
  faults: ReadonlyMap<string, number>,
  writers: readonly Writer[],
  clients: readonly ClusterClient[],
): void {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  for (const [name, count] of faults) console.log(`${count} × a node was ${name}`);
  console.log(`${sum(writers.map(({ acknowledged }) => acknowledged.size))} messages acknowledged and stored once`);
  console.log(`${sum(writers.map(({ scheduled }) => scheduled.size))} scheduled messages delivered once`);
  console.log(`${sum(writers.map(({ lost }) => lost))} other messages lost, because an asynchronous standby took over`);
  console.log(`${sum(clients.map(({ registrations }) => registrations))} queues registered again as a result`);
  console.log(`${sum(writers.map(({ failures }) => failures))} changes without a response`);
  console.log(
    `${sum(clients.map(({ failedPolls }) => failedPolls))} polls repeated; no other queue ended, no event repeated`,
  );
}

let options: Options;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\n\n${USAGE}`);
  process.exit(2);
}
console.log(`Seed ${options.seed}`);
try {
  await run(options);
} catch (error) {
  console.error(error);
  console.error(`Failed with seed ${options.seed}`);
  // Otherwise pending faults would continue.
  process.exit(1);
}
