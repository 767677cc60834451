import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();
beforeEach(async () => {
  await server.createChannel('town', [people.hamlet, people.iago, people.polonius]);
});

const mute = (id: number, as: TestUser = people.hamlet) => server.post(`/users/me/muted_users/${id}`, as);
const unmute = (id: number, as: TestUser = people.hamlet) => server.delete(`/users/me/muted_users/${id}`, as);
const muted = async (as = people.hamlet) =>
  (await openQueue(server, as, { fetch_event_types: ['muted_users'] })).registered.muted_users;
const say = (as: TestUser, to: string | readonly TestUser[]) => server.sendMessage(as, to, { topic: 'x' });
const flagsOf = (id: number, as = people.hamlet) => server.flagsOf(id, as);

it('POST /users/me/muted_users mutes users and lists them in order to the caller only', async () => {
  const { hamlet, cordelia, iago } = people;
  const queue = await openQueue(server, hamlet);
  const other = await openQueue(server, cordelia);
  expect(fieldsOf(await mute(iago.id))).toEqual({});
  server.clock.advance(5);
  fieldsOf(await mute(cordelia.id));
  const both = [
    { id: iago.id, timestamp: server.clock.now() - 5 },
    { id: cordelia.id, timestamp: server.clock.now() },
  ];
  expect(await muted()).toEqual(both);
  expect(fieldsOf(await unmute(iago.id))).toEqual({});
  expect(await muted()).toEqual(both.slice(1));
  expect(await eventsAfter(server, queue)).toEqual(
    [both.slice(0, 1), both, both.slice(1)].map((muted_users) => ({ type: 'muted_users', muted_users })),
  );
  expect([await muted(cordelia), await eventsAfter(server, other)]).toEqual([[], []]);
});

it('muting marks past and new messages of the muted user as read until unmuted', async () => {
  const { hamlet, iago, polonius } = people;
  const before = [await say(iago, 'town'), await say(iago, [hamlet])];
  const others = await say(polonius, 'town');
  const queue = await openQueue(server, hamlet);
  const receivedFlags = async () =>
    (await eventsAfter(server, queue)).filter(({ type }) => type === 'message').map(({ flags }) => flags);
  fieldsOf(await mute(iago.id));
  expect(await eventsAfter(server, queue)).toEqual([
    { type: 'update_message_flags', op: 'add', operation: 'add', flag: 'read', all: false, messages: before },
    { type: 'muted_users', muted_users: [{ id: iago.id, timestamp: server.clock.now() }] },
  ]);
  expect(await flagsOf(others)).toEqual([]);
  const meanwhile = await say(iago, 'town');
  expect(await flagsOf(meanwhile)).toEqual(['read']);
  await say(iago, [hamlet]);
  await server.sendMessage(iago, 'town', { topic: 'x', content: '@**King Hamlet**' });
  await say(polonius, 'town');
  expect(await receivedFlags()).toEqual([['read'], ['read'], ['read', 'mentioned'], []]);
  expect(await flagsOf(meanwhile, polonius)).toEqual([]);
  fieldsOf(await unmute(iago.id));
  expect(await flagsOf(await say(iago, 'town'))).toEqual([]);
  expect((await receivedFlags()).at(-1)).toEqual([]);
  expect(await flagsOf(meanwhile)).toEqual(['read']);
});

it('muting accepts deactivated users, bots and system bots', async () => {
  const { cordelia } = people;
  const bot = await server.storage.uow.read(server.realmId, ({ users }) =>
    users.findSystemBot(server.realmId, 'notification'),
  );
  await server.storage.uow.write(server.realmId, async (tx) => {
    await tx.users.update({ ...(await tx.users.find(server.realmId, cordelia.id))!, isActive: false });
  });
  fieldsOf(await mute(cordelia.id));
  fieldsOf(await mute(bot.id));
  expect(await muted()).toHaveLength(2);
});

it('muting rejects oneself, unknown users, muting twice and unmuting a user who is not muted', async () => {
  const { hamlet, iago } = people;
  expectRefusal(await mute(hamlet.id), 'Cannot mute self');
  expectRefusal(await mute(99_999), 'No such user');
  expectRefusal(await unmute(99_999), 'No such user');
  expectRefusal(await unmute(iago.id), 'User is not muted');
  fieldsOf(await mute(iago.id));
  expectRefusal(await mute(iago.id), 'User already muted');
  fieldsOf(await unmute(iago.id));
  expectRefusal(await unmute(iago.id), 'User is not muted');
  expect(await muted()).toEqual([]);
});

it('muting rejects inaccessible users and users of another organization', async () => {
  const { polonius, cordelia, iago } = people;
  await server.limitGuests();
  expectRefusal(await mute(cordelia.id, polonius), 'Insufficient permission');
  expectRefusal(await unmute(cordelia.id, polonius), 'Insufficient permission');
  fieldsOf(await mute(iago.id, polonius));
  const realmId = await server.addRealm('lear');
  const regan = await server.addUser({ email: 'regan@lear.com', fullName: 'Regan', realmId });
  expectRefusal(await mute(regan.id), 'No such user');
});

it('muting rejects more than the maximum number of muted users', async () => {
  const { hamlet, iago } = people;
  await server.storage.uow.write(server.realmId, async ({ personal }) => {
    const viewer = { realmId: server.realmId, userId: hamlet.id };
    for (let n = 0; n < 1000; n++) await personal.muteSender(viewer, (5000 + n) as never, 1);
  });
  expectRefusal(await mute(iago.id), 'Too many muted users (limit: 1000).');
});
