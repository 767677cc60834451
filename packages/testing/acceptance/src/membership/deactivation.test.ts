import { DeactivateBots, DeleteContributions, MAX_BOTS_AT_ONCE } from '@parley/domain/membership';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();

const deactivate = (as: TestUser, { id }: { id: number }) => server.delete(`/users/${id}`, as);
const reactivate = (as: TestUser, { id }: { id: number }) => server.post(`/users/${id}/reactivate`, as);
const shown = async ({ id }: { id: number }): Promise<Wire> =>
  (fieldsOf(await server.get(`/users/${id}`, people.desdemona)) as Wire).user;
const makeBot = async (owner: TestUser, name: string): Promise<{ id: number }> => {
  const params = { full_name: name, short_name: name.toLowerCase() };
  return { id: fieldsOf(await server.post('/bots', owner, params)).user_id };
};
const UNAUTHORIZED = { code: 'UNAUTHORIZED_PRINCIPAL' };
const INSUFFICIENT = 'Insufficient permission';

describe('DELETE /users/{id} (users §4.1)', () => {
  it('ends keys and queues immediately and keeps messages', async () => {
    const { iago, hamlet, cordelia } = people;
    await server.createChannel('town', [hamlet, cordelia]);
    await server.sendMessage(hamlet, 'town', { topic: 'x', content: 'to be' });
    const queue = await openQueue(server, hamlet);
    const poll = server.get('/events', hamlet, { queue_id: queue.id, last_event_id: queue.registered.last_event_id });
    expect(fieldsOf(await deactivate(iago, hamlet))).toEqual({});
    const code = { status: 401, code: 'UNAUTHORIZED' };
    expectRefusal(await server.get('/users/me', hamlet), 'Account is deactivated', code);
    await poll;
    expect(
      (await server.post('/fetch_api_key', null, { username: hamlet.email, password: hamlet.password })).body.code,
    ).toBe('USER_DEACTIVATED');
    expect(await shown(hamlet)).toMatchObject({ is_active: false, role: 400, full_name: 'King Hamlet' });
    fieldsOf(await reactivate(iago, hamlet));
    const again = await server.get('/events', hamlet, { queue_id: queue.id, last_event_id: -1, dont_block: true });
    expect(again.body.code).toBe('BAD_EVENT_QUEUE_ID');
    const messages = await server.messagesFor(cordelia, { num_before: 5 });
    expect(messages.at(-1).content).toContain('to be');
  });

  it("notifies everyone and the subscribers of the user's channels, including archived ones", async () => {
    const { iago, hamlet, cordelia } = people;
    const [town, den] = [
      await server.createChannel('town', [hamlet, cordelia]),
      await server.createChannel('den', [hamlet], { invite_only: true }),
    ];
    fieldsOf(await server.delete(`/streams/${town}`, iago));
    const events = { event_types: ['realm_user', 'subscription', 'user_group'] };
    const [owner, member] = [await openQueue(server, iago, events), await openQueue(server, cordelia, events)];
    fieldsOf(await deactivate(iago, hamlet));
    const gone = { type: 'realm_user', op: 'update', person: { user_id: hamlet.id, is_active: false } };
    const left = (id: number) => ({ type: 'subscription', op: 'peer_remove', stream_ids: [id], user_ids: [hamlet.id] });
    expect(await eventsAfter(server, owner)).toEqual([left(town), left(den), gone]);
    expect(await eventsAfter(server, member)).toEqual([left(town), gone]);
  });

  it('validates in the order of the contract', async () => {
    const { desdemona, iago, shiva, hamlet, polonius } = people;
    const bot = await makeBot(hamlet, 'Helper');
    const gone = await server.addUser({ email: 'gone@zulip.com', fullName: 'Gone' });
    fieldsOf(await deactivate(iago, gone));
    const realmId = await server.addRealm('other');
    const theirs = await server.addUser({ email: 'theirs@other.com', fullName: 'Theirs', realmId });
    const rows: [TestUser, { id: number }, string, object?][] = [
      [iago, { id: 99_999 }, 'No such user'],
      [iago, theirs, 'No such user'],
      [hamlet, { id: 99_999 }, 'No such user'],
      [iago, bot, 'No such user'],
      [hamlet, gone, 'User is deactivated'],
      [shiva, hamlet, INSUFFICIENT],
      [hamlet, hamlet, INSUFFICIENT],
      [polonius, desdemona, INSUFFICIENT],
      [iago, desdemona, 'Must be an organization owner', UNAUTHORIZED],
      [desdemona, desdemona, 'Cannot deactivate the only organization owner'],
    ];
    for (const [as, who, text, more] of rows) expectRefusal(await deactivate(as, who), text, { ...more });
    const other = await server.addUser({ email: 'lear@zulip.com', fullName: 'Lear', role: 'owner' });
    fieldsOf(await deactivate(desdemona, other));
    expectRefusal(await deactivate(desdemona, desdemona), 'Cannot deactivate the only organization owner');
  });

  it("revokes the user's invitations", async () => {
    const { desdemona, iago } = people;
    const params = { invite_as: 400, stream_ids: [] };
    for (const who of [desdemona, iago]) fieldsOf(await server.post('/invites/multiuse', who, params));
    const inviters = async () =>
      (fieldsOf(await server.get('/invites', desdemona)) as Wire).invites.map(
        ({ invited_by_user_id }: Wire) => invited_by_user_id,
      );
    expect(await inviters()).toEqual([desdemona.id, iago.id]);
    const queue = await openQueue(server, desdemona, { event_types: ['invites_changed'] });
    fieldsOf(await deactivate(desdemona, iago));
    expect(await inviters()).toEqual([desdemona.id]);
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'invites_changed' }]);
  });

  it("emails the administrator's comment to the user", async () => {
    const { iago, hamlet } = people;
    const say = (deactivation_notification_comment: string) =>
      server.delete(`/users/${hamlet.id}`, iago, { deactivation_notification_comment });
    expectRefusal(
      await say('x'.repeat(2001)),
      'deactivation_notification_comment is too long (limit: 2000 characters)',
    );
    expect(fieldsOf(await say('Thank you'))).toEqual({});
  });

  it('deletes the requested data: names, and messages by conversation type', async () => {
    const { iago, hamlet, cordelia } = people;
    await server.createChannel('town', [hamlet, cordelia]);
    await server.createChannel('closet', [hamlet, cordelia], { invite_only: true });
    // Neither Hamlet nor the bot subscribes to it.
    await server.createChannel('garden', [cordelia]);
    const helper = await server.addBot(hamlet, 'helper');
    for (const sender of [hamlet, helper])
      await server.sendMessage(sender, 'garden', { topic: 'x', content: 'a visit' });
    const ids = {
      garden: await server.sendMessage(cordelia, 'garden', { topic: 'x', content: 'all quiet' }),
      town: [] as number[],
      closet: await server.sendMessage(hamlet, 'closet', { topic: 'x', content: 'hidden' }),
      theirs: await server.sendMessage(cordelia, 'town', { topic: 'x', content: 'not hamlet’s' }),
      direct: (
        fieldsOf(await server.post('/messages', hamlet, { type: 'direct', to: [cordelia.id], content: 'you' })) as Wire
      ).id,
    };
    for (let n = 0; n < 101; n++)
      ids.town.push(await server.sendMessage(hamlet, 'town', { topic: 'x', content: `${n}` }));
    const deleteRest = () => runJobs(server, server.parley.useCase(DeleteContributions));
    const left = async () => {
      const messages = await server.messagesFor(cordelia, { num_before: 200 });
      return messages.map(({ id }: Wire) => id).filter((id: number) => id >= ids.garden - 2);
    };
    await server.storage.uow.write(server.realmId, async (tx) => {
      const user = (await tx.users.find(server.realmId, hamlet.id))!;
      await tx.users.update({ ...user, avatar: { source: 'gravatar', version: 3 } });
    });
    const actions = {
      delete_profile: true,
      delete_public_channel_messages: true,
      delete_private_channel_messages: false,
    };
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago, { actions }));
    for (const user of [hamlet, helper]) {
      expect(await shown(user)).toMatchObject({ full_name: 'Deleted user', is_active: false });
    }
    expect((await shown(hamlet)).avatar_version).toBe(4);
    await deleteRest();
    expect(await left()).toEqual([ids.garden, ids.closet, ids.theirs, ids.direct]);
    fieldsOf(await reactivate(iago, hamlet));
    const others = { delete_private_channel_messages: true, delete_direct_messages: true };
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago, { actions: others }));
    await deleteRest();
    expect(await left()).toEqual([ids.garden, ids.theirs]);
  });

  it('deletes the profile with field values and status', async () => {
    const { iago, hamlet, cordelia } = people;
    const field = fieldsOf(await server.post('/realm/profile_fields', iago, { field_type: 1, name: 'Motto' })).id;
    fieldsOf(await server.patch('/users/me/profile_data', hamlet, { data: [{ id: field, value: 'To be' }] }));
    fieldsOf(await server.post('/users/me/status', hamlet, { status_text: 'not at home', emoji_name: 'smile' }));
    const queue = await openQueue(server, cordelia, { event_types: ['realm_user', 'user_status'] });
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago, { actions: { delete_profile: true } }));
    const { user } = fieldsOf(
      await server.get(`/users/${hamlet.id}`, cordelia, { include_custom_profile_fields: true }),
    ) as Wire;
    expect(user).toMatchObject({ full_name: 'Deleted user', is_active: false, is_deleted: true, profile_data: {} });
    const cleared = { status_text: '', emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' };
    expect(await eventsAfter(server, queue)).toMatchObject([
      { person: { user_id: hamlet.id, custom_profile_field: { id: field, value: null } } },
      { type: 'user_status', user_id: hamlet.id, ...cleared },
      { person: { user_id: hamlet.id, full_name: 'Deleted user' } },
      { person: { user_id: hamlet.id, is_active: false } },
    ]);
    const { user_status } = fieldsOf(await server.post('/register', cordelia, { fetch_event_types: ['user_status'] }));
    expect(user_status).toEqual({});
  });

  it('shows a user with a deleted profile as deleted until reactivation (users §1.1)', async () => {
    const { iago, hamlet, cordelia, polonius } = people;
    const helper = await server.addBot(hamlet, 'helper');
    const marked = async (params = {}) => {
      const { members } = fieldsOf(await server.get('/users', cordelia, params)) as Wire;
      return members.filter((user: Wire) => 'is_deleted' in user).map((user: Wire) => [user.user_id, user.is_deleted]);
    };
    const registered = async () => {
      const { realm_users, realm_non_active_users } = fieldsOf(
        await server.post('/register', cordelia, { fetch_event_types: ['realm_user'] }),
      ) as Wire;
      expect(realm_users.filter((user: Wire) => 'is_deleted' in user)).toEqual([]);
      return realm_non_active_users.map((user: Wire) => [user.user_id, user.is_deleted]);
    };
    fieldsOf(await server.delete(`/users/${polonius.id}`, iago));
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago, { actions: { delete_profile: true } }));
    const deleted = [
      [hamlet.id, true],
      [helper.id, true],
    ];
    expect(await marked()).toEqual(deleted);
    expect(await registered()).toEqual(expect.arrayContaining([[polonius.id, undefined], ...deleted]));
    expect(await shown(hamlet)).toMatchObject({ is_active: false, is_deleted: true });
    expect(await shown(polonius)).not.toHaveProperty('is_deleted');
    fieldsOf(await reactivate(iago, hamlet));
    expect(await shown(hamlet)).not.toHaveProperty('is_deleted');
    expect(await marked()).toEqual([[helper.id, true]]);
  });

  it('rejects unknown actions', async () => {
    const ask = (actions: unknown) => server.delete(`/users/${people.hamlet.id}`, people.iago, { actions });
    expectRefusal(
      await ask({ delete_everything: true }),
      'Argument "delete_everything" at actions["delete_everything"] is unexpected',
    );
    expectRefusal(await ask({ delete_profile: 1 }), 'actions["delete_profile"] is not a boolean');
    expectRefusal(await ask([]), 'actions is not a dict');
    expect(await shown(people.hamlet)).toMatchObject({ is_active: true });
  });

  it('deactivates many bots in several units of work, continued by jobs', async () => {
    const { iago, hamlet } = people;
    const bots: { id: number }[] = [];
    for (let n = 0; n < 2 * MAX_BOTS_AT_ONCE + 1; n++) bots.push(await makeBot(hamlet, `Helper${n}`));
    const countActive = async () => (await Promise.all(bots.map(shown))).filter(({ is_active }) => is_active).length;
    fieldsOf(await deactivate(iago, hamlet));
    expect([(await shown(hamlet)).is_active, await countActive()]).toEqual([false, MAX_BOTS_AT_ONCE + 1]);
    // A bot with a new owner remains active.
    fieldsOf(await server.patch(`/bots/${bots.at(-1)!.id}`, iago, { bot_owner_id: iago.id }));
    await runJobs(server, server.parley.useCase(DeactivateBots));
    expect(await countActive()).toBe(1);
  });

  it("deactivates the user's bots before the user", async () => {
    const { iago, hamlet } = people;
    const [one, two] = [await makeBot(hamlet, 'One'), await makeBot(hamlet, 'Two')];
    const queue = await openQueue(server, iago, { event_types: ['realm_user'] });
    fieldsOf(await deactivate(iago, hamlet));
    const told = (await eventsAfter(server, queue)).map(({ person }) => person);
    expect(told).toEqual([one, two, hamlet].map(({ id }) => ({ user_id: id, is_active: false })));
  });

  it('suspends group memberships and subscriptions until reactivation', async () => {
    const { iago, hamlet, cordelia } = people;
    const town = await server.createChannel('town', [hamlet, cordelia]);
    const params = { name: 'cast', description: '', members: [hamlet.id, cordelia.id] };
    const group = fieldsOf(await server.post('/user_groups/create', iago, params)).group_id;
    const counts = async () => [
      (fieldsOf(await server.get(`/user_groups/${group}/members`, iago)) as Wire).members,
      (fieldsOf(await server.get(`/streams/${town}/members`, iago)) as Wire).subscribers,
    ];
    fieldsOf(await deactivate(iago, hamlet));
    expect(await counts()).toEqual([[cordelia.id], [cordelia.id]]);
    const say = async (content: string) => server.sendMessage(cordelia, town, { topic: 'x', content });
    const missed = await say('missed');
    fieldsOf(await reactivate(iago, hamlet));
    expect(await counts()).toEqual([
      [hamlet.id, cordelia.id],
      [hamlet.id, cordelia.id],
    ]);
    const heard = await say('heard');
    const { unread_msgs } = fieldsOf(
      await server.post('/register', hamlet, { fetch_event_types: ['message', 'update_message_flags'] }),
    ) as Wire;
    const unread = unread_msgs.streams.flatMap(({ unread_message_ids }: Wire) => unread_message_ids);
    expect(unread).toContain(heard);
    expect(unread).not.toContain(missed);
  });

  it('publishes a removal to guests who knew the user only through a channel', async () => {
    const { iago, hamlet, polonius, cordelia } = people;
    await server.limitGuests();
    await server.createChannel('town', [hamlet, cordelia, polonius]);
    await server.sendMessage(cordelia, [polonius], { content: 'psst' });
    const queue = await openQueue(server, polonius, {
      event_types: ['realm_user'],
      client_capabilities: { notification_settings_null: true, user_list_incomplete: true },
    });
    for (const who of [hamlet, cordelia]) fieldsOf(await deactivate(iago, who));
    const told = (events: Wire[]) => events.map(({ op, person }) => [op, person.user_id, person.is_active]);
    const left = [
      ['remove', hamlet.id, undefined],
      ['update', cordelia.id, false],
    ];
    expect(told(await eventsAfter(server, queue))).toEqual(left);
    for (const who of [hamlet, cordelia]) fieldsOf(await reactivate(iago, who));
    expect(told((await eventsAfter(server, queue)).slice(-3))).toEqual([
      ['add', hamlet.id, true],
      ['update', hamlet.id, true],
      ['update', cordelia.id, true],
    ]);
  });
});

describe('DELETE /users/me (users §4.2)', () => {
  const LAST = 'CANNOT_DEACTIVATE_LAST_USER';

  it('deactivates the caller with their bots', async () => {
    const bot = await makeBot(people.hamlet, 'Helper');
    expect(fieldsOf(await server.delete('/users/me', people.hamlet))).toEqual({});
    expect((await server.get('/users/me', people.hamlet)).status).toBe(401);
    expect([(await shown(people.hamlet)).is_active, (await shown(bot)).is_active]).toEqual([false, false]);
  });

  it('rejects the only user first, then the only owner', async () => {
    const { desdemona, ...others } = people;
    expectRefusal(await server.delete('/users/me', desdemona), 'Cannot deactivate the only organization owner.', {
      code: LAST,
      is_last_owner: true,
      entity: 'organization owner',
    });
    for (const who of Object.values(others)) fieldsOf(await server.delete('/users/me', who));
    expectRefusal(await server.delete('/users/me', desdemona), 'Cannot deactivate the only user.', {
      code: LAST,
      is_last_owner: false,
      entity: 'user',
    });
    fieldsOf(await server.get('/users/me', desdemona));
  });
});

describe('POST /users/{id}/reactivate (users §4.3)', () => {
  it('restores key, channels and groups, with the role groups of the current role', async () => {
    const { iago, hamlet, cordelia } = people;
    const town = await server.createChannel('town', [hamlet]);
    fieldsOf(await deactivate(iago, hamlet));
    fieldsOf(await server.patch(`/users/${hamlet.id}`, iago, { role: 300 }));
    const queue = await openQueue(server, cordelia, { event_types: ['realm_user', 'user_group', 'subscription'] });
    expect(fieldsOf(await reactivate(iago, hamlet))).toEqual({});
    fieldsOf(await reactivate(iago, hamlet));
    fieldsOf(await server.get('/users/me', hamlet));
    const { moderators, members } = await server.systemGroups();
    const events = await eventsAfter(server, queue);
    expect(events[0]).toMatchObject({ type: 'realm_user', person: { user_id: hamlet.id, is_active: true } });
    expect(events).toContainEqual({
      type: 'subscription',
      op: 'peer_add',
      stream_ids: [town],
      user_ids: [hamlet.id],
    });
    const joined = events.filter(({ op }) => op === 'add_members').map(({ group_id }) => group_id);
    expect(new Set(joined)).toEqual(new Set([moderators]));
    const isMember = async (id: number) =>
      fieldsOf(await server.get(`/user_groups/${id}/members/${hamlet.id}`, iago, { direct_member_only: true }));
    expect([await isMember(moderators), await isMember(members)]).toEqual([
      { is_user_group_member: true },
      { is_user_group_member: false },
    ]);
  });

  it('rejects reactivations in the order of the contract', async () => {
    const { iago, hamlet, cordelia } = people;
    const bot = await makeBot(hamlet, 'Helper');
    fieldsOf(await deactivate(iago, cordelia));
    fieldsOf(await server.delete(`/bots/${bot.id}`, hamlet));
    expectRefusal(await reactivate(iago, { id: 99_999 }), 'No such user');
    expectRefusal(await reactivate(hamlet, cordelia), INSUFFICIENT);
    expectRefusal(await reactivate(people.polonius, bot), INSUFFICIENT);
    const other = await server.storage.uow.write(server.realmId, async (tx) => {
      const { id, version, ...user } = (await tx.users.find(server.realmId, bot.id as never))!;
      return tx.users.add({ ...user, email: 'other-bot@zulip.com', isActive: true }, null);
    });
    expectRefusal(
      await reactivate(hamlet, bot),
      'There is already an active bot named "Helper" in this organization. To reactivate this bot, you must rename or deactivate the other one first.',
    );
    await server.storage.uow.write(other.realmId, (tx) => tx.users.update({ ...other, fullName: 'Other' }));
    fieldsOf(await reactivate(hamlet, bot));
    expect(await shown(bot)).toMatchObject({ is_active: true, bot_owner_id: hamlet.id });
  });

  it('assigns a bot without an owner to the caller', async () => {
    const { iago, hamlet } = people;
    const bot = await makeBot(hamlet, 'Helper');
    fieldsOf(await deactivate(iago, hamlet));
    const queue = await openQueue(server, iago, { event_types: ['realm_user'] });
    fieldsOf(await reactivate(iago, bot));
    expect(await shown(bot)).toMatchObject({ is_active: true, bot_owner_id: iago.id });
    expect(await eventsAfter(server, queue)).toMatchObject([
      { person: { user_id: bot.id, bot_owner_id: iago.id } },
      { person: { user_id: bot.id, is_active: true } },
    ]);
  });
});
