import type { EmailVisibility } from '@parley/domain/realms';
import { GrantSpecialPermission, type User } from '@parley/domain/users';
import { openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();

const change = (user: TestUser, changes: Partial<User>) => server.changeUser(user, changes);
const showEmailTo = (who: TestUser, emailAddressVisibility: EmailVisibility) =>
  change(who, { settings: { ...who.user.settings, emailAddressVisibility } });
const dummy = ({ id }: TestUser) => `user${id}@parley.invalid`;

describe('GET /users', () => {
  const list = async (as: TestUser, params = {}): Promise<Wire[]> =>
    fieldsOf(await server.get('/users', as, params)).members as Wire;
  const idsOf = (members: Wire[]) => members.map(({ user_id }) => user_id);

  it('lists all users including deactivated users and bots, but no system bots', async () => {
    const { hamlet, cordelia } = people;
    const bot = await server.addUser({ email: 'helper@zulip.com', fullName: 'Helper' });
    await change(bot, { bot: { kind: 'generic', ownerId: hamlet.id, isSystem: false, defaultSendingChannelId: null } });
    await change(cordelia, { isActive: false });
    const members = await list(hamlet);
    expect(idsOf(members)).toEqual([...Object.values(people).map(({ id }) => id), bot.id]);
    expect(members.find(({ user_id }) => user_id === cordelia.id).is_active).toBe(false);
    expect(members.at(-1)).toMatchObject({ is_bot: true, bot_type: 1, bot_owner_id: hamlet.id });
  });

  it('lists requested users and omits unknown ones', async () => {
    const { hamlet, iago } = people;
    for (const user_ids of [`[${iago.id},${hamlet.id},99999]`, `${iago.id},${hamlet.id},99999`]) {
      expect(idsOf(await list(hamlet, { user_ids }))).toEqual([iago.id, hamlet.id]);
    }
    expect(await list(hamlet, { user_ids: [] })).toEqual([]);
  });

  it('includes profiles on request', async () => {
    expect((await list(people.hamlet))[0]).not.toHaveProperty('profile_data');
    expect((await list(people.hamlet, { include_custom_profile_fields: true }))[0].profile_data).toEqual({});
  });

  it('returns emails to callers who may see them', async () => {
    const { hamlet, cordelia, iago, polonius } = people;
    await showEmailTo(hamlet, 'administrators');
    const seen = async (as: TestUser) => {
      const { email, delivery_email } = (await list(as, { user_ids: [hamlet.id] }))[0];
      return { email, delivery_email };
    };
    for (const who of [iago, hamlet]) {
      expect(await seen(who)).toEqual({ email: dummy(hamlet), delivery_email: 'hamlet@zulip.com' });
    }
    for (const who of [cordelia, polonius]) {
      expect(await seen(who)).toEqual({ email: dummy(hamlet), delivery_email: null });
    }
  });

  it('leaves gravatars to clients that can see the email and hides them from others (decision 21)', async () => {
    const { hamlet, cordelia, iago } = people;
    await change(hamlet, {
      avatar: { source: 'gravatar', version: 2 },
      settings: { ...hamlet.user.settings, emailAddressVisibility: 'administrators' },
    });
    const avatar = async (as: TestUser, params = {}) =>
      (await list(as, { user_ids: [hamlet.id], ...params }))[0].avatar_url;
    expect(await avatar(iago)).toBeNull();
    expect(await avatar(iago, { client_gravatar: false })).toContain('gravatar.com');
    // A gravatar hash would make it possible to guess the email.
    expect(await avatar(cordelia)).toMatch(new RegExp(`/user_avatars/\\d+/${hamlet.id}\\.png\\?version=2$`));
  });

  it('hides inaccessible users from a limited guest', async () => {
    const { polonius, hamlet, cordelia } = people;
    await server.limitGuests();
    expect(idsOf(await list(polonius))).toEqual([polonius.id]);
    await server.createChannel('lobby', [polonius, hamlet]);
    expect(idsOf(await list(polonius))).toEqual([hamlet.id, polonius.id]);
    expect(idsOf(await list(hamlet))).toContain(cordelia.id);
  });

  it('rejects unreadable parameters', async () => {
    const refused = async (params: object, msg: string) =>
      expectRefusal(await server.get('/users', people.hamlet, { ...params }), msg);
    await refused({ client_gravatar: 'maybe', user_ids: 'x' }, 'client_gravatar is not valid JSON');
    await refused(
      { include_custom_profile_fields: 1, user_ids: 'x' },
      'include_custom_profile_fields is not a boolean',
    );
    await refused({ user_ids: 'x' }, 'user_ids is not valid JSON');
    await refused({ user_ids: ['7'] }, 'user_ids[0] is not an integer');
  });
});

describe('GET /users/me', () => {
  it("returns the caller's own user with every field", async () => {
    const { hamlet } = people;
    await showEmailTo(hamlet, 'nobody');
    expect(fieldsOf(await server.get('/users/me', hamlet))).toEqual({
      user_id: hamlet.id,
      delivery_email: 'hamlet@zulip.com',
      email: dummy(hamlet),
      full_name: 'King Hamlet',
      date_joined: new Date(server.clock.nowMs()).toISOString().replace('.000Z', '+00:00'),
      is_active: true,
      is_owner: false,
      is_admin: false,
      is_guest: false,
      is_bot: false,
      role: 400,
      timezone: '',
      avatar_url: `${server.url}/user_avatars/${server.realmId}/${hamlet.id}.png?version=1`,
      avatar_version: 1,
      is_imported_stub: false,
      profile_data: {},
      max_message_id: -1,
    });
  });

  it('returns the id of the newest message', async () => {
    const { hamlet, cordelia } = people;
    const sent = await server.post('/messages', cordelia, { type: 'direct', to: [hamlet.id], content: 'hi' });
    expect((await server.get('/users/me', hamlet)).body.max_message_id).toBe(sent.body.id);
    expect((await server.get('/users/me', people.iago)).body.max_message_id).toBe(-1);
  });

  it('rejects a request without credentials', async () => {
    const reply = await server.get('/users/me', null);
    expectRefusal(reply, 'Not logged in: API authentication or user session required', {
      status: 401,
      code: 'UNAUTHORIZED',
    });
    expect(reply.headers['www-authenticate']).toBe('Basic realm="zulip"');
  });

  it("rejects a page's script without a challenge, for which browsers would ask for a password", async () => {
    const reply = await server.request('GET', '/users/me', { headers: { 'X-Requested-With': 'XMLHttpRequest' } });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, undefined]);
  });
});

describe('GET /users/{user_id} and /users/{email}', () => {
  const get = (who: string | number, as: TestUser, params = {}) =>
    server.get(`/users/${encodeURIComponent(who)}`, as, params);
  const found = async (who: string | number, as: TestUser) => (await get(who, as)).body.user?.user_id;
  const noSuchUser = async (who: string | number, as: TestUser) => expectRefusal(await get(who, as), 'No such user');

  it('finds users of the realm by id', async () => {
    const { hamlet, cordelia, iago } = people;
    await change(cordelia, { isActive: false });
    expect(await found(cordelia.id, hamlet)).toBe(cordelia.id);
    expect(await found(`0${iago.id}`, hamlet)).toBe(iago.id);
    expect((await get(iago.id, hamlet)).body.user).toMatchObject({ is_admin: true, role: 200 });
    expect((await get(iago.id, hamlet)).body.user).not.toHaveProperty('profile_data');
    const whole = await get(iago.id, hamlet, { include_custom_profile_fields: true });
    expect(whole.body.user.profile_data).toEqual({});
    await noSuchUser(99_999, hamlet);
    await noSuchUser('-1', hamlet);
    const [bot] = await server.storage.uow.read(server.realmId, ({ users }) => users.listSystemBots(server.realmId));
    await noSuchUser(bot!.id, hamlet);
  });

  it('finds users by dummy email regardless of visibility', async () => {
    const { hamlet, cordelia } = people;
    for (const visibility of ['everyone', 'nobody'] as const) {
      await showEmailTo(cordelia, visibility);
      expect(await found(dummy(cordelia).toUpperCase(), hamlet)).toBe(cordelia.id);
    }
    await noSuchUser('user99999@parley.invalid', hamlet);
    await noSuchUser(`user${cordelia.id}@elsewhere.org`, hamlet);
  });

  it.each`
    visibility          | desdemona | shiva    | hamlet   | polonius
    ${'everyone'}       | ${true}   | ${true}  | ${true}  | ${true}
    ${'members'}        | ${true}   | ${true}  | ${true}  | ${false}
    ${'moderators'}     | ${true}   | ${true}  | ${false} | ${false}
    ${'administrators'} | ${true}   | ${false} | ${false} | ${false}
    ${'nobody'}         | ${false}  | ${false} | ${false} | ${false}
  `(
    'finds users by delivery email only when visible to the caller: $visibility',
    async ({ visibility, ...finders }) => {
      const { cordelia } = people;
      await showEmailTo(cordelia, visibility);
      for (const [name, finds] of Object.entries(finders)) {
        const viewer = people[name as keyof typeof people];
        if (finds) expect(await found(' CORDELIA@zulip.com ', viewer)).toBe(cordelia.id);
        else await noSuchUser('cordelia@zulip.com', viewer);
        const { delivery_email } = (await get(cordelia.id, viewer)).body.user;
        expect(delivery_email).toBe(finds ? 'cordelia@zulip.com' : null);
      }
    },
  );

  it('does not find even the caller by a hidden email', async () => {
    await showEmailTo(people.hamlet, 'nobody');
    await noSuchUser('hamlet@zulip.com', people.hamlet);
    await noSuchUser('nobody@zulip.com', people.hamlet);
    await noSuchUser('nobody', people.hamlet);
  });

  it('denies a limited guest access to inaccessible users', async () => {
    const { polonius, hamlet } = people;
    await server.limitGuests();
    expectRefusal(await get(hamlet.id, polonius), 'Insufficient permission');
    expectRefusal(await get(hamlet.email, polonius), 'Insufficient permission');
    expect(await found(polonius.id, polonius)).toBe(polonius.id);
    await noSuchUser(99_999, polonius);
  });

  it('rejects unreadable parameters', async () => {
    const reply = await get(people.iago.id, people.hamlet, { client_gravatar: 'maybe' });
    expectRefusal(reply, 'client_gravatar is not valid JSON');
  });

  it('does not find users of other realms', async () => {
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', realmId });
    for (const who of [king.id, king.email, dummy(king)]) await noSuchUser(who, people.desdemona);
    const { members } = (await server.get('/users', people.desdemona)).body;
    expect(members.map(({ user_id }: Wire) => user_id)).not.toContain(king.id);
  });
});

describe('limited guest (users §1.4)', () => {
  it('receives one event per user when they start and stop sharing channels', async () => {
    const { desdemona, iago, hamlet, cordelia, polonius } = people;
    await server.limitGuests();
    const names = ['attic', 'cellar', 'den'];
    for (const name of names) await server.createChannel(name, [polonius, desdemona]);
    const queue = await openQueue(server, polonius, {
      event_types: ['realm_user'],
      client_capabilities: { notification_settings_null: true, user_list_incomplete: true },
    });
    let last = -1;
    const heard = async () => {
      const query = { queue_id: queue.id, last_event_id: last, dont_block: true };
      const { events } = fieldsOf(await server.get('/events', polonius, query)) as Wire;
      last = events.at(-1).id;
      return events.map(({ op, person }: Wire) => `${op} ${person.user_id}`).sort();
    };
    const subscribe = (who: readonly TestUser[]) =>
      server.post('/users/me/subscriptions', desdemona, {
        subscriptions: names.map((name) => ({ name })),
        principals: who.map(({ id }) => id),
      });
    const unsubscribe = (who: readonly TestUser[]) =>
      server.delete('/users/me/subscriptions', desdemona, {
        subscriptions: names,
        principals: who.map(({ id }) => id),
      });

    fieldsOf(await subscribe([hamlet, cordelia]));
    expect(await heard()).toEqual([`add ${hamlet.id}`, `add ${cordelia.id}`]);
    fieldsOf(await unsubscribe([cordelia]));
    expect(await heard()).toEqual([`remove ${cordelia.id}`]);
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago));
    expect(await heard()).toEqual([`remove ${hamlet.id}`]);
    fieldsOf(await server.post(`/users/${hamlet.id}/reactivate`, iago));
    expect(await heard()).toEqual([`add ${hamlet.id}`, `update ${hamlet.id}`]);
    fieldsOf(await unsubscribe([polonius]));
    expect(await heard()).toEqual([`remove ${desdemona.id}`, `remove ${hamlet.id}`]);
    fieldsOf(await subscribe([polonius, cordelia]));
    expect(await heard()).toEqual([`add ${desdemona.id}`, `add ${hamlet.id}`, `add ${cordelia.id}`]);
  });
});

describe('POST /users', () => {
  const newcomer = { email: 'new@zulip.com', password: 'kangaroo fence 7 wombat', full_name: 'New Comer' };
  const create = (params: object, as: TestUser = people.desdemona) => server.post('/users', as, { ...params });
  const refused = async (params: object, msg: string, more = {}, as?: TestUser) => {
    const { commits } = server.storage;
    expectRefusal(await create(params, as), msg, more);
    expect(server.storage.commits).toBe(commits);
  };
  const grant = (email: string) =>
    server.parley
      .useCase(GrantSpecialPermission)
      .execute({ realmId: server.realmId, email, permission: 'canCreateUsers' });

  it('creates a member who can log in', async () => {
    await grant('desdemona@zulip.com');
    const { user_id } = fieldsOf(await create(newcomer));
    const { body } = await server.get(`/users/${user_id}`, people.hamlet);
    expect(body.user).toMatchObject({ full_name: 'New Comer', role: 400, is_active: true, email: 'new@zulip.com' });
    const login = { username: 'NEW@zulip.com', password: newcomer.password };
    expect(fieldsOf(await server.post('/fetch_api_key', null, login)).user_id).toBe(user_id);
  });

  it('sends a welcome message', async () => {
    await grant('desdemona@zulip.com');
    await create(newcomer);
    const login = { username: newcomer.email, password: newcomer.password };
    const { api_key: apiKey } = fieldsOf(await server.post('/fetch_api_key', null, login));
    const all = { anchor: 'newest', num_before: 5, num_after: 0 };
    const page = await server.get(
      '/messages',
      { ...people.hamlet, email: newcomer.email, apiKey: String(apiKey) },
      all,
    );
    expect(page.body.messages).toEqual([
      expect.objectContaining({
        type: 'private',
        sender_full_name: 'Welcome Bot',
        content: expect.stringContaining('>New Comer</span>'),
        flags: ['starred'],
      }),
    ]);
  });

  it('requires an administrator before validating parameters', async () => {
    const refusal = { code: 'UNAUTHORIZED_PRINCIPAL' };
    for (const who of [people.shiva, people.hamlet, people.polonius]) {
      await refused({}, 'Must be an organization administrator', refusal, who);
    }
  });

  it('validates in the order of the contract', async () => {
    const missing = (name: string) => ({ code: 'REQUEST_VARIABLE_MISSING', var_name: name });
    await refused({}, "Missing 'email' argument", missing('email'));
    await refused({ email: 'x' }, "Missing 'password' argument", missing('password'));
    await refused({ email: 'x', password: 'abc' }, "Missing 'full_name' argument", missing('full_name'));
    const bad = { email: 'x', password: 'abc', full_name: 'x' };
    await refused(bad, 'User not authorized to create users');
    await refused(bad, 'User not authorized to create users', {}, people.iago);
    await grant('desdemona@zulip.com');
    await refused(bad, 'Name too short!');
    await refused({ ...bad, full_name: 'x'.repeat(101) }, 'Name too long!');
    await refused({ ...bad, full_name: 'a*b' }, 'Invalid characters in name!');
    await refused({ ...bad, full_name: 'iago|72' }, 'Invalid format!');
    await refused({ ...bad, full_name: 'Somebody' }, 'Bad name or username');
    await refused({ ...bad, full_name: 'Somebody', email: '' }, 'Bad name or username');
    await refused(
      { ...bad, full_name: 'Somebody', email: 'x@Mailinator.com' },
      'Disposable email addresses are not allowed in this organization',
    );
    const taken = { ...bad, full_name: 'Somebody', email: 'HAMLET@zulip.com' };
    await refused(taken, 'Email is already in use.');
    await refused({ ...taken, email: 'new@zulip.com' }, 'The password is too weak.');
  });
});
