import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '@parley/postgres/testing';
import { freePort, until } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { transform } from 'esbuild';

/** Number of moments at which the shop is stopped; `npm run endurance` includes the long run. */
const STOPS = Number(process.env.PARLEY_OUTBOX_STOPS ?? (process.env.HOSTILE_LOAD === 'long' ? 10_000 : 40));
/** Most stops of one process. The last one kills it. */
const STOPS_PER_PROCESS = 20;
/** Each check reads all orders of a shop. */
const PROCESSES_PER_SHOP = 10;
/** Longest time before a stop. */
const MAX_DELAY_MS = 50;
/** Orders being placed at the same time. */
const CUSTOMERS = 3;
jest.setTimeout(300_000 + STOPS * 1000);
const root = resolve(__dirname, '../../../../..');

interface State {
  readonly orders: readonly { readonly number: number; readonly messages: number }[];
  /** Numbers of orders with a row in the outbox. */
  readonly outbox: readonly number[];
  /** Number of messages by topic. */
  readonly sent: ReadonlyMap<string, number>;
}

interface Orders {
  readonly placed: readonly number[];
  readonly begun: Promise<void>;
  readonly ended: Promise<unknown>;
}

/** Project with `docs/examples/outbox.ts`, which runs on the built packages. */
class Shop {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-outbox-'));
  private readonly children = new Set<ChildProcess>();
  private orders = 0;

  /** @param chat database of the chat on PostgreSQL; null for a file */
  private constructor(private readonly chat: Awaited<ReturnType<typeof createDatabase>> | null) {}

  static async create(): Promise<Shop> {
    const shop = new Shop(process.env.PARLEY_TEST_POSTGRES ? await createDatabase() : null);
    symlinkSync(join(root, 'node_modules'), join(shop.folder, 'node_modules'));
    mkdirSync(join(shop.folder, 'data'));
    const { code } = await transform(readFileSync(join(root, 'docs/examples/outbox.ts'), 'utf8'), { loader: 'ts' });
    // A busy machine must not refuse messages.
    const relaxed = code.replace('createParley({', 'createParley({ shedsLoad: false, rateLimits: false,');
    writeFileSync(join(shop.folder, 'outbox.mjs'), shop.chat ? onPostgres(relaxed, shop.chat.url) : relaxed);
    return shop;
  }

  async start(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
    const port = await freePort();
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(process.execPath, ['outbox.mjs'], {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.children.add(child);
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === `http://localhost:${port}/chat`) return { child, url: `http://localhost:${port}` };
    }
    throw new Error('The shop did not start');
  }

  /** Places orders until the process is killed. `placed` has the acknowledged ones; `begun` resolves with the first. */
  placeOrders(url: string): Orders {
    const placed: number[] = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const customer = async () => {
      for (;;) {
        const number = ++this.orders;
        const response = await fetch(`${url}/orders/${number}`, { method: 'POST' }).catch(() => null);
        if (!response) return;
        expect(response.status).toBe(201);
        placed.push(number);
        begin();
      }
    };
    const ended = Promise.all(Array.from({ length: CUSTOMERS }, customer));
    return { placed, begun, ended };
  }

  /** Ends the processes of a failed test, too. */
  async remove(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true });
    await this.chat?.drop();
  }

  /** Reads both databases in a folder, as an operator would after a crash. */
  async read(folder = join(this.folder, 'data')): Promise<State> {
    const shop = new Sqlite(join(folder, 'shop.db'));
    const orders = shop.prepare<[], State['orders'][number]>('SELECT number, messages FROM customer_order').all();
    const outbox = shop.prepare<[], number>('SELECT number FROM outbox').pluck().all();
    shop.close();
    const sent = await this.query(
      folder,
      "SELECT topic, count(*) AS times FROM message WHERE topic LIKE 'Order %' GROUP BY topic",
    );
    return { orders, outbox, sent: new Map(sent.map(({ topic, times }) => [topic, Number(times)])) };
  }

  /** Stops the process, and reads what a kill would leave, from copies of the files without the shared memory. */
  async stop(child: ChildProcess): Promise<State> {
    const data = join(this.folder, 'data');
    const copy = join(this.folder, 'copy');
    mkdirSync(copy);
    child.kill('SIGSTOP');
    await until(() =>
      execFileSync('ps', ['-o', 'stat=', '-p', String(child.pid)], { encoding: 'utf8' }).startsWith('T'),
    );
    for (const file of readdirSync(data).filter((name) => /\.db(-wal)?$/.test(name))) {
      copyFileSync(join(data, file), join(copy, file));
    }
    const state = await this.read(copy);
    rmSync(copy, { recursive: true });
    return state;
  }

  private async query(
    folder: string,
    sql: string,
  ): Promise<readonly { readonly topic: string; readonly times: unknown }[]> {
    if (this.chat) return (await this.chat.query(sql)) as Awaited<ReturnType<Shop['query']>>;
    const chat = new Sqlite(join(folder, 'chat.db'));
    const rows = chat.prepare<[], { topic: string; times: number }>(sql).all();
    chat.close();
    return rows;
  }
}

/** PostgreSQL needs a storage for files, a secret and a mailer, which its servers share. */
const onPostgres = (code: string, url: string): string =>
  `import { FolderBlobStore } from '@parley/blobs';\n${code.replace(
    'database: "sqlite:data/chat.db"',
    `database: '${url}', secret: 'secret of the test', files: new FolderBlobStore('data/files'), mailer: { send() {} }`,
  )}`;

async function kill(child: ChildProcess): Promise<void> {
  const isOver = once(child, 'exit');
  child.kill('SIGKILL');
  await isOver;
}

const topicOf = (number: number): string => `Order ${number}`;

/** Orders without message and outbox row, messages without order, repeated messages, and messages counted too often. */
function halfStates({ orders, outbox, sent }: State): readonly string[] {
  const waiting = new Set(outbox);
  const known = new Set(orders.map(({ number }) => topicOf(number)));
  return [
    ...orders
      .filter(({ number }) => !waiting.has(number) && !sent.has(topicOf(number)))
      .map(({ number }) => `lost ${number}`),
    ...[...sent.keys()].filter((topic) => !known.has(topic)).map((topic) => `unknown ${topic}`),
    ...[...sent].filter(([, times]) => times > 1).map(([topic]) => `repeated ${topic}`),
    ...orders
      .filter(({ number, messages }) => messages > (sent.get(topicOf(number)) ?? 0))
      .map(({ number }) => `counted too often ${number}`),
  ];
}

let shop: Shop;
beforeEach(async () => {
  shop = await Shop.create();
});
afterEach(() => shop.remove());

const isDone = ({ orders, outbox }: State): boolean =>
  outbox.length === 0 && orders.every(({ messages }) => messages === 1);

/** Fails if something is stored in half, or an acknowledged order is missing. */
function check(state: State, placed: readonly number[]): void {
  expect(halfStates(state)).toEqual([]);
  const stored = new Set(state.orders.map(({ number }) => number));
  expect(placed.filter((number) => !stored.has(number))).toEqual([]);
}

/** True if a message is sent and its row remains, so that the next process sends it again. */
const isBetween = ({ outbox, sent }: State): boolean => outbox.some((number) => sent.has(topicOf(number)));

/** Stops the shop at random moments, and kills it between a message and its row, or at the last one. Returns the states. */
async function stopRepeatedly(stops: number): Promise<readonly State[]> {
  const { child, url } = await shop.start();
  const { placed, begun, ended } = shop.placeOrders(url);
  // Stops may precede the first order of every other process.
  if (Math.random() < 0.5) await begun;
  const states: State[] = [];
  for (;;) {
    await sleep(Math.random() * MAX_DELAY_MS);
    const state = await shop.stop(child);
    check(state, placed);
    states.push(state);
    if (states.length === stops || isBetween(state)) break;
    child.kill('SIGCONT');
  }
  await kill(child);
  await ended;
  check(await shop.read(), placed);
  return states;
}

/** Starts the shop once more, until it has sent and counted everything. */
async function finish(): Promise<void> {
  const { child } = await shop.start();
  await until(async () => isDone(await shop.read()));
  await kill(child);
  expect(halfStates(await shop.read())).toEqual([]);
}

it('an order and its message are stored together, and the message is counted once, whenever the shop is killed', async () => {
  const count = { stops: 0, kills: 0, withRows: 0, between: 0 };
  while (count.stops < STOPS) {
    const states = await stopRepeatedly(Math.min(STOPS - count.stops, STOPS_PER_PROCESS));
    count.stops += states.length;
    count.kills++;
    count.withRows += states.filter(({ outbox }) => outbox.length > 0).length;
    count.between += states.filter(isBetween).length;
    if (count.kills % PROCESSES_PER_SHOP !== 0) continue;
    await finish();
    await shop.remove();
    shop = await Shop.create();
  }
  await finish();
  if (STOPS > 100) console.info(JSON.stringify(count));
  expect(count.withRows).toBeGreaterThan(0);
});

it('two processes share the database, the outbox and the consumer, and one takes over when the other is killed', async () => {
  const first = await shop.start();
  const second = await shop.start();
  const placing = [first, second].map(({ url }) => shop.placeOrders(url));
  await Promise.all(placing.map(({ begun }) => begun));
  await kill(first.child);
  await sleep(MAX_DELAY_MS);
  await kill(second.child);
  await Promise.all(placing.map(({ ended }) => ended));
  await finish();
});
