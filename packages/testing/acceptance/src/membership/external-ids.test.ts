import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';

const HAMLET = 'crm/7, Ö';

const { server, people } = serverPerSuite();
beforeAll(async () => {
  const { parley } = server;
  fieldsOf(await server.patch('/realm', people.desdemona, { enable_spectator_access: true }));
  await server.createChannel('museum', [people.hamlet, people.cordelia], { is_web_public: true });
  await parley.users.link({ realm: 'zulip', externalId: HAMLET, userId: people.hamlet.id });
  await server.addRealm('other');
  await parley.users.upsert({ realm: 'other', externalId: 'elsewhere', name: 'Elsewhere' });
});

const keysNaming = (value: unknown): readonly string[] =>
  JSON.stringify(value).match(/"\w*external_id\w*":"[^"]*"/g) ?? [];
const OWN = `"external_id":"${HAMLET}"`;
const SENDER = `"sender_external_id":"${HAMLET}"`;
const external_ids = { client_capabilities: { notification_settings_null: true, external_ids: true } };
const events = { event_types: ['message', 'realm_user'], fetch_event_types: [] };

describe('external id in responses (users §1.1, messages §2)', () => {
  it('appears only in users and senders that have one', async () => {
    const { hamlet, cordelia, iago } = people;
    const sent = [await server.sendMessage(hamlet, 'museum'), await server.sendMessage(cordelia, 'museum')];
    const range = { narrow: [['channel', 'museum']], anchor: 'newest', num_before: 2, num_after: 0 };
    const responses = async (as: typeof iago) => [
      keysNaming(fieldsOf(await server.get('/users', as))),
      keysNaming(fieldsOf(await server.get(`/users/${hamlet.id}`, as))),
      keysNaming(fieldsOf(await server.get('/users/me', as))),
      keysNaming(fieldsOf(await server.get('/messages', as, range))),
      keysNaming(fieldsOf(await server.get(`/messages/${sent[0]}`, as))),
      keysNaming(fieldsOf(await server.get(`/messages/${sent[1]}`, as))),
      keysNaming(fieldsOf(await server.post('/register', as, { fetch_event_types: ['realm_user'] }))),
    ];
    expect(await responses(iago)).toEqual([[OWN], [OWN], [], [SENDER], [SENDER], [], [OWN]]);
    expect((await responses(hamlet))[2]).toEqual([OWN]);
  });

  it('is hidden from spectators', async () => {
    const id = await server.sendMessage(people.hamlet, 'museum');
    const narrow = [['channels', 'web-public']];
    const page = await server.get('//json/messages', null, { narrow, anchor: 'newest', num_before: 5, num_after: 0 });
    expect(keysNaming(fieldsOf(page))).toEqual([]);
    expect(keysNaming(fieldsOf(await server.get(`//json/messages/${id}`, null)))).toEqual([]);
    const registered = await server.request('POST', '//json/register', {
      params: { fetch_event_types: ['realm_user'] },
    });
    expect(keysNaming(registered.body)).toEqual([]);
  });

  it('is hidden from guests who cannot access the sender', async () => {
    const { hamlet, cordelia, polonius } = people;
    await server.limitGuests();
    await server.createChannel('with guests', [polonius, cordelia]);
    const id = await server.sendMessage(hamlet, 'museum');
    const { message } = fieldsOf(await server.get(`/messages/${id}`, cordelia)) as Wire;
    expect(message.sender_external_id).toBe(HAMLET);
    expect(keysNaming(fieldsOf(await server.get('/users', polonius)))).toEqual([]);
    expectRefusal(
      await server.get(`/users/${encodeURIComponent(`external:${HAMLET}`)}`, polonius),
      'Insufficient permission',
    );
  });
});

describe('external id in events (events §2)', () => {
  it('is sent only to clients with the capability', async () => {
    const { hamlet, cordelia } = people;
    const queues = [
      await openQueue(server, cordelia, { ...events, ...external_ids }),
      await openQueue(server, cordelia, events),
    ];
    await server.sendMessage(hamlet, 'museum');
    await server.sendMessage(cordelia, 'museum');
    const helena = { realm: 'zulip', externalId: 'u8', name: 'Helena' };
    await server.parley.users.upsert(helena);
    await server.parley.users.link({ realm: 'zulip', externalId: 'c-1', userId: cordelia.id });
    await server.parley.users.link({ realm: 'zulip', externalId: 'c-1', userId: cordelia.id });
    const received = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(received.map(keysNaming)).toEqual([[SENDER, '"external_id":"u8"', '"external_id":"c-1"'], []]);
    expect(received[0]!.at(-1)).toEqual({
      type: 'realm_user',
      op: 'update',
      person: { user_id: cordelia.id, external_id: 'c-1' },
    });
    expect(received[0]!.length - received[1]!.length).toBe(1);
  });
});

describe('external id in requests (users §2)', () => {
  const named = `external:${HAMLET}`;

  it('identifies recipients of direct messages, as email addresses do', async () => {
    const { hamlet, iago } = people;
    const to = JSON.stringify([named, 'iago@zulip.com']);
    const { id } = fieldsOf(await server.post('/messages', people.desdemona, { type: 'direct', to, content: 'x' }));
    const { message } = fieldsOf(await server.get(`/messages/${id}`, hamlet)) as Wire;
    expect(message.display_recipient.map((person: Wire) => person.id).sort()).toEqual(
      [people.desdemona.id, hamlet.id, iago.id].sort(),
    );
    expectRefusal(
      await server.post('/messages', iago, { type: 'direct', to: ['external:elsewhere'], content: 'x' }),
      "Invalid email 'external:elsewhere'",
    );
  });

  it('identifies principals and operands of narrows', async () => {
    const { desdemona, hamlet, cordelia } = people;
    const subscriptions = [{ name: 'crm' }];
    fieldsOf(await server.post('/users/me/subscriptions', desdemona, { subscriptions, principals: [named] }));
    expect(fieldsOf(await server.get('/users/me/subscriptions', hamlet)).subscriptions).toContainEqual(
      expect.objectContaining({ name: 'crm' }),
    );
    // Operands and unquoted lists of users are split at commas.
    const narrow = [
      ['channel', 'museum'],
      ['sender', 'external:c-1'],
    ];
    const messages = await server.messagesFor(desdemona, { narrow, num_before: 5 });
    expect(new Set(messages.map(({ sender_id }: Wire) => sender_id))).toEqual(new Set([cordelia.id]));
  });

  it('identifies users in paths', async () => {
    const { desdemona, hamlet } = people;
    const path = (id: string) => `/users/${encodeURIComponent(id)}`;
    expect((fieldsOf(await server.get(path(named), desdemona)) as Wire).user.user_id).toBe(hamlet.id);
    fieldsOf(await server.patch(path(named), desdemona, { full_name: 'Prince Hamlet' }));
    expect((fieldsOf(await server.get(path(named), desdemona)) as Wire).user.full_name).toBe('Prince Hamlet');
    for (const id of ['external:', 'external:nobody', 'external:elsewhere', `external:${HAMLET.toUpperCase()}`]) {
      expectRefusal(await server.get(path(id), desdemona), 'No such user');
    }
  });
});
