import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@parley/testkit';
import Sqlite from 'better-sqlite3';

/** Number of kills; `npm run endurance` includes the long run. */
const KILLS = process.env.HOSTILE_LOAD === 'long' ? 100 : 3;
const SENDS_PER_KILL = 10;
/** Maximum number of concurrent notifications. */
const CONCURRENCY = 16;
jest.setTimeout(300_000 + KILLS * 10_000);
const root = resolve(__dirname, '../../../..');

/** Exceeds the lease of a notification that a killed server was sending. */
const LATER_MS = 61_000;

/**
 * Server that sends and acknowledges a message for each input line. The last parameter is its clock offset in
 * milliseconds. Runs on the built packages.
 */
const SERVER = `
import { createInterface } from 'node:readline';
import { AddPushToken } from '@parley/domain/push';
import { createParley } from '@parley/server';

const [, , database, url, aheadMs] = process.argv;
const now = Date.now;
Date.now = () => now() + Number(aheadMs);
const logger = { info() {}, error() {} };
const parley = await createParley({
  database, url: 'http://localhost', shedsLoad: false, logger, pushService: { url, orgId: 'id', orgKey: 'key' },
});
const realm = 'shop';
await parley.realms.ensure({ name: realm });
await parley.users.upsert({ realm, externalId: 'ann', name: 'Ann', role: 'owner' });
const bob = await parley.users.upsert({ realm, externalId: 'bob', name: 'Bob' });
const realmId = await parley.findRealm(realm);
const caller = { realmId, userId: bob.id, clientName: 'test' };
await parley.useCase(AddPushToken).execute(caller, { kind: 'fcm', token: 'phone', iosAppId: null });
console.log('ready');
for await (const content of createInterface({ input: process.stdin })) {
  await parley.as({ realm, externalId: 'ann' }).messages.send({ to: 'bob', content });
  console.log(content);
}
`;

it('a server attempts every notification at least once, and none again after its result was stored, despite kills', async () => {
  const notified: string[] = [];
  let isSilent = false;
  const service = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url!.endsWith('push/notify')) notified.push(JSON.parse(body).gcm_payload.content);
    if (isSilent) return;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ result: 'success', msg: '', realms: {}, realm: null }));
  });
  await new Promise<void>((ready) => service.listen(0, '127.0.0.1', ready));
  const directory = mkdtempSync(join(tmpdir(), 'parley-notifications-'));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const script = join(directory, 'server.mjs');
  writeFileSync(script, SERVER);
  const database = `sqlite:${join(directory, 'chat.db')}`;
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

  const acknowledged: string[] = [];
  const start = async (aheadMs = 0): Promise<ChildProcess> => {
    const parameters = [script, database, url, String(aheadMs)];
    const child = spawn(process.execPath, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin!.on('error', () => {});
    const lines = createInterface({ input: child.stdout! });
    const ready = once(lines, 'line');
    await Promise.race([ready, once(child, 'exit').then(() => Promise.reject(new Error('It did not start')))]);
    lines.on('line', (line) => acknowledged.push(line));
    return child;
  };
  const kill = async (child: ChildProcess) => {
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await once(child, 'exit');
  };

  let number = 0;
  for (let round = 0; round < KILLS; round++) {
    const child = await start();
    for (let n = 0; n < SENDS_PER_KILL; n++) child.stdin!.write(`n${number++}\n`);
    // Varies the kill time between the first message and the last notification.
    await sleep(((round * 37) % 100) * 3);
    await kill(child);
  }

  const last = await start(LATER_MS);
  const storage = new Sqlite(join(directory, 'chat.db'), { readonly: true });
  const jobs = storage.prepare<[], number>('SELECT count(*) FROM job').pluck();
  await until(() => jobs.get() === 0);
  storage.close();
  expect(acknowledged.filter((content) => !notified.includes(content))).toEqual([]);
  await kill(last);
  const repeated = notified.length - new Set(notified).size;
  expect(repeated).toBeLessThanOrEqual((KILLS + 1) * CONCURRENCY);

  // Every notification was acknowledged and stored, so another start sends none.
  const idle = await start(2 * LATER_MS);
  await sleep(100);
  const before = notified.length;
  idle.stdin!.write('marker\n');
  await until(() => notified.includes('marker'));
  expect(notified.slice(before)).toEqual(['marker']);

  // A notification in progress is repeated immediately, although its lease lasts for a minute.
  isSilent = true;
  idle.stdin!.write('in flight\n');
  await until(() => notified.includes('in flight'));
  await kill(idle);
  isSilent = false;
  const restartedAt = performance.now();
  const restarted = await start(2 * LATER_MS);
  await until(() => notified.filter((content) => content === 'in flight').length === 2);
  expect(performance.now() - restartedAt).toBeLessThan(30_000);
  await kill(restarted);
  service.closeAllConnections();
  service.close();
  rmSync(directory, { recursive: true });
});
