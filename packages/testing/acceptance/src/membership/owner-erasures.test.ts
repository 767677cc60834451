import type { UserId } from '@parley/domain/kernel';
import { ErasePerson } from '@parley/domain/membership';
import { RECENT_LOG_IN_SECONDS } from '@parley/domain/users';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerTest } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = serverPerTest();

const HAMLET = 'King Hamlet';

const request = (as: TestUser, { id }: Pick<TestUser, 'id'>, params: object = {}) =>
  server.post(`/users/${id}/erasure`, as, { name: HAMLET, password: as.password, ...params });
const erasureOf = async (person: TestUser): Promise<Wire> =>
  (fieldsOf(await server.get(`/users/${person.id}/erasure`, people.desdemona)) as Wire).erasure;
const nameOf = async (person: TestUser): Promise<string> =>
  (fieldsOf(await server.get(`/users/${person.id}`, people.desdemona)) as Wire).user.full_name;

describe('POST /users/{user_id}/erasure (extensions §19)', () => {
  it('erases a person at once, the rest in the background, and messages only on request', async () => {
    const { desdemona, hamlet, cordelia } = people;
    const id = await server.sendMessage(hamlet, [cordelia], { content: 'words of Hamlet' });
    const { erasure } = fieldsOf(await request(desdemona, hamlet)) as Wire;
    const asRequested = { user_id: hamlet.id, requested_at: server.clock.now(), everything_written: false };
    expect(erasure).toEqual({ ...asRequested, ended_at: null, removed_rows: 0, changed_texts: 0, held_texts: 0 });
    expect(await nameOf(hamlet)).toBe('Deleted user');
    expect((await server.get('/users/me', hamlet)).status).toBe(401);
    await runJobs(server, server.parley.useCase(ErasePerson));
    expect(await erasureOf(hamlet)).toMatchObject({ ...asRequested, ended_at: server.clock.now() });
    expect((await server.get(`/messages/${id}`, cordelia)).status).toBe(200);

    fieldsOf(await request(desdemona, hamlet, { name: 'Deleted user', everything_written: true }));
    await runJobs(server, server.parley.useCase(ErasePerson));
    expect(await erasureOf(hamlet)).toMatchObject({ everything_written: true });
    expectRefusal(await server.get(`/messages/${id}`, cordelia), 'Invalid message(s)');
  });

  it('erases an owner while another one remains', async () => {
    const { desdemona } = people;
    const goneril = await server.addUser({ email: 'goneril@example.com', fullName: 'Goneril', role: 'owner' });
    fieldsOf(await request(desdemona, desdemona, { name: 'Desdemona' }));
    expect((await server.get('/users/me', desdemona)).status).toBe(401);
    expectRefusal(await request(goneril, goneril, { name: 'Goneril' }), 'Cannot erase the only organization owner');
  });

  it('is recorded in the audit log', async () => {
    const { desdemona, hamlet } = people;
    fieldsOf(await request(desdemona, hamlet));
    const { entries } = fieldsOf(await server.get('/audit', desdemona, { user_id: hamlet.id })) as Wire;
    expect(entries[0]).toMatchObject({ action: 'POST /users/:user_id/erasure', actor_id: desdemona.id });
  });

  it('accepts an empty password shortly after a log-in', async () => {
    const { desdemona, hamlet } = people;
    const browser = await TestBrowser.loggedIn(server, desdemona);
    const erase = (name: string) => browser.post(`/json/users/${hamlet.id}/erasure`, { name });
    fieldsOf(await erase(HAMLET));
    server.clock.advance(RECENT_LOG_IN_SECONDS + 1);
    expectRefusal(await erase('Deleted user'), 'Enter your password, or log in again.');
  });

  it('refuses other callers, users, names and passwords, and changes nothing', async () => {
    const { desdemona, iago, hamlet } = people;
    const bot = await server.addBot(hamlet, 'helper');
    const realmId = await server.addRealm('elsewhere');
    const stranger = await server.addUser({ email: 's@example.com', fullName: 'Stranger', realmId });
    const refused = async (
      as: TestUser,
      person: Pick<TestUser, 'id'>,
      params: object,
      text: string,
      code = 'BAD_REQUEST',
    ) => expectRefusal(await request(as, person, params), text, { code });
    for (const as of [iago, hamlet, people.polonius]) {
      await refused(as, hamlet, {}, 'Must be an organization owner', 'UNAUTHORIZED_PRINCIPAL');
    }
    await refused(desdemona, stranger, {}, 'No such user');
    await refused(desdemona, { id: 99_999 as UserId }, {}, 'No such user');
    await refused(desdemona, bot, {}, 'Only people can be erased. Deactivate the bot.');
    await refused(desdemona, desdemona, {}, 'Cannot erase the only organization owner');
    for (const name of ['', 'king hamlet', 'Hamlet']) {
      await refused(desdemona, hamlet, { name }, 'This is not the name of the user.');
    }
    await refused(desdemona, hamlet, { password: '' }, 'Enter your password, or log in again.');
    await refused(desdemona, hamlet, { password: 'wrong' }, 'Password is incorrect.');
    expect(await nameOf(hamlet)).toBe('King Hamlet');
    expect((await server.get('/users/me', hamlet)).status).toBe(200);
  });
});

describe('GET /users/{user_id}/erasure (extensions §19)', () => {
  it('returns null for people who are not erased', async () => {
    expect(await erasureOf(people.hamlet)).toBeNull();
  });

  it('refuses other callers and unknown users', async () => {
    const get = (as: TestUser, id: number) => server.get(`/users/${id}/erasure`, as);
    const { desdemona, iago, hamlet } = people;
    expectRefusal(await get(iago, hamlet.id), 'Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' });
    expectRefusal(await get(desdemona, 99_999), 'No such user');
  });
});
