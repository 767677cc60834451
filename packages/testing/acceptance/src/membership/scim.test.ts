import type { UserId } from '@parley/domain/kernel';
import { IssueProvisioningToken, RevokeProvisioningToken } from '@parley/domain/log-in';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { loggedLines, serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestServer } from '../testing/test-server.js';

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';

let token: string;
const { lines, logger } = loggedLines();
const { server } = serverPerSuite({ logger });
beforeAll(async () => {
  token = await issue('okta');
});
beforeEach(() => {
  lines.length = 0;
});

const issue = (name: string, realmId = server.realmId) =>
  server.parley.useCase(IssueProvisioningToken).execute({ realmId, name });

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly realm?: string;
  readonly bearer?: string | null;
  readonly at?: TestServer;
}

async function scim(method: string, path: string, body?: unknown, sent: Sent = {}): Promise<TestReply> {
  const { headers = {}, realm, bearer = token, at = server } = sent;
  const reply = await at.request(method, `//scim/v2${path}`, {
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(realm !== undefined && { realm }),
    headers: {
      ...(bearer !== null && { Authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'Content-Type': 'application/scim+json' }),
      ...headers,
    },
  });
  const isScim = reply.headers['content-type'] === 'application/scim+json';
  return { ...reply, body: isScim ? JSON.parse(reply.body) : reply.body };
}
const ok = (reply: TestReply, status = 200): Wire => {
  expect({ status: reply.status, body: status === reply.status ? null : reply.body }).toEqual({ status, body: null });
  return reply.body;
};
const expectError = (reply: TestReply, status: number, scimType?: string) => {
  expect(reply.body).toEqual({
    schemas: [ERROR_SCHEMA],
    status: String(status),
    detail: expect.any(String),
    ...(scimType && { scimType }),
  });
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('application/scim+json');
};
const list = async (path: string): Promise<Wire> => ok(await scim('GET', path));
const filtered = (filter: string, kind = 'Users') => list(`/${kind}?filter=${encodeURIComponent(filter)}`);
const patch = (path: string, ...Operations: object[]) => scim('PATCH', path, { schemas: [PATCH_SCHEMA], Operations });

let n = 0;
/** Creates a user with the request that Microsoft documents for Entra. */
async function createUser(more: object = {}): Promise<Wire> {
  const name = `person${++n}`;
  return ok(
    await scim('POST', '/Users', {
      schemas: [USER_SCHEMA, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
      externalId: `0a21f0f2-8d2a-4f8e-bf98-7363c4aed4${name}`,
      userName: `${name}@zulip.com`,
      active: true,
      emails: [{ primary: true, type: 'work', value: `${name}@zulip.com` }],
      meta: { resourceType: 'User' },
      name: { formatted: `Given ${name}`, familyName: name, givenName: 'Given' },
      roles: [],
      ...more,
    }),
    201,
  );
}
const createGroup = async (displayName: string, members: readonly Wire[] = []): Promise<Wire> =>
  ok(
    await scim('POST', '/Groups', {
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:Group',
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      externalId: `id of ${displayName}`,
      displayName,
      members: members.map(({ id }) => ({ value: id })),
      meta: { resourceType: 'Group' },
    }),
    201,
  );
const memberIdsOf = async ({ id }: Wire): Promise<string[]> =>
  ok(await scim('GET', `/Groups/${id}`)).members.map(({ value }: Wire) => value);

describe('SCIM token', () => {
  it('is required by every path', async () => {
    for (const bearer of [null, 'wrong', `${token}x`]) {
      const reply = await scim('GET', '/Users', undefined, { bearer });
      expectError(reply, 401);
      expect(reply.headers['www-authenticate']).toBe('Bearer realm="parley"');
    }
    expectError(await scim('POST', '/Users', { userName: 'x@zulip.com' }, { bearer: null }), 401);
    expectError(await scim('GET', '/ServiceProviderConfig', undefined, { bearer: null }), 401);
    expect(lines.filter(({ audit }) => audit === 'failed log-in')).not.toEqual([]);
    expect(JSON.stringify(lines)).not.toContain(token);
  });

  it('belongs to one organization and gives no access to others', async () => {
    const realmId = await server.addRealm('denmark');
    const other = await issue('okta', realmId);
    expectError(await scim('GET', '/Users', undefined, { realm: 'denmark' }), 401);
    expectError(await scim('GET', '/Users', undefined, { bearer: other }), 401);
    const foreign = { realm: 'denmark', bearer: other };
    const { hamlet } = server.people;
    expectError(await scim('GET', `/Users/${hamlet.id}`, undefined, foreign), 404);
    expectError(await scim('DELETE', `/Users/${hamlet.id}`, undefined, foreign), 404);
    expectError(await scim('PUT', `/Users/${hamlet.id}`, { userName: 'x@zulip.com' }, foreign), 404);
    const group = await createGroup('Foreign');
    expectError(await scim('GET', `/Groups/${group.id}`, undefined, foreign), 404);
    const own = ok(await scim('POST', '/Groups', { displayName: 'Own' }, foreign), 201);
    const Operations = [{ op: 'add', path: 'members', value: [{ value: String(hamlet.id) }] }];
    expectError(await scim('PATCH', `/Groups/${own.id}`, { Operations }, foreign), 400, 'invalidValue');
    expect(ok(await scim('GET', '/Users', undefined, foreign))).toMatchObject({ totalResults: 0 });
  });

  it('is rejected once it is revoked', async () => {
    const short = await issue('short-lived');
    ok(await scim('GET', '/Users?count=0', undefined, { bearer: short }));
    await server.parley.useCase(RevokeProvisioningToken).execute({ realmId: server.realmId, name: 'short-lived' });
    expectError(await scim('GET', '/Users', undefined, { bearer: short }), 401);
  });

  it('has a unique name and is limited to ten', async () => {
    await expect(issue('okta')).rejects.toMatchObject({ code: 'TOKEN_NAME_TAKEN' });
    await expect(issue(' ')).rejects.toMatchObject({ code: 'INVALID_TOKEN_NAME' });
    for (let i = 0; i < 9; i++) await issue(`more ${i}`);
    await expect(issue('one too many')).rejects.toMatchObject({ code: 'TOO_MANY_TOKENS' });
  });
});

describe('SCIM user', () => {
  it('is created by requests of Entra and found by name and external id', async () => {
    const user = await createUser({
      roles: [{ primary: true, value: '{"id":"1","value":"Moderator","displayName":"M"}' }],
    });
    expect(user).toEqual({
      schemas: [USER_SCHEMA],
      id: expect.stringMatching(/^\d+$/),
      externalId: expect.any(String),
      userName: `person${n}@zulip.com`,
      displayName: `Given person${n}`,
      name: { formatted: `Given person${n}`, givenName: 'Given', familyName: `person${n}` },
      emails: [{ value: `person${n}@zulip.com`, type: 'work', primary: true }],
      active: true,
      roles: [{ value: 'moderator', primary: true }],
      meta: {
        resourceType: 'User',
        created: expect.stringMatching(/^\d{4}-/),
        location: `${server.url}/scim/v2/Users/${user.id}`,
        version: expect.stringMatching(/^W\/"\d+"$/),
      },
    });
    const found = { totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [user] };
    expect(await filtered(`userName eq "PERSON${n}@zulip.com"`)).toMatchObject(found);
    expect(await filtered(`externalId eq "${user.externalId}"`)).toMatchObject(found);
    expect(await filtered(`emails[type eq "work" and value eq "person${n}@zulip.com"]`)).toMatchObject(found);
    expect(await filtered(`userName eq "person${n}@zulip.com" and active eq false`)).toMatchObject({ totalResults: 0 });
    expect(await filtered('userName eq "nobody@zulip.com"')).toMatchObject({ totalResults: 0, Resources: [] });
    expect(fieldsOf(await server.get(`/users/${user.id}`, server.people.iago)).user).toMatchObject({ role: 300 });
    expect(lines.find(({ audit }) => audit === 'administration')).toMatchObject({
      program: 'SCIM: okta',
      realmId: server.realmId,
      target: { id: user.id },
      changes: { fullName: { to: `Given person${n}` } },
    });
  });

  it('is created by requests of Okta', async () => {
    const user = ok(
      await scim('POST', '/Users', {
        schemas: [USER_SCHEMA],
        userName: 'test.user@okta.local',
        name: { givenName: 'Test', familyName: 'User' },
        emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
        displayName: 'Test User',
        locale: 'en-US',
        externalId: '00ujl29u0le5T6Aj10h7',
        groups: [],
        password: '1mz050nq',
        active: true,
      }),
      201,
    );
    expect(user).toMatchObject({ displayName: 'Test User', roles: [{ value: 'member' }] });
    expect(user).not.toHaveProperty('password');
  });

  it('is rejected with the error expected by SCIM clients', async () => {
    const { userName, externalId } = await createUser();
    expectError(await scim('POST', '/Users', { userName }), 409, 'uniqueness');
    expectError(await scim('POST', '/Users', { userName: 'new@zulip.com', externalId }), 409, 'uniqueness');
    expectError(await scim('POST', '/Users', { displayName: 'No name' }), 400, 'invalidValue');
    const ofVisitor = { userName: 'new@zulip.com', externalId: 'parley-visitor:1' };
    expectError(await scim('POST', '/Users', ofVisitor), 400, 'invalidValue');
    expectError(await scim('POST', '/Users', { userName: 'no address' }), 400, 'invalidValue');
    expectError(await scim('POST', '/Users', { userName: 'new@zulip.com', active: 'maybe' }), 400, 'invalidValue');
    const roles = [{ value: 'emperor' }];
    expectError(await scim('POST', '/Users', { userName: 'new@zulip.com', roles }), 400, 'invalidValue');
    for (const body of ['{', '[]', '"x"', 'null', '{"a":'.repeat(2000)]) {
      expectError(await scim('POST', '/Users', body), 400, 'invalidSyntax');
    }
    expectError(await scim('POST', '/Users', `{"userName":"${'x'.repeat(1_100_000)}"}`), 413);
    for (const id of ['0', '99999999', 'x', '1e3', String(2 ** 60)])
      expectError(await scim('GET', `/Users/${id}`), 404);
    const bot = await server.addBot(server.people.hamlet, 'scim-helper');
    expectError(await scim('GET', `/Users/${bot.id}`), 404);
  });

  it('is changed by the operations of Entra', async () => {
    const { id } = await createUser();
    const changed = ok(
      await patch(
        `/Users/${id}`,
        { op: 'Replace', path: 'displayName', value: 'Anna Smith' },
        { op: 'Replace', path: 'name.familyName', value: 'Smith' },
        { op: 'Add', path: 'emails[type eq "work"].value', value: 'other@zulip.com' },
        { op: 'Replace', path: 'roles[primary eq "True"].value', value: 'Administrator' },
        { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Sales' },
        { op: 'Replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:userName', value: 'anna@zulip.com' },
        { op: 'Add', path: 'title', value: 'Boss' },
      ),
    );
    expect(changed).toMatchObject({
      displayName: 'Anna Smith',
      userName: 'anna@zulip.com',
      emails: [{ value: 'anna@zulip.com' }],
      roles: [{ value: 'administrator' }],
    });
    const byValue = { displayName: 'Ann Smith', 'name.familyName': 'Smith', active: 'True' };
    expect(ok(await patch(`/Users/${id}`, { op: 'replace', value: byValue }))).toMatchObject({
      displayName: 'Ann Smith',
    });
    const renamed = ok(await patch(`/Users/${id}`, { op: 'Replace', path: 'name.familyName', value: 'Jones' }));
    expect(renamed).toMatchObject({ displayName: 'Ann Jones', name: { givenName: 'Ann', familyName: 'Jones' } });
    expect(ok(await patch(`/Users/${id}`, { op: 'Remove', path: 'roles' }))).toMatchObject({
      roles: [{ value: 'member' }],
    });
    expect(lines.at(-1)).toMatchObject({ changes: { role: { from: 'administrator', to: 'member' } } });
  });

  it('is changed by the PUT requests of Okta', async () => {
    const user = await createUser();
    const body = { ...user, name: { givenName: 'Another', familyName: 'User' }, displayName: undefined };
    expect(ok(await scim('PUT', `/Users/${user.id}`, body))).toMatchObject({
      displayName: 'Another User',
      active: true,
    });
    expect(ok(await scim('PUT', `/Users/${user.id}`, { ...body, active: false }))).toMatchObject({ active: false });
    expect(ok(await scim('GET', `/Users/${user.id}`))).toMatchObject({ active: false });
    expect(ok(await scim('PUT', `/Users/${user.id}`, { ...body, active: true }))).toMatchObject({ active: true });
  });

  it('rejects operations that cannot be applied', async () => {
    const { id } = await createUser();
    const refused = async (status: number, scimType: string, ...operations: object[]) =>
      expectError(await patch(`/Users/${id}`, ...operations), status, scimType);
    await refused(400, 'invalidSyntax', { op: 'increment', path: 'active', value: 1 });
    await refused(400, 'invalidSyntax', { op: 'replace', value: 'x' });
    await refused(400, 'invalidSyntax');
    await refused(400, 'invalidPath', { op: 'replace', path: 'emails[type eq', value: 'x' });
    await refused(400, 'invalidPath', { op: 'replace', path: 'a b', value: 'x' });
    await refused(400, 'invalidPath', { op: 'remove' });
    await refused(400, 'invalidPath', { op: 'replace', path: 7, value: 'x' });
    await refused(400, 'mutability', { op: 'remove', path: 'userName' });
    await refused(400, 'mutability', { op: 'replace', path: 'externalId', value: 'another' });
    await refused(400, 'invalidValue', { op: 'replace', path: 'active', value: 'perhaps' });
    await refused(400, 'invalidValue', { op: 'replace', path: 'displayName', value: { a: 1 } });
    await refused(409, 'uniqueness', { op: 'replace', path: 'userName', value: 'hamlet@zulip.com' });
    const untouched = { active: true, displayName: `Given person${n}` };
    expect(ok(await scim('GET', `/Users/${id}`))).toMatchObject(untouched);
  });

  it('cannot be deactivated or demoted as the last owner', async () => {
    const { desdemona } = server.people;
    const path = `/Users/${desdemona.id}`;
    expectError(await patch(path, { op: 'Replace', path: 'active', value: 'False' }), 400, 'mutability');
    expectError(await patch(path, { op: 'replace', path: 'roles', value: [{ value: 'member' }] }), 400, 'mutability');
    expectError(await scim('DELETE', path), 400, 'mutability');
    expect(ok(await scim('GET', path))).toMatchObject({ active: true, roles: [{ value: 'owner' }] });
  });

  it('is hidden once deleted and comes back with its account', async () => {
    const user = await createUser();
    const group = await createGroup('Deleters', [user]);
    ok(await scim('DELETE', `/Users/${user.id}`), 204);
    expectError(await scim('GET', `/Users/${user.id}`), 404);
    expectError(await scim('DELETE', `/Users/${user.id}`), 404);
    expect(await filtered(`userName eq "${user.userName}"`)).toMatchObject({ totalResults: 0 });
    expect(await memberIdsOf(group)).toEqual([]);
    const back = ok(await scim('POST', '/Users', { userName: user.userName, displayName: 'Back again' }), 201);
    expect(back).toMatchObject({ id: user.id, active: true, displayName: 'Back again' });
  });

  it('changes only from the version known to the client', async () => {
    const user = await createUser();
    const path = `/Users/${user.id}`;
    const { version } = user.meta;
    const rename = (displayName: string, tag: string) =>
      scim(
        'PATCH',
        path,
        { Operations: [{ op: 'replace', path: 'displayName', value: displayName }] },
        { headers: { 'If-Match': tag } },
      );
    const read = await scim('GET', path);
    expect(read.headers.etag).toBe(version);
    const same = await scim('GET', path, undefined, { headers: { 'If-None-Match': version } });
    expect([same.status, same.body]).toEqual([304, null]);
    const changed = await rename('First', version);
    expect(ok(changed).meta.version).toBe(changed.headers.etag);
    expect(changed.headers.etag).not.toBe(version);
    expectError(await rename('Second', version), 412);
    expectError(await scim('PUT', path, user, { headers: { 'If-Match': version } }), 412);
    expectError(await scim('DELETE', path, undefined, { headers: { 'If-Match': version } }), 412);
    expect(ok(await rename('Third', '*'))).toMatchObject({ displayName: 'Third' });
  });

  it('is listed in pages with the requested attributes', async () => {
    const { totalResults } = await list('/Users?count=0');
    const ids: string[] = [];
    for (let startIndex = 1; startIndex <= totalResults; startIndex += 4) {
      const page = await list(`/Users?startIndex=${startIndex}&count=4`);
      expect(page).toMatchObject({ totalResults, startIndex, itemsPerPage: page.Resources.length });
      ids.push(...page.Resources.map(({ id }: Wire) => id));
    }
    expect(ids).toHaveLength(totalResults);
    expect(new Set(ids).size).toBe(totalResults);
    expect((await list('/Users?count=2&attributes=userName')).Resources.map(Object.keys)).toEqual(
      Array(2).fill(['schemas', 'id', 'userName', 'meta']),
    );
    expect((await list('/Users?count=1&excludedAttributes=emails,roles')).Resources[0]).not.toHaveProperty('emails');
    expect(await list('/Users?startIndex=0&count=-5')).toMatchObject({ startIndex: 1, itemsPerPage: 0 });
    expect(await list('/Users?count=100000')).toMatchObject({ itemsPerPage: Math.min(totalResults, 200) });
    expectError(await scim('GET', '/Users?count=many'), 400, 'invalidValue');
  });

  it('is filtered by a bounded grammar', async () => {
    const { totalResults } = await filtered('displayName sw "given" and not (active eq false)');
    expect(totalResults).toBeGreaterThan(0);
    expect((await filtered('(userName ew "zulip.com" or userName co "okta") and id pr')).totalResults).toBeGreaterThan(
      4,
    );
    expect((await filtered('title eq "x" or emails.value ne "x"')).totalResults).toBeGreaterThan(4);
    expect((await filtered('id eq "x"')).totalResults).toBe(0);
    for (const filter of [
      'userName',
      'userName is "x"',
      'userName eq',
      'userName eq x',
      'userName eq "x',
      '(userName eq "x"',
      'userName eq "x")',
      'userName eq "x" and',
      `${'('.repeat(50)}a pr${')'.repeat(50)}`,
      `userName eq "${'x'.repeat(3000)}"`,
      '*',
    ]) {
      expectError(await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`), 400, 'invalidFilter');
    }
  });
});

describe('deactivation by SCIM', () => {
  it.each(['on the same server', 'on another server of the database'])(
    'ends sessions, keys and waiting polls %s',
    async (where) => {
      const other = where === 'on the same server' ? server : await server.startAnother();
      const email = `leaver${++n}@zulip.com`;
      const leaver = await server.addUser({ email, fullName: `Leaver ${n}` });
      const browser = await TestBrowser.loggedIn(other, leaver);
      const queue = fieldsOf(await other.post('/register', leaver, { event_types: ['message'] })).queue_id;
      const { servedQueues } = other.parley.ports;
      const poll = other.get('/events', leaver, { queue_id: queue, last_event_id: -1 });
      while (servedQueues.lastPolled(leaver.id).get(queue) !== Number.POSITIVE_INFINITY) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const startedAt = performance.now();
      ok(await patch(`/Users/${leaver.id}`, { op: 'Replace', path: 'active', value: 'False' }));
      await poll;
      expect(performance.now() - startedAt).toBeLessThan(2000);
      expect((await other.get('/users/me', leaver)).status).toBe(401);
      expect((await browser.get('/json/users/me')).status).toBe(401);
      expect((await other.get('/events', leaver, { queue_id: queue, last_event_id: -1 })).status).toBe(401);
      if (other !== server) await other.close();
    },
  );
});

it('shows a deleted user again whom an administrator reactivated, also after another deactivation', async () => {
  const { id, userName } = await createUser();
  ok(await scim('DELETE', `/Users/${id}`), 204);
  const { desdemona } = server.people;
  fieldsOf(await server.post(`/users/${id}/reactivate`, desdemona));
  fieldsOf(await server.delete(`/users/${id}`, desdemona));
  expect(ok(await scim('GET', `/Users/${id}`))).toMatchObject({ userName, active: false });
  expectError(await scim('POST', '/Users', { userName, displayName: 'Again' }), 409, 'uniqueness');
});

describe('SCIM group', () => {
  it('is a user group with published changes', async () => {
    const { iago } = server.people;
    const [one, two, three] = [await createUser(), await createUser(), await createUser()];
    const queue = await openQueue(server, iago, { event_types: ['user_group'] });
    const group = await createGroup('Engineering', [one]);
    expect(group).toMatchObject({
      displayName: 'Engineering',
      externalId: 'id of Engineering',
      members: [{ value: one.id, type: 'User' }],
      meta: { resourceType: 'Group', location: `${server.url}/scim/v2/Groups/${group.id}` },
    });
    const path = `/Groups/${group.id}`;
    ok(await patch(path, { op: 'Add', path: 'members', value: [{ value: two.id }, { value: three.id }] }), 204);
    ok(await patch(path, { op: 'Remove', path: 'members', value: [{ value: one.id }] }), 204);
    ok(await patch(path, { op: 'remove', path: `members[value eq "${two.id}"]` }), 204);
    ok(await patch(path, { op: 'replace', value: { id: group.id, displayName: 'Builders' } }), 204);
    expect(await memberIdsOf(group)).toEqual([three.id]);
    const events = await eventsAfter(server, queue);
    expect(events.map(({ op, user_ids, data }: Wire) => [op, user_ids ?? data?.name])).toEqual([
      ['add', undefined],
      ['add_members', [Number(one.id)]],
      ['add_members', [Number(two.id), Number(three.id)]],
      ['remove_members', [Number(one.id)]],
      ['remove_members', [Number(two.id)]],
      ['update', 'Builders'],
    ]);
  });

  it('loses several members at once', async () => {
    const [one, two, three] = [await createUser(), await createUser(), await createUser()];
    const group = await createGroup('Engineering', [one, two, three]);
    const value = [{ value: one.id }, { value: two.id }];
    ok(await patch(`/Groups/${group.id}`, { op: 'remove', path: 'members', value }), 204);
    expect(await memberIdsOf(group)).toEqual([three.id]);
  });

  it('is found by name, external id and member, without members on request', async () => {
    const user = await createUser();
    const group = await createGroup('Found', [user]);
    const ids = async (filter: string) => (await filtered(filter, 'Groups')).Resources.map(({ id }: Wire) => id);
    expect(await ids('displayName eq "FOUND"')).toEqual([group.id]);
    expect(await ids('externalId eq "id of Found"')).toEqual([group.id]);
    expect(await ids(`members.value eq "${user.id}"`)).toEqual([group.id]);
    expect(await ids(`id eq "${group.id}" and members eq "${user.id}"`)).toEqual([group.id]);
    expect(await ids(`id eq "${group.id}" and members eq "1"`)).toEqual([]);
    expect(await ids('displayName sw "fou"')).toEqual([group.id]);
    const [shown] = (await list('/Groups?excludedAttributes=members&filter=displayName%20eq%20%22Found%22')).Resources;
    expect(shown).not.toHaveProperty('members');
    const pages = [await list('/Groups?count=2'), await list('/Groups?startIndex=3&count=2')];
    expect(new Set(pages.flatMap(({ Resources }) => Resources.map(({ id }: Wire) => id))).size).toBe(4);
    expect(await filtered('displayName eq "role:owners"', 'Groups')).toMatchObject({ totalResults: 0 });
  });

  it('is changed only by SCIM clients and by users who manage all groups', async () => {
    const { hamlet } = server.people;
    const { id } = await createGroup('Closed', [{ id: String(hamlet.id) } as Wire]);
    expect((await server.post(`/user_groups/${id}/members`, hamlet, { delete: [hamlet.id] })).status).toBe(400);
    expect(
      (await server.post(`/user_groups/${id}/members`, server.people.cordelia, { add: [server.people.cordelia.id] }))
        .status,
    ).toBe(400);
  });

  it('rejects unsupported content', async () => {
    const group = await createGroup('Refusing');
    const path = `/Groups/${group.id}`;
    expectError(await scim('POST', '/Groups', { displayName: 'refusing' }), 409, 'uniqueness');
    expectError(await scim('POST', '/Groups', {}), 400, 'invalidValue');
    expectError(await scim('POST', '/Groups', { displayName: 'role:x' }), 400, 'invalidValue');
    expectError(await patch(path, { op: 'add', path: 'members', value: [{ value: '99999' }] }), 400, 'invalidValue');
    expectError(await patch(path, { op: 'add', path: 'members', value: [{ value: 'x' }] }), 400, 'invalidValue');
    expectError(await patch(path, { op: 'remove', path: 'members[type eq "x"]' }), 400, 'invalidPath');
    expectError(await patch(path, { op: 'remove', path: 'displayName' }), 400, 'mutability');
    const many = Array.from({ length: 10_001 }, () => ({ value: '1' }));
    expectError(await scim('PUT', path, { displayName: 'Refusing', members: many }), 413);
    ok(await patch(path, { op: 'remove', path: 'members', value: [{ value: 'x' }] }), 204);
    const system = fieldsOf(await server.get('/user_groups', server.people.iago)).user_groups[0].id;
    expectError(await scim('GET', `/Groups/${system}`), 404);
    expectError(await scim('DELETE', `/Groups/${system}`), 404);
    expectError(await scim('GET', '/Groups/x'), 404);
  });

  it('changes only from the version known to the client', async () => {
    const user = await createUser();
    const group = await createGroup('Versions');
    const path = `/Groups/${group.id}`;
    const add = (tag: string) =>
      scim(
        'PATCH',
        path,
        { Operations: [{ op: 'add', path: 'members', value: [{ value: user.id }] }] },
        { headers: { 'If-Match': tag } },
      );
    const changed = await add(group.meta.version);
    ok(changed, 204);
    expect(changed.headers.etag).not.toBe(group.meta.version);
    expectError(await add(group.meta.version), 412);
    expect(
      ok(
        await scim(
          'PUT',
          path,
          { displayName: 'Versions', members: [] },
          { headers: { 'If-Match': changed.headers.etag! } },
        ),
      ),
    ).toMatchObject({ members: [] });
    expectError(await scim('DELETE', path, undefined, { headers: { 'If-Match': changed.headers.etag! } }), 412);
  });

  it('is emptied, deactivated and reserved for the SCIM client once deleted', async () => {
    const user = await createUser();
    const group = await createGroup('Going', [user]);
    ok(await scim('DELETE', `/Groups/${group.id}`), 204);
    expectError(await scim('GET', `/Groups/${group.id}`), 404);
    const shown = fieldsOf(await server.get('/user_groups', server.people.iago, { include_deactivated_groups: true }));
    expect(shown.user_groups.find(({ id }: Wire) => id === Number(group.id))).toMatchObject({
      deactivated: true,
      members: [],
    });
    expect(await createGroup('Going', [user])).toMatchObject({ id: group.id, members: [{ value: user.id }] });
  });

  it('accepts thousands of members in bounded units', async () => {
    const ids = await addPeople(1200);
    const group = await createGroup('Everybody');
    const units = jest.spyOn(server.storage.uow, 'write');
    const members = ids.map((id) => ({ value: String(id) }));
    ok(await scim('PUT', `/Groups/${group.id}`, { displayName: 'Everybody', members }));
    expect(units.mock.calls.length).toBeGreaterThanOrEqual(4);
    units.mockRestore();
    expect(await memberIdsOf(group)).toHaveLength(1200);
    ok(await patch(`/Groups/${group.id}`, { op: 'remove', path: 'members' }), 204);
    expect(await memberIdsOf(group)).toEqual([]);
  });
});

/** Adds bare users without the other parts of an account. */
const addPeople = (count: number): Promise<readonly UserId[]> =>
  server.storage.uow.write(server.realmId, async (tx) => {
    const template = server.people.hamlet.user;
    const ids: UserId[] = [];
    for (let index = 0; index < count; index++) {
      const { id: _, version: __, ...user } = template;
      ids.push(
        (await tx.users.add({ ...user, email: `crowd${index}@zulip.com`, fullName: `Crowd ${index}` }, null)).id,
      );
    }
    return ids;
  });

describe('SCIM discovery', () => {
  it('describes what the server supports', async () => {
    expect(await list('/ServiceProviderConfig')).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
      etag: { supported: true },
    });
    expect((await list('/ResourceTypes')).Resources.map(({ endpoint }: Wire) => endpoint)).toEqual([
      '/Users',
      '/Groups',
    ]);
    expect(await list(`/Schemas/${USER_SCHEMA}`)).toMatchObject({ name: 'User' });
    expect(await list('/Schemas')).toMatchObject({ totalResults: 2 });
    expect(await list('/ResourceTypes/Group')).toMatchObject({ endpoint: '/Groups' });
    expectError(await scim('GET', '/Schemas/x'), 404);
  });
});

it("SCIM rejects addresses outside the organization's domains", async () => {
  const user = await createUser();
  await server.changeRealm({ settings: { emailsRestrictedToDomains: true, disallowDisposableEmailAddresses: true } });
  await server.storage.uow.write(server.realmId, (tx) =>
    tx.allowedDomains.add({ realmId: server.realmId, domain: 'zulip.com', allowsSubdomains: false }),
  );
  const elsewhere = { schemas: [USER_SCHEMA], userName: 'x@elsewhere.example', displayName: 'X' };
  expectError(await scim('POST', '/Users', elsewhere), 400, 'invalidValue');
  const change = { op: 'replace', path: 'userName', value: 'x@elsewhere.example' };
  expectError(await patch(`/Users/${user.id}`, change), 400, 'invalidValue');
  expect(await filtered('userName eq "x@elsewhere.example"')).toMatchObject({ totalResults: 0 });
  ok(await patch(`/Users/${user.id}`, { op: 'replace', path: 'displayName', value: 'Still here' }));
  await server.changeRealm({ settings: { emailsRestrictedToDomains: false } });
});

describe('SCIM .search', () => {
  const search = (kind: string, query: object) =>
    scim('POST', `/${kind}/.search`, { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], ...query });

  it('lists the same resources as GET with the same query', async () => {
    const user = await createUser();
    const filter = `userName eq "${user.userName}"`;
    const found = ok(await search('Users', { filter, attributes: ['userName'], startIndex: 1, count: 5 }));
    expect(found).toEqual(await list(`/Users?filter=${encodeURIComponent(filter)}&attributes=userName`));
    expect(found).toMatchObject({ totalResults: 1, Resources: [{ userName: user.userName }] });
    const group = await createGroup(`Search ${n}`);
    expect(ok(await search('Groups', { filter: `id eq "${group.id}"` }))).toMatchObject({
      Resources: [{ id: group.id }],
    });
    expect(ok(await search('Users', { count: 0 }))).toMatchObject({ Resources: [] });
  });

  it.each([
    [{ filter: 'userName near "x"' }, 'invalidFilter'],
    [{ filter: { a: 1 } }, 'invalidValue'],
    [{ count: 'many' }, 'invalidValue'],
    [{ startIndex: 1.5 }, 'invalidValue'],
  ])('rejects %j', async (query, scimType) => {
    expectError(await search('Users', query), 400, scimType);
  });
});

it('SCIM forbids caches to store responses', async () => {
  const user = await createUser();
  const known = { headers: { 'If-None-Match': '*' } };
  for (const reply of [
    await scim('GET', '/Users'),
    await scim('GET', `/Users/${user.id}`),
    await scim('GET', `/Users/${user.id}`, undefined, known),
    await scim('GET', '/Users/0'),
    await scim('GET', '/Users', undefined, { bearer: 'wrong' }),
    await scim('GET', '/ServiceProviderConfig'),
    await scim('DELETE', `/Users/${user.id}`),
  ]) {
    expect([reply.status, reply.headers['cache-control']]).toEqual([reply.status, 'no-store']);
  }
});
