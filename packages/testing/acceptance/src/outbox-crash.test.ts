import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '@parley/postgres/testing';
import { freePort, until } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { transform } from 'esbuild';

/** Number of kills; `npm run endurance` includes the long run. */
const KILLS = Number(process.env.PARLEY_OUTBOX_KILLS ?? (process.env.HOSTILE_LOAD === 'long' ? 10_000 : 4));
/** Each check reads all orders of a shop. */
const KILLS_PER_SHOP = 50;
/** Longest time before a kill. */
const MAX_DELAY_MS = 250;
/** Orders being placed at the same time. */
const CUSTOMERS = 3;
jest.setTimeout(300_000 + KILLS * 10_000);
const root = resolve(__dirname, '../../../..');

interface State {
  readonly orders: readonly { readonly number: number; readonly messages: number }[];
  /** Numbers of orders with a row in the outbox. */
  readonly outbox: readonly number[];
  /** Number of messages by topic. */
  readonly sent: ReadonlyMap<string, number>;
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

  /** Places orders until the process is killed. Returns the acknowledged ones, and resolves `begun` with the first. */
  placeOrders(url: string): { readonly begun: Promise<void>; readonly ended: Promise<readonly number[]> } {
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
    const ended = Promise.all(Array.from({ length: CUSTOMERS }, customer)).then(() => placed);
    return { begun, ended };
  }

  /** Ends the processes of a failed test, too. */
  async remove(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true });
    await this.chat?.drop();
  }

  /** Reads both databases, as an operator would after a crash. */
  async read(): Promise<State> {
    const shop = new Sqlite(join(this.folder, 'data/shop.db'));
    const orders = shop.prepare<[], State['orders'][number]>('SELECT number, messages FROM customer_order').all();
    const outbox = shop.prepare<[], number>('SELECT number FROM outbox').pluck().all();
    shop.close();
    const sent = await this.query(
      "SELECT topic, count(*) AS times FROM message WHERE topic LIKE 'Order %' GROUP BY topic",
    );
    return { orders, outbox, sent: new Map(sent.map(({ topic, times }) => [topic, Number(times)])) };
  }

  private async query(sql: string): Promise<readonly { readonly topic: string; readonly times: unknown }[]> {
    if (this.chat) return (await this.chat.query(sql)) as Awaited<ReturnType<Shop['query']>>;
    const chat = new Sqlite(join(this.folder, 'data/chat.db'));
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

/** Kills the shop at random moments until a kill has left rows in the outbox, and reads its databases after each kill. */
async function killRepeatedly(kills: number): Promise<void> {
  let hasLeftRows = false;
  for (let round = 0; round < kills || !hasLeftRows; round++) {
    const { child, url } = await shop.start();
    const { begun, ended } = shop.placeOrders(url);
    // Every other kill may precede the first order.
    if (round % 2 === 0) await begun;
    await sleep(Math.random() * MAX_DELAY_MS);
    await kill(child);
    const placed = await ended;
    const state = await shop.read();
    expect(halfStates(state)).toEqual([]);
    const stored = new Set(state.orders.map(({ number }) => number));
    expect(placed.filter((number) => !stored.has(number))).toEqual([]);
    hasLeftRows ||= state.outbox.length > 0;
  }
}

/** Starts the shop once more, until it has sent and counted everything. */
async function finish(): Promise<void> {
  const { child } = await shop.start();
  await until(async () => isDone(await shop.read()));
  await kill(child);
  expect(halfStates(await shop.read())).toEqual([]);
}

it('an order and its message are stored together, and the message is counted once, despite kills', async () => {
  for (let left = KILLS; left > 0; left -= KILLS_PER_SHOP) {
    if (left < KILLS) {
      await shop.remove();
      shop = await Shop.create();
    }
    await killRepeatedly(Math.min(left, KILLS_PER_SHOP));
    await finish();
  }
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
