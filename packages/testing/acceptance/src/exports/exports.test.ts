import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExpireExports } from '@parley/domain/exports';
import { SweepFiles } from '@parley/domain/files';
import { ConfigureRealm } from '@parley/domain/log-in';
import { openExport } from '@parley/export-files';
import { COLUMN_NAMES } from '@parley/server/testing';
import { MemoryBlobStore } from '@parley/testkit';
import { WriteRealmExport } from '@parley/transfer/exports';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const DAY = 86_400;

const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
const exportLimits = { operator: 'ops@chat.example', maxMessages: 20 };
const { server, people } = serverPerTest({ blobs, exportLimits });
beforeEach(() => blobs.clear());

const request = (as = people.iago, params: object = {}) => server.post('/export/realm', as, { ...params });
const requested = async (as = people.iago, params: object = {}) => (fieldsOf(await request(as, params)) as Wire).id;
const list = async (as = people.iago): Promise<Wire[]> =>
  (fieldsOf(await server.get('/export/realm', as)) as Wire).exports;
const remove = (id: number, as = people.iago) => server.delete(`/export/realm/${id}`, as);
const consentsOf = async (as = people.iago): Promise<Wire[]> =>
  (fieldsOf(await server.get('/export/realm/consents', as)) as Wire).export_consents;
const consent = (as: TestUser, isGiven = true) => server.patch('/settings', as, { allow_private_data_export: isGiven });
const write = () => runJobs(server, server.parley.useCase(WriteRealmExport));
const expire = () => runJobs(server, server.parley.useCase(ExpireExports));
const blobCount = async () => (await blobs.list(null, 100)).length;

async function completed(as = people.iago, params: object = {}): Promise<Wire> {
  const id = await requested(as, params);
  server.clock.advance(1);
  await write();
  return (await list()).find((each) => each.id === id);
}

const say = async (as: TestUser, params: object) =>
  fieldsOf(await server.post('/messages', as, { type: 'channel', ...params }));

/** Returns the message contents and users in an archive. */
async function contentsOf(url: string): Promise<readonly string[]> {
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    200,
    'application/gzip',
    'private, no-cache',
  ]);
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="zulip\.tar\.gz"/);
  const folder = mkdtempSync(join(tmpdir(), 'parley-export-test-'));
  try {
    const path = join(folder, 'export.tar.gz');
    writeFileSync(path, new Uint8Array(await response.arrayBuffer()));
    const { source, close } = await openExport(path, { names: COLUMN_NAMES, temporaryFolder: folder });
    const contents: string[] = [];
    for await (const page of source.messages()) contents.push(...page.map(({ message }) => message.content));
    await close();
    return contents;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function talk(): Promise<void> {
  const { hamlet, cordelia, desdemona } = people;
  const params = { name: 'town', subscribers: [hamlet.id, desdemona.id] };
  const { id } = fieldsOf(await server.post('/channels/create', desdemona, params));
  await say(hamlet, { to: id, topic: 'news', content: 'heard by all' });
  await say(hamlet, { type: 'direct', to: [hamlet.id], content: 'to be' });
  await say(cordelia, { type: 'direct', to: [cordelia.id], content: 'nothing' });
}

describe('exports (organization §8)', () => {
  it('lists exports from request to deletion and notifies the requester', async () => {
    const [queue, other] = [await openQueue(server, people.iago), await openQueue(server, people.desdemona)];
    const now = server.clock.now();
    const id = await requested();
    const pending = {
      id,
      acting_user_id: people.iago.id,
      export_time: now,
      deleted_timestamp: null,
      failed_timestamp: null,
      export_url: null,
      pending: true,
      export_type: 'public',
    };
    expect(await list(people.desdemona)).toEqual([pending]);
    expectRefusal(await remove(id), 'Export still in progress');
    server.clock.advance(1);
    await write();
    const [complete] = await list();
    expect(complete).toEqual({ ...pending, pending: false, export_url: expect.any(String) });
    expect(complete.export_url).toMatch(
      new RegExp(`^${server.url}/user_avatars/exports/${server.realmId}/[0-9a-f]{2}/[\\w-]{24}/zulip\\.tar\\.gz$`),
    );
    server.clock.advance(4);
    expect(fieldsOf(await remove(id, people.desdemona))).toEqual({});
    const deleted = { ...complete, export_url: null, deleted_timestamp: now + 5 };
    expect(await list()).toEqual([deleted]);
    expectRefusal(await remove(id), 'Export already deleted');
    expect([(await fetch(complete.export_url)).status, await blobCount()]).toEqual([404, 0]);
    const heard = await eventsAfter(server, queue);
    expect(heard.filter(({ type }) => type === 'realm_export')).toEqual(
      [pending, complete, deleted].map((each) => ({ type: 'realm_export', exports: [each] })),
    );
    const [message] = heard.filter(({ type }) => type === 'message').map((event) => event.message);
    expect([message.sender_full_name, message.type]).toEqual(['Notification Bot', 'private']);
    expect(message.content).toContain(`(${complete.export_url})`);
    expect(await eventsAfter(server, other)).toEqual([]);
  });

  it.each([
    ['public', ['heard by all']],
    ['full_with_consent', ['heard by all', 'to be']],
    ['full_without_consent', ['heard by all', 'to be', 'nothing']],
  ])('exports exactly the permitted messages for type %s', async (type, said) => {
    await server.parley
      .useCase(ConfigureRealm)
      .execute({ realmId: server.realmId, settings: { ownerFullContentAccess: true } });
    await talk();
    fieldsOf(await consent(people.hamlet));
    const { export_url, export_type } = await completed(people.desdemona, { export_type: type });
    expect(export_type).toBe(type);
    const contents = await contentsOf(export_url);
    expect(contents.filter((text) => ['heard by all', 'to be', 'nothing'].includes(text))).toEqual(said);
  });

  it('is named by a later erasure as long as its archive exists', async () => {
    const { hamlet, iago } = people;
    const at = server.clock.now();
    const { id } = await completed();
    server.clock.advance(100);
    const erase = () => server.parley.users.erase({ realm: 'zulip', userId: hamlet.id });
    expect((await erase()).exportedAt).toEqual([new Date(at * 1000)]);
    server.clock.advance(100);
    await completed(iago);
    expect((await erase()).exportedAt).toEqual([new Date(at * 1000)]);
    fieldsOf(await remove(id));
    expect((await erase()).exportedAt).toEqual([]);
  });

  it('requires an administrator, or an owner with operator permission for full content', async () => {
    const { hamlet, iago, desdemona } = people;
    const mustBe = 'Must be an organization administrator';
    const unauthorized = { code: 'UNAUTHORIZED_PRINCIPAL' };
    expectRefusal(await request(hamlet), mustBe, unauthorized);
    expectRefusal(await server.get('/export/realm', hamlet), mustBe, unauthorized);
    expectRefusal(await remove(1, hamlet), mustBe, unauthorized);
    expectRefusal(await server.get('/export/realm/consents', hamlet), mustBe, unauthorized);
    const everything = { export_type: 'full_without_consent' };
    expectRefusal(await request(iago, everything), 'Must be an organization owner', unauthorized);
    expectRefusal(await request(desdemona, everything), 'Insufficient permission');
    expectRefusal(await request(iago, { export_type: 'private' }), 'Invalid export_type');
    expect(await list()).toEqual([]);
  });

  it('reports groups of another organization as unknown', async () => {
    const realmId = await server.addRealm('other');
    const outsider = await server.addUser({ email: 'o@other.example', fullName: 'O', role: 'owner', realmId });
    const { id, export_url } = await completed();
    const elsewhere = (method: 'DELETE' | 'GET', path: string) =>
      server.request(method, path, { as: outsider, realm: 'other' });
    expectRefusal(await elsewhere('DELETE', `/export/realm/${id}`), 'Invalid data export ID');
    expect(fieldsOf(await elsewhere('GET', '/export/realm'))).toEqual({ exports: [] });
    const path = new URL(export_url).pathname;
    expect((await server.request('GET', `/${path}`, { realm: 'other' })).status).toBe(404);
    expect((await fetch(`${export_url.replace(/.{30}$/, '')}x/zulip.tar.gz`)).status).toBe(404);
    expectRefusal(await remove(id + 1), 'Invalid data export ID');
  });

  it('allows five exports in seven days', async () => {
    for (let n = 0; n < 5; n++) await requested();
    expectRefusal(await request(), 'Exceeded rate limit.');
    server.clock.advance(7 * DAY - 1);
    expectRefusal(await request(), 'Exceeded rate limit.');
    server.clock.advance(1);
    await requested();
  });

  it('removes the oldest of more than a hundred exports', async () => {
    const { realmId } = server;
    await server.storage.uow.write(realmId, async (tx) => {
      for (let n = 0; n < 100; n++) {
        const pathId = `${realmId}/old/${n}`;
        const state = { status: 'deleted', at: n } as const;
        await tx.exports.add({ realmId, actingUserId: people.iago.id, type: 'public', requestedAt: n, pathId, state });
      }
    });
    const before = await list();
    expect(before).toHaveLength(100);
    const id = await requested();
    expect((await list()).map((each) => each.id)).toEqual([...before.slice(1).map((each) => each.id), id]);
  });

  it('rejects exports of large organizations, which only the operator can make', async () => {
    const { hamlet, desdemona } = people;
    const tooLarge = 'Please request a manual export from ops@chat.example.';
    const { id } = fieldsOf(
      await server.post('/channels/create', desdemona, { name: 'town', subscribers: [hamlet.id] }),
    );
    for (let n = 0; n < 21; n++) await say(hamlet, { type: 'direct', to: [hamlet.id], content: `${n}` });
    expectRefusal(await request(people.iago, { export_type: 'full_with_consent' }), tooLarge);
    await requested();
    for (let n = 0; n < 21; n++) await say(hamlet, { to: id, topic: 't', content: `${n}` });
    expectRefusal(await request(), tooLarge);
  });

  it('deletes exports after thirty days', async () => {
    const { export_url } = await completed();
    server.clock.advance(30 * DAY - 1);
    await expire();
    expect((await list())[0].export_url).toBe(export_url);
    server.clock.advance(1);
    await expire();
    expect((await list())[0]).toMatchObject({ export_url: null, deleted_timestamp: server.clock.now() });
    expect(await blobCount()).toBe(0);
  });

  it('keeps export archives during file sweeps', async () => {
    const { export_url } = await completed();
    server.clock.advance(2 * DAY);
    await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect((await fetch(export_url)).status).toBe(200);
  });

  it('gives up after repeated failures and leaves nothing behind', async () => {
    const queue = await openQueue(server, people.iago);
    const id = await requested();
    const put = jest.spyOn(blobs, 'put').mockImplementation(async (_key, content) => {
      for await (const _ of content) throw new Error('The disk is full');
      return 0;
    });
    for (let attempt = 0; attempt < 3; attempt++) {
      expect((await list())[0].pending).toBe(true);
      server.clock.advance(DAY / 2);
      await expect(write()).rejects.toThrow('The disk is full');
    }
    put.mockRestore();
    const [failed] = await list();
    expect(failed).toMatchObject({ id, pending: false, export_url: null, failed_timestamp: server.clock.now() });
    expectRefusal(await remove(id), 'Export failed, nothing to delete');
    const heard = (await eventsAfter(server, queue)).filter(({ type }) => type === 'realm_export');
    expect(heard.at(-1)).toEqual({ type: 'realm_export', exports: [failed] });
    expect(await blobCount()).toBe(0);
  });

  it('restarts an unfinished export when its lease expires', async () => {
    await requested();
    server.clock.advance(1);
    const handler = server.parley.useCase(WriteRealmExport);
    const selection = { kind: handler.kind.name, maxFormat: handler.kind.format };
    const { unitOfWork: uow } = server.parley.ports;
    const now = server.clock.now();
    await uow.writeAcross((tx) =>
      tx.jobs.lease(selection, { now, until: now + handler.kind.leaseSeconds, attempts: 1, holder: null }, 1),
    );
    await write();
    expect((await list())[0].pending).toBe(true);
    server.clock.advance(handler.kind.leaseSeconds);
    await write();
    expect((await list())[0].pending).toBe(false);
  });
});

describe('export consents (organization §8)', () => {
  it('lists consents of active humans and notifies administrators', async () => {
    const { hamlet, polonius, iago } = people;
    await server.addBot(hamlet, 'helper');
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 4 }));
    const [queue, other] = [await openQueue(server, iago), await openQueue(server, polonius)];
    fieldsOf(await consent(hamlet));
    fieldsOf(await consent(hamlet));
    const before = await consentsOf();
    expect(before.map(({ user_id }) => user_id)).toEqual(
      Object.values(people)
        .map(({ id }) => id)
        .sort((a, b) => a - b),
    );
    expect(before.find(({ user_id }) => user_id === hamlet.id)).toEqual({
      user_id: hamlet.id,
      consented: true,
      email_address_visibility: 4,
    });
    const consenting = { type: 'realm_export_consent', user_id: hamlet.id, consented: true };
    const consentsReceived = async (from: typeof queue) =>
      (await eventsAfter(server, from)).filter(({ type }) => type === 'realm_export_consent');
    expect(await consentsReceived(queue)).toEqual([consenting]);
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago));
    expect((await consentsOf()).map(({ user_id }) => user_id)).not.toContain(hamlet.id);
    fieldsOf(await server.post(`/users/${hamlet.id}/reactivate`, iago));
    const { id } = await server.addUser({ email: 'new@zulip.com', fullName: 'New' });
    expect(await consentsReceived(queue)).toEqual([
      consenting,
      consenting,
      { type: 'realm_export_consent', user_id: id, consented: false },
    ]);
    expect(await consentsReceived(other)).toEqual([]);
  });
});
