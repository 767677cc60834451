import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStorage } from '@parley/sqlite';
import { FixedClock } from '@parley/testkit';
import { SqlitePushServerStore } from './push-server-store.js';

let folder: string;
let path: string;
let store: SqlitePushServerStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-push-store-'));
  path = join(folder, 'push.db');
  store = new SqlitePushServerStore(path);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const SERVER = { uuid: 'u', keyHash: 'hash', hostname: 'h', contactEmail: 'a@example.com' };
const token = (tokenId: string, text = tokenId) => ({ tokenId, kind: 'apns', token: text, iosAppId: 'app' }) as const;
async function addServer(uuid = 'u'): Promise<number> {
  await store.putServer({ ...SERVER, uuid });
  return (await store.findServer(uuid))!.id;
}

describe('SqlitePushServerStore', () => {
  it('stores servers by UUID in a file readable by the owner only', async () => {
    const id = await addServer();
    await store.putServer({ ...SERVER, keyHash: 'other', hostname: 'i' });
    store.close();
    store = new SqlitePushServerStore(path);
    expect(await store.findServer('u')).toEqual({ ...SERVER, id, keyHash: 'other', hostname: 'i' });
    expect([await store.findServer('v'), await store.countServers()]).toEqual([null, 1]);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('assigns an organization to the first server only', async () => {
    const [one, other] = [await addServer(), await addServer('v')];
    await store.addRealms(one, ['a', 'b', 'a']);
    await store.addRealms(other, ['b', 'c']);
    expect(await store.findRealms(['a', 'b', 'c', 'd'])).toEqual(
      new Map([
        ['a', one],
        ['b', one],
        ['c', other],
      ]),
    );
    expect([await store.countRealms(one), await store.countRealms(other)]).toEqual([2, 1]);
  });

  it('stores tokens by server, owner and id, and counts them', async () => {
    const [one, other] = [await addServer(), await addServer('v')];
    await store.putToken(one, 'user a', token('1', 'abcd'), 5);
    await store.putToken(one, 'user a', token('1', 'abcd'), 6);
    await store.putToken(one, 'user a', token('2'), 5);
    await store.putToken(one, 'realm a', token('1', 'abcd'), 5);
    expect(await store.findTokens(one, 'user a', null)).toEqual([token('1', 'abcd'), token('2')]);
    expect(await store.findTokens(one, 'user a', ['2', '3'])).toEqual([token('2')]);
    expect([await store.findTokens(one, 'user b', null), await store.findTokens(other, 'user a', null)]).toEqual([
      [],
      [],
    ]);
    expect(await store.usageOf(one)).toEqual({ tokens: 3, bytes: 9 });
    await store.removeTokens(one, 'user a', ['1', '3']);
    expect(await store.usageOf(one)).toEqual({ tokens: 2, bytes: 5 });
    await store.removeTokens(one, 'user a', null);
    expect(await store.findTokens(one, 'realm a', null)).toEqual([token('1', 'abcd')]);
    await store.removeServer(one);
    expect([await store.usageOf(one), await store.findRealms(['a'])]).toEqual([{ tokens: 0, bytes: 0 }, new Map()]);
  });

  it('removes old device registrations but keeps tokens of older apps', async () => {
    const id = await addServer();
    await store.putToken(id, 'user a', token('1'), 5);
    await store.putToken(id, 'realm a', token('2'), 5);
    await store.putToken(id, 'realm a', token('3'), 6);
    await store.removeDevicesBefore(6);
    expect(await store.usageOf(id)).toEqual({ tokens: 2, bytes: 2 });
    expect(await store.findTokens(id, 'realm a', null)).toEqual([token('3')]);
  });

  it('leaves no bytes of removed tokens once old registrations were removed', async () => {
    const id = await addServer();
    for (let n = 0; n < 100; n++) await store.putToken(id, 'user a', token(`id${n}`, `canary${n}`.repeat(20)), 5);
    await store.removeTokens(id, 'user a', null);
    await store.removeDevicesBefore(6);
    const bytes = Buffer.concat([path, `${path}-wal`].map((file) => readFileSync(file)));
    expect(bytes.includes('canary')).toBe(false);
  });

  it('rejects chat databases and files of other programs', async () => {
    const chat = join(folder, 'chat.db');
    await openSqliteStorage({ path: chat, clock: new FixedClock() }).close();
    expect(() => new SqlitePushServerStore(chat)).toThrow('it is not the database of a push service');
    const text = join(folder, 'text');
    writeFileSync(text, 'no database'.repeat(100));
    expect(() => new SqlitePushServerStore(text)).toThrow(/^Cannot open database .*text: file is not a database$/);
    expect(() => openSqliteStorage({ path, clock: new FixedClock() })).toThrow('it belongs to another program');
  });
});
