import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParley } from '../index.js';

/** Number of kills; set `PARLEY_CONSUMER_KILLS=200` for a long run. */
const KILLS = Number(process.env.PARLEY_CONSUMER_KILLS ?? 3);
const SENDS_PER_KILL = 20;
jest.setTimeout(300_000 + KILLS * 10_000);
const root = resolve(__dirname, '../../../..');
const realm = 'shop';
const ann = { realm, externalId: 'u1' };

/**
 * Consumer that records its events before it returns and sends a copy in its position update. Runs on the built
 * packages.
 */
const CONSUMER = `
import { appendFileSync } from 'node:fs';
import { createParley } from '@parley/server';

const logger = { info() {}, error: (fields, message) => console.error(message, fields) };
const parley = await createParley({ database: process.argv[2], url: 'http://localhost', shedsLoad: false, logger });
await parley.consume('indexer', async (events, tx) => {
  for (const { seq, message } of events) {
    appendFileSync(process.argv[3], seq + ' ' + message.content + '\\n');
    if (message.channel.name !== 'orders') continue;
    await tx.send({ realm: '${realm}', externalId: 'u1' }, { channel: 'copies', topic: 'x', content: message.content });
  }
}, { types: ['message.sent'], maxEvents: 7 });
console.log('ready');
`;

it('a consumer receives every event at least once and commits its transaction exactly once despite kills', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-consumer-'));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const script = join(directory, 'consumer.mjs');
  writeFileSync(script, CONSUMER);
  const notes = join(directory, 'notes.txt');
  const database = `sqlite:${join(directory, 'chat.db')}`;
  const parley = await createParley({ database, url: 'http://localhost', shedsLoad: false });
  await parley.realms.ensure({ name: realm });
  await parley.users.upsert({ ...ann, name: 'Ann', role: 'owner' });
  const { channels, messages } = parley.as(ann);
  for (const name of ['orders', 'copies']) await channels.create({ name });

  const noted = () =>
    (existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').filter(Boolean) : []).map((line) => {
      const [seq, content] = line.split(' ');
      return { seq: Number(seq), content: content! };
    });
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [script, database, notes], { stdio: ['ignore', 'pipe', 'inherit'] });
    const started = once(child.stdout!, 'data');
    await Promise.race([started, once(child, 'exit').then(() => Promise.reject(new Error('It did not start')))]);
    return child;
  };
  const kill = async (child: ChildProcess) => {
    // The consumer alone keeps the process alive.
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await once(child, 'exit');
  };

  // The count starts here.
  await kill(await start());
  const sent: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    const startedAt = performance.now();
    const child = await start();
    // Varies the kill time, scaled to the machine's speed.
    const delayMs = (((round * 37) % 100) / 100) * (performance.now() - startedAt);
    const killed = sleep(delayMs).then(() => kill(child));
    for (let number = 0; number < SENDS_PER_KILL; number++) {
      const content = `n${sent.length}`;
      await messages.send({ channel: 'orders', topic: 'x', content });
      sent.push(content);
    }
    await killed;
  }

  const last = await start();
  const isComplete = () => new Set(noted().map(({ content }) => content)).size >= sent.length;
  for (const deadline = performance.now() + 60_000; !isComplete() && performance.now() < deadline; ) await sleep(20);
  const copies = async () =>
    (await messages.list({ channel: 'copies', topic: 'x' }).toArray()).map(({ content }) => content);
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(20)) {
    if ((await copies()).length >= sent.length) break;
  }
  await kill(last);
  const notedContents = new Set(noted().map(({ content }) => content));
  expect(sent.filter((content) => !notedContents.has(content))).toEqual([]);
  expect(await copies()).toEqual(sent);
  await parley.close();
  rmSync(directory, { recursive: true });
});
