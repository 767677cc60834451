import { ErasePerson, RemoveOldAuditEntries, VerifyAuditLog } from '@parley/domain/membership';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestServer } from '../testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];

const start = async (options: Parameters<typeof TestServer.start>[0] = {}) => {
  server = await TestServer.start(options);
  ({ people } = server);
};
afterEach(() => server.close());

const entries = async (filter: Record<string, unknown> = {}): Promise<Wire[]> =>
  fieldsOf(await server.get('/audit', people.desdemona, filter)).entries as Wire[];
const verify = () => server.parley.useCase(VerifyAuditLog).execute(server.realmId);

describe('the audit log', () => {
  beforeEach(() => start());

  it('contains who did what to whom, when and from where, with old and new values', async () => {
    const { desdemona, hamlet } = people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: 300 }));
    expect(await entries()).toEqual([
      {
        id: 1,
        time: server.clock.now(),
        actor_id: desdemona.id,
        program: null,
        action: 'PATCH /users/:user_id',
        user_id: hamlet.id,
        target: { user_id: hamlet.id },
        changes: { role: { from: 'member', to: 'moderator' } },
        details: expect.objectContaining({ ip: '127.0.0.1' }),
        is_erased: false,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  });

  it('contains ids of created objects and members, but no names', async () => {
    const { desdemona, hamlet, cordelia } = people;
    const email = 'yorick@zulip.com';
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { full_name: 'Prince' }));
    fieldsOf(await server.patch(`/users/${hamlet.email}`, desdemona, { role: 300 }));
    fieldsOf(
      await server.post('/user_groups/create', desdemona, { name: 'players', description: '', members: [hamlet.id] }),
    );
    const groups = fieldsOf(await server.get('/user_groups', desdemona)).user_groups as Wire[];
    const group = groups.find(({ name }) => name === 'players')!.id;
    fieldsOf(await server.post(`/user_groups/${group}/members`, desdemona, { add: [cordelia.id] }));
    await server.parley.users.upsert({ realm: 'zulip', externalId: 'y', name: 'Yorick', email });
    const [upserted, added, created, role, renamed] = await entries();
    expect(renamed).toMatchObject({ user_id: hamlet.id, changes: { fullName: {} } });
    expect(role).toMatchObject({ action: 'PATCH /users/:email', user_id: hamlet.id, target: {} });
    expect(created).toMatchObject({ action: 'POST /user_groups/create', user_id: null });
    expect(added).toMatchObject({ target: { user_group_id: group, added: [cordelia.id], removed: [] } });
    const yorick = (await server.parley.users.find({ realm: 'zulip', externalId: 'y' }))!.id;
    expect(upserted).toMatchObject({ action: 'users.upsert', program: 'application', user_id: yorick });
    const stored = JSON.stringify(await entries());
    for (const name of ['Prince', 'Yorick', 'zulip.com']) expect(stored).not.toContain(name);
  });

  it('contains no entry of rejected operations, sends, and updates without a change', async () => {
    const { hamlet, desdemona } = people;
    const town = await server.createChannel('town', [hamlet]);
    const before = (await entries()).length;
    await server.patch('/realm', hamlet, { invite_required: false });
    await server.patch(`/users/${hamlet.id}`, hamlet, { role: 300 });
    await server.sendMessage(hamlet, town, { content: 'hi' });
    await server.patch('/realm', desdemona, { name: '' });
    const same = { realm: 'zulip', externalId: 'h', name: 'Horatio' };
    await server.parley.users.upsert(same);
    await server.parley.users.upsert(same);
    expect((await entries()).length - before).toBe(1);
  });

  it('contains administrators who read the data of others', async () => {
    const { desdemona, hamlet } = people;
    fieldsOf(await server.get(`/users/${hamlet.id}/sessions`, desdemona));
    const ref = { realm: 'zulip', userId: hamlet.id };
    for await (const _ of server.parley.users.export(ref)) break;
    await server.parley.users.apiKey(ref);
    fieldsOf(await server.post('/export/realm', desdemona, {}));
    expect((await entries()).map(({ action, user_id }) => [action, user_id])).toEqual([
      ['POST /export/realm', null],
      ['users.apiKey', hamlet.id],
      ['users.export', hamlet.id],
      ['GET /users/:user_id/sessions', hamlet.id],
    ]);
  });

  it('is filtered by actor, user, operation and time, and read page by page', async () => {
    const { desdemona, iago, hamlet, cordelia } = people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: 300 }));
    server.clock.advance(10);
    fieldsOf(await server.patch(`/users/${cordelia.id}`, iago, { role: 300 }));
    server.clock.advance(10);
    fieldsOf(await server.patch('/realm', desdemona, { message_retention_days: 30 }));
    const ids = async (filter: Record<string, unknown>) => (await entries(filter)).map(({ id }) => id);
    expect(await ids({})).toEqual([3, 2, 1]);
    expect(await ids({ actor_id: desdemona.id })).toEqual([3, 1]);
    expect(await ids({ user_id: cordelia.id })).toEqual([2]);
    expect(await ids({ action: 'PATCH /realm' })).toEqual([3]);
    expect(await ids({ since: server.clock.now() - 10, until: server.clock.now() - 1 })).toEqual([2]);
    expect(await ids({ before: 3, limit: 1 })).toEqual([2]);
    expect((await server.get('/audit', desdemona, { limit: 501 })).status).toBe(400);
  });

  it('omits names of channels and groups, which may be those of people', async () => {
    const { desdemona } = people;
    const id = await server.createChannel('fans of hamlet', [desdemona]);
    fieldsOf(await server.patch(`/streams/${id}`, desdemona, { new_name: 'fans of Yorick', is_private: true }));
    const [renamed] = await entries();
    expect(renamed).toMatchObject({ changes: { name: {}, privacy: { from: 'public' } } });
    expect(JSON.stringify(await entries())).not.toContain('fans');
  });

  it('is a CSV file for owners, who are entries themselves', async () => {
    const { desdemona, iago, hamlet } = people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: 300 }));
    fieldsOf(await server.patch(`/users/${hamlet.id}`, iago, { role: 400 }));
    const { status, headers, body } = await server.get('/audit/csv', desdemona, { actor_id: iago.id });
    expect([status, headers['content-disposition']]).toEqual([200, 'attachment; filename="audit.csv"']);
    const [head, line, ...rest] = String(body).split('\r\n');
    expect(head).toBe('id,time,actor_id,program,action,user_id,target,changes,details,erased,hash');
    const time = new Date(server.clock.now() * 1000).toISOString();
    expect(line).toContain(`2,${time},${iago.id},,PATCH /users/:user_id,${hamlet.id},"{""user_id"":${hamlet.id}}"`);
    expect(rest).toEqual(['']);
    expect((await entries())[0]).toMatchObject({ action: 'GET /audit/csv', actor_id: desdemona.id });
  });

  it('has all entries in the CSV file, also more than fit into a page', async () => {
    const { desdemona, hamlet } = people;
    const count = 501;
    for (let n = 0; n < count; n++) {
      fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: n % 2 === 0 ? 300 : 400 }));
    }
    const [, ...lines] = String((await server.get('/audit/csv', desdemona)).body)
      .trim()
      .split('\r\n');
    const changes = lines.filter((line) => line.includes('PATCH /users/:user_id'));
    expect(changes.map((line) => Number(line.split(',')[0]))).toEqual(
      Array.from({ length: count }, (_, n) => count - n),
    );
  });

  it('has no cell that begins with a formula, whatever separates cells of the CSV file', async () => {
    const { desdemona, hamlet } = people;
    const separators = [',', ';', '\t', '|', ' '];
    const userAgent = `x${separators.map((sign) => `${sign}=cmd${sign}+1${sign}-1${sign}@a`).join('')}`;
    const headers = { 'User-Agent': userAgent };
    fieldsOf(await server.request('PATCH', `/users/${hamlet.id}`, { as: desdemona, params: { role: 300 }, headers }));
    const text = String((await server.get('/audit/csv', desdemona)).body);
    const quoted = /"(?:[^"]|"")*"/g;
    for (const separator of separators) {
      const cells = (separator === ',' ? text.replace(quoted, '') : text).split(separator);
      expect(cells.filter((cell) => /^[=+@-]/.test(cell))).toEqual([]);
    }
    const details = text.match(quoted)!.map((cell) => JSON.parse(cell.slice(1, -1).replaceAll('""', '"')));
    expect(details).toContainEqual(expect.objectContaining({ userAgent }));
  });

  it('is shown to owners of the organization only', async () => {
    const { iago, hamlet, desdemona } = people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { role: 300 }));
    for (const caller of [iago, hamlet]) {
      for (const path of ['/audit', '/audit/csv']) {
        expectRefusal(await server.get(path, caller), 'Must be an organization owner', {
          code: 'UNAUTHORIZED_PRINCIPAL',
        });
      }
    }
    expect((await server.get('/audit', null)).status).toBe(401);
    const other = await server.addRealm('denmark');
    const owner = await server.addUser({ email: 'o@zulip.com', fullName: 'O', role: 'owner', realmId: other });
    const seen = fieldsOf(await server.request('GET', '/audit', { as: owner, realm: 'denmark' }));
    expect(seen.entries).toEqual([]);
  });
});

describe('entries of log-ins', () => {
  beforeEach(() => start());

  const facts = async () =>
    (await entries()).map(({ action, actor_id, user_id, target }) => [action, actor_id, user_id, target]);

  it('name person, method and address, of failures also the error', async () => {
    const { hamlet } = people;
    const logIn = (password: string) => server.post('/fetch_api_key', null, { username: 'Hamlet@zulip.com', password });
    expect((await logIn('wrong')).status).toBe(401);
    fieldsOf(await logIn(hamlet.password));
    expect(await facts()).toEqual([
      ['log-in', hamlet.id, hamlet.id, { method: 'password' }],
      ['failed log-in', null, hamlet.id, { method: 'password', failure: 'AUTHENTICATION_FAILED' }],
    ]);
    expect((await entries())[0]).toMatchObject({ details: { ip: '127.0.0.1' }, changes: {} });
    expect((await verify()).findings).toEqual([]);
  });

  it('include pages, tokens and unknown accounts, without what was typed', async () => {
    const browser = new TestBrowser(server);
    await browser.get('/login/');
    const form = { username: 'nobody@zulip.com', password: 'x', csrfmiddlewaretoken: browser.cookies.get('csrftoken') };
    expect((await browser.post('/login/', form)).status).toBe(401);
    await server.post('/jwt/fetch_api_key', null, { token: 'a.b.c' });
    await new TestBrowser(server).logIn({ email: people.hamlet.email, password: 'x' });
    expect(await facts()).toEqual([
      ['failed log-in', null, people.hamlet.id, { method: 'password', failure: 'AUTHENTICATION_FAILED' }],
      ['failed log-in', null, null, { method: 'jwt', failure: 'INVALID_JWT' }],
      ['failed log-in', null, null, { method: 'password', failure: 'AUTHENTICATION_FAILED' }],
    ]);
    expect(JSON.stringify(await entries())).not.toContain('nobody');
  });

  it('include ended sessions and devices', async () => {
    const { hamlet, iago } = people;
    const browser = await TestBrowser.loggedIn(server, hamlet);
    await browser.post('/accounts/sessions/', { end: 'key' });
    const other = await TestBrowser.loggedIn(server, hamlet);
    fieldsOf(await other.post('/accounts/logout/', {}));
    fieldsOf(await server.post('/register_client_device', iago));
    const found = (await facts()).map(([action, actor, , target]) => [action, actor, target]);
    expect(found).toEqual([
      ['POST /register_client_device', iago.id, {}],
      ['POST /accounts/logout/', hamlet.id, {}],
      ['log-in', hamlet.id, { method: 'password' }],
      ['log-in change', hamlet.id, { method: 'api key', change: 'replaced' }],
      ['log-in', hamlet.id, { method: 'password' }],
    ]);
  });

  it('name the first 100 failures of an address in an hour, then their number', async () => {
    const fail = async (index: number) => server.post('/jwt/fetch_api_key', null, { token: `a.b.${index}` });
    for (let index = 0; index < 199; index++) await fail(index);
    expect(await entries({ limit: 500 })).toHaveLength(100);
    await fail(199);
    expect(await entries({ limit: 500 })).toHaveLength(101);
    expect((await facts())[0]).toEqual([
      'failed log-in',
      null,
      null,
      { method: 'jwt', failure: 'INVALID_JWT', failures: 200 },
    ]);
    server.clock.advance(3600);
    await fail(200);
    expect(await entries({ limit: 500 })).toHaveLength(102);
  });
});

describe('the chain of the audit log', () => {
  beforeEach(async () => {
    await start({ auditNames: true });
    const { desdemona, hamlet, iago } = people;
    fieldsOf(await server.patch(`/users/${hamlet.id}`, desdemona, { full_name: 'Prince Hamlet' }));
    fieldsOf(await server.patch(`/users/${hamlet.id}`, iago, { role: 300 }));
    fieldsOf(await server.patch('/realm', desdemona, { message_retention_days: 30 }));
  });

  const change = (number: number, changed: object | null) =>
    server.storage.uow.write(server.realmId, async (tx) => {
      const all = await tx.audit.listAfter(server.realmId, 0, 10);
      const chain = (await tx.audit.findChain(server.realmId))!;
      await tx.audit.removeUpTo(server.realmId, chain.last);
      for (const { detail, ...entry } of all) {
        if (entry.number !== number) await tx.audit.append(entry, detail);
        else if (changed) await tx.audit.append({ ...entry, ...changed }, 'detail' in changed ? null : detail);
      }
      await tx.audit.removeUpTo(server.realmId, { ...chain.anchor, number: 0 });
    });

  it('is verified, and names the last entry', async () => {
    const [last] = await entries();
    const { chain, ...result } = await verify();
    expect(result).toEqual({ entries: 3, erasedDetails: 0, findings: [] });
    expect(chain?.last).toEqual({ number: 3, digest: last.hash });
  });

  it('reveals changed and missing entries and details', async () => {
    const findings = async () => (await verify()).findings;
    await change(2, { actorId: people.hamlet.id });
    expect(await findings()).toEqual([{ number: 2, fault: 'changed' }]);
    await change(2, { actorId: people.iago.id });
    expect(await findings()).toEqual([]);
    await change(2, { detail: null });
    expect(await findings()).toEqual([{ number: 2, fault: 'detailMissing' }]);
    await change(2, null);
    expect(await findings()).toEqual([{ number: 3, fault: 'missing' }]);
  });

  it('reveals a log that was replaced, by an entry noted earlier', async () => {
    const execute = (number: number, digest: string) =>
      server.parley.useCase(VerifyAuditLog).execute(server.realmId, { number, digest });
    const [, second] = await entries();
    expect((await execute(2, second.hash)).findings).toEqual([]);
    expect((await execute(2, 'another')).findings).toEqual([{ number: 2, fault: 'changed' }]);
    expect((await execute(9, 'another')).findings).toEqual([{ number: 9, fault: 'missing' }]);
  });

  it('contains names by a setting, and stays valid when an erasure removes them', async () => {
    const { hamlet, iago } = people;
    const [, promoted, renamed] = await entries();
    expect(renamed.details).toMatchObject({
      actorName: 'Desdemona',
      subjectName: 'King Hamlet',
      changes: { fullName: { from: 'King Hamlet', to: 'Prince Hamlet' } },
    });
    expect(promoted.details).toMatchObject({ actorName: 'Iago', subjectName: 'Prince Hamlet' });
    await server.parley.users.erase({ realm: 'zulip', userId: hamlet.id });
    await runJobs(server, server.parley.useCase(ErasePerson));
    const after = await entries();
    expect(JSON.stringify(after)).not.toMatch(/King Hamlet|Prince/);
    expect(after.map(({ action, is_erased }) => [action, is_erased])).toEqual([
      ['users.erase', true],
      ['PATCH /realm', false],
      ['PATCH /users/:user_id', true],
      ['PATCH /users/:user_id', true],
    ]);
    expect(after.at(-1)).toMatchObject({ user_id: hamlet.id, details: null });
    expect(after[2]).toMatchObject({ actor_id: iago.id });
    const { chain: _, ...result } = await verify();
    expect(result).toEqual({ entries: 4, erasedDetails: 3, findings: [] });
  });

  it('stays valid when entries are removed after their time', async () => {
    server.clock.advance(86_400);
    fieldsOf(await server.patch('/realm', people.desdemona, { message_retention_days: 31 }));
    await server.parley.useCase(RemoveOldAuditEntries).execute({ keepSeconds: 3600 });
    expect((await entries()).map(({ id }) => id)).toEqual([4]);
    const { chain, ...result } = await verify();
    expect(result).toEqual({ entries: 1, erasedDetails: 0, findings: [] });
    expect(chain).toMatchObject({ anchor: { number: 3 }, last: { number: 4 } });
    await server.parley.useCase(RemoveOldAuditEntries).execute({ keepSeconds: 3600 });
    expect((await entries()).length).toBe(1);
    fieldsOf(await server.patch('/realm', people.desdemona, { message_retention_days: 32 }));
    expect((await verify()).findings).toEqual([]);
  });
});
