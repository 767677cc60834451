import { KEEP_COPY_SECONDS, MAX_COPIES_OF_OTHERS, PERSON_EXPORT_SECONDS } from '@parley/domain/exports';
import { SweepFiles } from '@parley/domain/files';
import { ConfigureRealm } from '@parley/domain/log-in';
import { ErasePerson } from '@parley/domain/membership';
import { RECENT_LOG_IN_SECONDS } from '@parley/domain/users';
import { MemoryBlobStore } from '@parley/testkit';
import { ExpirePersonExports, WritePersonExport } from '@parley/transfer/exports';
import { filesOfArchive } from '../testing/archives.js';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerTest } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const HOUR_MS = 3_600_000;

const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
const exportLimits = { operator: 'ops@chat.example', maxBytes: 1_000_000 };
const { server, people } = serverPerTest({ blobs, exportLimits });
beforeEach(() => blobs.clear());

const request = (as: TestUser, params: object = {}) =>
  server.post('/export/users', as, { password: as.password, ...params });
const requested = async (as: TestUser, params: object = {}): Promise<Wire> =>
  (fieldsOf(await request(as, params)) as Wire).export;
const list = async (as: TestUser): Promise<Wire[]> => (fieldsOf(await server.get('/export/users', as)) as Wire).exports;
const write = () => runJobs(server, server.parley.useCase(WritePersonExport));
const download = (as: TestUser, id: number) =>
  fetch(`${server.url}/api/v1/export/users/${id}/archive`, {
    headers: { Authorization: `Basic ${btoa(`${as.email}:${as.apiKey}`)}` },
  });
const consent = (as: TestUser, isGiven = true) => server.patch('/settings', as, { allow_private_data_export: isGiven });
const blobCount = async () => (await blobs.list(null, 100)).length;

async function written(as: TestUser, params: object = {}): Promise<number> {
  const { id } = await requested(as, params);
  await write();
  return id;
}

async function contentsOf(as: TestUser, id: number): Promise<string> {
  const response = await download(as, id);
  expect(response.status).toBe(200);
  return [...(await filesOfArchive(new Uint8Array(await response.arrayBuffer()))).values()].join('\n');
}

describe('copies of personal data (extensions §12)', () => {
  it('writes a copy in the background, notifies its requester and removes it after its lifetime', async () => {
    const { hamlet, cordelia } = people;
    await server.sendMessage(hamlet, [cordelia], { content: 'words of Hamlet' });
    const queue = await openQueue(server, hamlet);
    const now = server.clock.now();
    const pending = {
      ...{ id: expect.any(Number), user_id: hamlet.id, status: 'pending', size: 0 },
      ...{ requested_at: now, next_at: now + PERSON_EXPORT_SECONDS, expires_at: now + KEEP_COPY_SECONDS },
    };
    const { id } = await requested(hamlet);
    expect(await list(hamlet)).toEqual([pending]);
    expectRefusal(await server.get(`/export/users/${id}/archive`, hamlet), 'Export still in progress');
    await write();
    const [complete] = await list(hamlet);
    expect(complete).toEqual({ ...pending, status: 'complete', size: expect.any(Number) });
    const response = await download(hamlet, id);
    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(response.headers.get('content-disposition')).toContain(`attachment; filename="user-${hamlet.id}.zip"`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.length).toBe(complete.size);
    expect((await filesOfArchive(bytes)).get('direct-messages.jsonl')).toContain('words of Hamlet');
    const notices = (await eventsAfter(server, queue)).filter(({ type }) => type === 'message');
    expect(notices.map(({ message }) => [message.sender_full_name, message.content])).toEqual([
      ['Notification Bot', expect.stringContaining('The copy of your data is complete')],
    ]);

    server.clock.advance(KEEP_COPY_SECONDS);
    await runJobs(server, server.parley.useCase(ExpirePersonExports));
    expect([await list(hamlet), await blobCount()]).toEqual([[], 0]);
    expectRefusal(await server.get(`/export/users/${id}/archive`, hamlet), 'Invalid data export ID');
  });

  it('refuses everybody else, other organizations included, as if the copy did not exist', async () => {
    const id = await written(people.hamlet);
    const realmId = await server.addRealm('other');
    const elsewhere = await server.addUser({ realmId, email: 'else@zulip.com', fullName: 'Elsewhere', role: 'owner' });
    for (const as of [people.desdemona, people.iago]) {
      expectRefusal(await server.get(`/export/users/${id}/archive`, as), 'Invalid data export ID');
      expect(await list(as)).toEqual([]);
    }
    const options = { as: elsewhere, realm: 'other' };
    expectRefusal(await server.request('GET', `/export/users/${id}/archive`, options), 'Invalid data export ID');
    const params = { user_id: people.hamlet.id, password: elsewhere.password };
    expectRefusal(await server.request('POST', '/export/users', { ...options, params }), 'No such user');
    expectRefusal(await request(people.hamlet, { user_id: 999_999 }), 'No such user');
    const bot = await server.addBot(people.hamlet, 'helper');
    expectRefusal(await request(bot), 'This endpoint does not accept bot requests.');
    expect((await server.request('GET', `/export/users/${id}/archive`, { as: null })).status).toBe(401);
  });

  it('requires the password or a recent log-in', async () => {
    const { hamlet } = people;
    expectRefusal(await request(hamlet, { password: 'wrong' }), 'Password is incorrect.');
    expectRefusal(await request(hamlet, { password: '' }), 'Enter your password, or log in again.');
    const browser = await TestBrowser.loggedIn(server, hamlet);
    server.clock.advance(RECENT_LOG_IN_SECONDS + 1);
    expectRefusal(await browser.post('/json/export/users'), 'Enter your password, or log in again.');
    expect(await list(hamlet)).toEqual([]);
    const again = await TestBrowser.loggedIn(server, hamlet);
    expectRefusal(await again.post('/json/export/users', { password: 'wrong' }), 'Password is incorrect.');
    const { id } = (fieldsOf(await again.post('/json/export/users')) as Wire).export;
    await write();
    for (const base of ['/json', '/api/v1']) {
      const file = await again.get(`${base}/export/users/${id}/archive`);
      expect([file.status, file.headers['content-type']]).toEqual([200, 'application/zip']);
    }
  });

  it('limits guesses of the password', async () => {
    const limited = await TestServer.start({ hasRateLimits: true });
    const { hamlet } = limited.people;
    const guess = (password: string) => limited.post('/export/users', hamlet, { password });
    for (let n = 0; n < 5; n++) expectRefusal(await guess('wrong'), 'Password is incorrect.');
    expect((await guess(hamlet.password)).body.code).toBe('RATE_LIMIT_HIT');
    await limited.close();
  });

  it('accepts one request a day and replaces the former copy', async () => {
    const { hamlet } = people;
    const first = await written(hamlet);
    server.clock.advance(PERSON_EXPORT_SECONDS - 1);
    expectRefusal(await request(hamlet), 'A copy of these data can be requested once a day.');
    server.clock.advance(1);
    const second = await written(hamlet);
    expect((await list(hamlet)).map(({ id }) => id)).toEqual([second]);
    expect([(await download(hamlet, first)).status, await blobCount()]).toEqual([400, 1]);
  });

  it('lets owners copy the data of others with their consent, and checks it at the download', async () => {
    const { desdemona, iago, hamlet } = people;
    await server.sendMessage(hamlet, [iago], { content: 'words of Hamlet' });
    const of = { user_id: hamlet.id };
    const refusal = 'This user does not allow exports of their private data.';
    expectRefusal(await request(iago, of), 'Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' });
    expectRefusal(await request(desdemona, of), refusal);
    fieldsOf(await consent(hamlet));
    const id = await written(desdemona, of);
    expect(await contentsOf(desdemona, id)).toContain('words of Hamlet');
    expectRefusal(await server.get(`/export/users/${id}/archive`, hamlet), 'Invalid data export ID');
    fieldsOf(await consent(hamlet, false));
    expectRefusal(await server.get(`/export/users/${id}/archive`, desdemona), refusal);
    const settings = { ownerFullContentAccess: true };
    await server.parley.useCase(ConfigureRealm).execute({ realmId: server.realmId, settings });
    expect((await download(desdemona, id)).status).toBe(200);
  });

  it('refuses the download to a former owner', async () => {
    const { desdemona, hamlet } = people;
    fieldsOf(await consent(hamlet));
    const second = await server.addUser({ email: 'second@zulip.com', fullName: 'Second owner', role: 'owner' });
    const id = await written(second, { user_id: hamlet.id });
    fieldsOf(await server.patch(`/users/${second.id}`, desdemona, { role: 400 }));
    expectRefusal(await server.get(`/export/users/${id}/archive`, second), 'Must be an organization owner', {
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
  });

  it('limits the copies of others that an owner keeps', async () => {
    const { desdemona } = people;
    for (let n = 0; n <= MAX_COPIES_OF_OTHERS; n++) {
      const other = await server.addUser({ email: `other${n}@zulip.com`, fullName: `Other ${n}` });
      fieldsOf(await consent(other));
      const reply = await request(desdemona, { user_id: other.id });
      if (n < MAX_COPIES_OF_OTHERS) fieldsOf(reply);
      else expectRefusal(reply, 'You can keep copies of the data of at most 20 users.');
    }
    fieldsOf(await request(desdemona));
  });

  it('fails a copy that exceeds the limit of bytes, and keeps no bytes of it', async () => {
    const { hamlet, cordelia } = people;
    // The archive is compressed, so the text must be random.
    for (let n = 0; n < 200; n++) {
      const content = Array.from({ length: 700 }, (_, k) =>
        (((n * 7919 + k) * 2654435761) % 2 ** 32).toString(36),
      ).join('');
      await server.sendMessage(hamlet, [cordelia], { content: content.slice(0, 9900) });
    }
    const { id } = await requested(hamlet);
    await write();
    expect(await list(hamlet)).toMatchObject([{ id, status: 'failed', size: 0 }]);
    expectRefusal(await server.get(`/export/users/${id}/archive`, hamlet), 'Export failed');
    server.clock.advance(HOUR_MS / 1000 + 1);
    await blobs.removeUnfinished();
    await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect(await blobCount()).toBe(0);
  });

  it('keeps the archive when orphaned bytes are removed', async () => {
    const { hamlet } = people;
    const id = await written(hamlet);
    server.clock.advance(HOUR_MS / 1000 + 1);
    await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect((await download(hamlet, id)).status).toBe(200);
  });

  it('fails a copy after three interrupted attempts', async () => {
    const { hamlet } = people;
    const put = jest.spyOn(blobs, 'put').mockRejectedValue(new Error('The disk is full'));
    await requested(hamlet);
    for (let n = 0; n < 3; n++) {
      await write().catch(() => undefined);
      server.clock.advance(3600);
    }
    put.mockRestore();
    expect(await list(hamlet)).toMatchObject([{ status: 'failed' }]);
  });

  it('removes the copies of an erased person', async () => {
    const { hamlet } = people;
    await written(hamlet);
    await server.parley.users.erase({ realm: 'zulip', userId: hamlet.id });
    await runJobs(server, server.parley.useCase(ErasePerson));
    server.clock.advance(HOUR_MS / 1000 + 1);
    await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect(await blobCount()).toBe(0);
  });
});
