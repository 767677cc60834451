import type { SystemGroupName } from '@parley/domain/access';
import type { Channel } from '@parley/domain/channels';
import type { GroupId } from '@parley/domain/kernel';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { ChannelParams, TestServer, TestUser } from '../testing/test-server.js';

type Person = keyof TestServer['people'];

let system: Readonly<Record<SystemGroupName, GroupId>>;
const { server, people } = organizationPerTest();
beforeEach(async () => {
  system = await server.systemGroups();
});

const create = ({ name, ...params }: ChannelParams, as: TestUser = people.hamlet) =>
  server.createChannel(name, [people.hamlet], params, as);
const patch = (id: number, params: object, as: TestUser = people.hamlet) =>
  server.patch(`/streams/${id}`, as, { ...params });
const change = async (id: number, params: object, as?: TestUser) => fieldsOf(await patch(id, params, as));
const archive = (id: number, as: TestUser = people.hamlet) => server.delete(`/streams/${id}`, as);
const read = async (id: number): Promise<Wire> => {
  const params = { include_all: true, exclude_archived: false };
  const { streams } = fieldsOf(await server.get('/streams', people.desdemona, params)) as Wire;
  return streams.find(({ stream_id }: Wire) => stream_id === id);
};
const store = (id: number, changes: Partial<Channel>) => server.changeChannel(id, changes);
/** Returns the notification bot's messages in the channel, oldest first, except the creation notice. */
const notices = async (id: number, as: TestUser = people.hamlet): Promise<string[]> => {
  const narrow = [{ operator: 'channel', operand: id }];
  const page = { anchor: 'oldest', num_before: 0, num_after: 50, narrow, apply_markdown: false };
  const { messages } = fieldsOf(await server.get('/messages', as, page)) as Wire;
  return messages.map(({ content }: Wire) => content).slice(1);
};
/** Returns events of these types that a user receives during an action. */
const hears = async (as: TestUser, types: readonly string[], act: () => Promise<unknown>, more = {}) => {
  const queue = await openQueue(server, as, { event_types: types, ...more });
  await act();
  return eventsAfter(server, queue);
};
/** Clients without support for archived channels. */
const OLDER = { client_capabilities: { notification_settings_null: true } };
const refused = async (id: number, params: object, msg: string, more: object = {}, as?: TestUser) => {
  const { commits } = server.storage;
  expectRefusal(await patch(id, params, as), msg, { ...more });
  expect(server.storage.commits).toBe(commits);
};
const OWNER = { code: 'UNAUTHORIZED_PRINCIPAL' };
const CANNOT = { code: 'CANNOT_ADMINISTER_CHANNEL' };
const UNKNOWN = 'Invalid channel ID';
const by = ({ id, user }: TestUser) => `@_**${user.fullName}|${id}**`;

describe('PATCH /streams/{stream_id}', () => {
  it('changes nothing for an empty or redundant request', async () => {
    const id = await create({ name: 'lunch', description: 'at noon' });
    const before = await read(id);
    const events = await hears(people.hamlet, ['stream', 'message', 'default_streams'], async () => {
      await change(id, {});
      await change(id, {
        description: 'at noon',
        topics_policy: 'inherit',
        folder_id: null,
        is_archived: true,
        can_send_message_group: { new: system.everyone },
        can_administer_channel_group: { new: { direct_members: [people.hamlet.id], direct_subgroups: [] } },
      });
      await change(id, { message_retention_days: 'realm_default' }, people.desdemona);
    });
    expect(events).toEqual([]);
    expect(await read(id)).toEqual(before);
  });

  it('reports parameters of older versions as ignored', async () => {
    const id = await create({ name: 'lunch' });
    expect(await change(id, { stream_post_policy: 2, is_announcement_only: true, stream_id: id })).toEqual({
      ignored_parameters_unsupported: ['is_announcement_only', 'stream_id', 'stream_post_policy'],
    });
  });

  it('renames a channel and publishes the change under the old name to users who can access it', async () => {
    const id = await create({ name: 'lunch' });
    await create({ name: 'Dinner' });
    const rename = () => change(id, { new_name: '  supper ' });
    expect(await hears(people.cordelia, ['stream'], rename)).toEqual([
      { type: 'stream', op: 'update', stream_id: id, name: 'lunch', property: 'name', value: 'supper' },
    ]);
    expect((await read(id)).name).toBe('supper');
    expect(await notices(id)).toEqual([`${by(people.hamlet)} renamed channel **lunch** to **supper**.`]);
    await change(id, { new_name: 'SUPPER' });
    await refused(id, { new_name: 'SUPPER' }, 'Channel already has that name.');
    await refused(id, { new_name: ' ' }, "Channel name can't be empty.");
    await refused(id, { new_name: 'n'.repeat(61) }, 'Channel name too long (limit: 60 characters).');
    const dotted = await create({ name: 'İ'.repeat(60) });
    // The lower-case form of this letter has two code points.
    await refused(dotted, { new_name: 'i̇'.repeat(60) }, 'Channel name too long (limit: 60 characters).');
    await refused(id, { new_name: 'ab\u0007c' }, 'Invalid character in channel name, at position 3.');
    await refused(id, { new_name: 'dinner' }, "Channel 'dinner' already exists", {
      status: 409,
      code: 'CHANNEL_ALREADY_EXISTS',
      channel_name: 'dinner',
    });
  });

  it('shows messages under the new name', async () => {
    const id = await create({ name: 'lunch' });
    const names = async () => {
      const narrow = [{ operator: 'channel', operand: id }];
      const page = { anchor: 'oldest', num_before: 0, num_after: 50, narrow };
      const { messages } = fieldsOf(await server.get('/messages', people.hamlet, page)) as Wire;
      return new Set(messages.map(({ display_recipient }: Wire) => display_recipient));
    };
    expect(await names()).toEqual(new Set(['lunch']));
    await change(id, { new_name: 'supper' });
    expect(await names()).toEqual(new Set(['supper']));
  });

  it('changes the description to one line of Markdown', async () => {
    const id = await create({ name: 'lunch', description: 'at **noon**' });
    const describe = () => change(id, { description: 'from\n$$x$$ on' });
    const [event] = await hears(people.cordelia, ['stream'], describe);
    expect(event).toEqual({
      type: 'stream',
      op: 'update',
      stream_id: id,
      name: 'lunch',
      property: 'description',
      value: 'from $$x$$ on',
      rendered_description: expect.stringMatching(/^<p>from <span class="katex">/),
    });
    expect(await read(id)).toMatchObject({
      description: event.value,
      rendered_description: event.rendered_description,
    });
    await change(id, { description: '' });
    expect(await read(id)).toMatchObject({ description: '', rendered_description: '' });
    expect(await notices(id)).toEqual([
      `${by(people.hamlet)} changed the description for this channel.\n\n` +
        '* **Old description:**\n```` quote\nat **noon**\n````\n* **New description:**\n```` quote\nfrom $$x$$ on\n````',
      `${by(people.hamlet)} changed the description for this channel.\n\n` +
        '* **Old description:**\n```` quote\nfrom $$x$$ on\n````\n* **New description:**\n```` quote\n*No description.*\n````',
    ]);
    await refused(id, { description: 'x'.repeat(1025) }, 'description is too long (limit: 1024 characters)');
  });

  it('posts no notice in the channel if the organization disables notices', async () => {
    await server.changeRealm({ settings: { sendChannelEventsMessages: false } });
    const id = await create({ name: 'lunch' });
    await change(id, { new_name: 'supper', is_private: true });
    fieldsOf(await archive(id));
    expect(await notices(id)).toEqual([]);
  });

  it('changes the retention period', async () => {
    const id = await create({ name: 'lunch' });
    const steps = [10, 'unlimited', '"realm_default"'] as const;
    for (const step of steps) await change(id, { message_retention_days: step }, people.desdemona);
    expect((await read(id)).message_retention_days).toBeNull();
    const [first, second, ...none] = await notices(id);
    expect(first).toBe(
      `${by(people.desdemona)} has changed the [message retention period](/help/message-retention-policy) for this channel:\n` +
        '* **Old retention period**: Forever\n* **New retention period**: 10 days\n\n' +
        'Messages in this channel will now be automatically deleted 10 days after they are sent.',
    );
    expect(second).toContain('* **Old retention period**: 10 days\n* **New retention period**: Forever');
    expect(second).toMatch(/\n\nMessages in this channel will now be retained forever\.$/);
    expect(none).toHaveLength(1);
    await refused(id, { message_retention_days: 'x' }, 'Must be an organization owner', OWNER, people.iago);
    await refused(
      id,
      { message_retention_days: 0 },
      "Bad value for 'message_retention_days': 0",
      { code: 'REQUEST_VARIABLE_INVALID', var_name: 'message_retention_days', bad_value: 0 },
      people.desdemona,
    );
  });

  describe('privacy', () => {
    const PRIVACIES = {
      web: [false, true, true],
      public: [false, false, true],
      shared: [true, false, true],
      protected: [true, false, false],
    } as const;
    const initially = {
      web: { is_web_public: true },
      public: {},
      shared: { invite_only: true, history_public_to_subscribers: true },
      protected: { invite_only: true },
    } as const;

    it.each`
      from           | params                                                       | to
      ${'public'}    | ${{ is_private: true }}                                      | ${'protected'}
      ${'public'}    | ${{ is_private: true, history_public_to_subscribers: true }} | ${'shared'}
      ${'public'}    | ${{ is_web_public: true }}                                   | ${'web'}
      ${'web'}       | ${{ is_web_public: false }}                                  | ${'public'}
      ${'shared'}    | ${{ is_private: false }}                                     | ${'public'}
      ${'shared'}    | ${{ history_public_to_subscribers: false }}                  | ${'protected'}
      ${'protected'} | ${{ history_public_to_subscribers: true }}                   | ${'shared'}
      ${'protected'} | ${{ is_private: false }}                                     | ${'public'}
      ${'protected'} | ${{ is_private: true }}                                      | ${'protected'}
    `('changes a channel from $from with $params to $to', async ({ from, params, to }) => {
      await server.changeRealm({ settings: { enableSpectatorAccess: true } });
      const { desdemona, hamlet } = people;
      const subscribers = [desdemona.id, hamlet.id];
      const id = await create({ name: 'x', subscribers, ...initially[from as keyof typeof initially] }, desdemona);
      const events = await hears(hamlet, ['stream'], () => change(id, params, desdemona));
      const [isPrivate, isWebPublic, isShared] = PRIVACIES[to as keyof typeof PRIVACIES];
      expect(events).toEqual([
        {
          type: 'stream',
          op: 'update',
          stream_id: id,
          name: 'x',
          property: 'invite_only',
          value: isPrivate,
          is_web_public: isWebPublic,
          history_public_to_subscribers: isShared,
        },
      ]);
      expect(await read(id)).toMatchObject({
        invite_only: isPrivate,
        is_web_public: isWebPublic,
        history_public_to_subscribers: isShared,
      });
      const [notice] = await notices(id);
      expect(notice).toMatch(/ changed the \[access permissions\].* from \*\*.*\*\* to \*\*.*\*\*\.$/);
    });

    it('rejects contradictory values and callers without permission', async () => {
      const id = await create({ name: 'open' });
      const closed = await create({ name: 'closed', invite_only: true });
      await refused(id, { is_web_public: true, history_public_to_subscribers: false }, 'Invalid parameters');
      await refused(id, { is_web_public: true, is_private: true }, 'Invalid parameters');
      await refused(id, { history_public_to_subscribers: false }, 'Invalid parameters');
      await refused(id, { is_private: true, is_default_stream: true }, 'A default channel cannot be private.');
      await refused(closed, { is_default_stream: true }, 'A default channel cannot be private.', {}, people.iago);
      await refused(closed, { is_private: false }, 'Channel content access is required.', {}, people.iago);
      await refused(id, { is_web_public: true }, 'Web-public channels are not enabled.');
      await server.changeRealm({ settings: { enableSpectatorAccess: true } });
      await refused(id, { is_web_public: true }, 'Insufficient permission');
      await server.changeRealm({
        permissions: { canCreatePublicChannel: system.nobody, canCreatePrivateChannel: system.nobody },
      });
      await refused(id, { is_private: true }, 'Insufficient permission');
      await refused(closed, { is_private: false }, 'Insufficient permission');
      await server.changeRealm({ settings: { moderationRequestChannelId: closed } });
      await refused(closed, { is_private: false }, 'Moderation request channel must be private.');
    });

    it('publishes the channel with its subscribers to users who gain access, and its removal to users who lose access', async () => {
      const { cordelia, hamlet, polonius } = people;
      const id = await create({ name: 'x' });
      const types = ['stream', 'subscription'];
      const lost = await hears(cordelia, types, () => change(id, { is_private: true }));
      expect(lost).toEqual([{ type: 'stream', op: 'delete', streams: [{ stream_id: id }], stream_ids: [id] }]);
      const unheard = await hears(polonius, types, () => change(id, { history_public_to_subscribers: true }));
      expect(unheard).toEqual([]);
      const gained = await hears(cordelia, types, () => change(id, { is_private: false }));
      expect(gained).toMatchObject([
        { type: 'stream', op: 'create', streams: [{ stream_id: id, invite_only: false }] },
        { type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [hamlet.id] },
      ]);
    });
  });

  it('adds to and removes from the default channels', async () => {
    const id = await create({ name: 'x' });
    const register = async () =>
      (fieldsOf(await server.post('/register', people.hamlet)) as Wire).realm_default_streams;
    const heard = await hears(people.hamlet, ['default_streams'], async () => {
      await change(id, { is_default_stream: true }, people.iago);
      await change(id, { is_default_stream: true }, people.iago);
    });
    expect(heard).toEqual([{ type: 'default_streams', default_streams: [id] }]);
    expect(await register()).toEqual([id]);
    await change(id, { is_default_stream: false }, people.iago);
    expect(await register()).toEqual([]);
    await refused(id, { is_default_stream: true }, 'You do not have permission to change default channels.', {
      code: 'CANNOT_MANAGE_DEFAULT_CHANNEL',
    });
  });

  it('changes the topics policy', async () => {
    const id = await create({ name: 'x' });
    const events = await hears(people.hamlet, ['stream'], () => change(id, { topics_policy: '"disable_empty_topic"' }));
    expect(events).toMatchObject([{ property: 'topics_policy', value: 'disable_empty_topic', name: 'x' }]);
    expect(await notices(id)).toEqual([
      `${by(people.hamlet)} changed the "Allow posting to the *general chat* topic?" setting from **Automatic** ` +
        'to **No *general chat* topic**.',
    ]);
    const named =
      'To enable this configuration, all messages in this channel must be in the general chat topic. ' +
      'Consider renaming or deleting other topics.';
    await refused(id, { topics_policy: 'empty_topic_only' }, named, { empty_topic_display_name: 'general chat' });
    await refused(id, { topics_policy: 'sometimes' }, 'Invalid topics_policy');
    await server.changeRealm({ permissions: { canSetTopicsPolicy: system.nobody } });
    await refused(id, { topics_policy: 'allow_empty_topic' }, 'Insufficient permission');
    await change(id, { topics_policy: 'inherit' });
    await server.changeRealm({ settings: { sendChannelEventsMessages: false } });
    const empty = await create({ name: 'empty' });
    await change(empty, { topics_policy: 'empty_topic_only' }, people.iago);
    await server.changeRealm({ settings: { sendChannelEventsMessages: true } });
    await change(empty, { new_name: 'still empty' });
    const { topics } = fieldsOf(await server.get(`/users/me/${empty}/topics`, people.hamlet)) as Wire;
    expect(topics).toMatchObject([{ name: 'general chat' }]);
  });

  it('rejects an unknown folder', async () => {
    await refused(await create({ name: 'x' }), { folder_id: 99_999 }, 'Invalid channel folder ID');
  });

  describe('permission change', () => {
    it('accepts both forms and the expected old value', async () => {
      const { cordelia, hamlet } = people;
      const id = await create({ name: 'x' });
      const pair = { direct_members: [cordelia.id, hamlet.id], direct_subgroups: [system.moderators] };
      const events = await hears(hamlet, ['stream'], async () => {
        await change(id, { can_remove_subscribers_group: { new: pair, old: system.administrators } });
        await change(id, {
          can_remove_subscribers_group: {
            new: { direct_members: [], direct_subgroups: [system.members] },
            old: { direct_members: [hamlet.id, cordelia.id], direct_subgroups: [system.moderators] },
          },
        });
        await change(id, { can_subscribe_group: { new: { direct_members: [], direct_subgroups: [] } } });
      });
      const sorted = { direct_members: [hamlet.id, cordelia.id], direct_subgroups: [system.moderators] };
      expect(events.map(({ property, value }: Wire) => [property, value])).toEqual([
        ['can_remove_subscribers_group', sorted],
        ['can_remove_subscribers_group', system.members],
      ]);
      expect(await read(id)).toMatchObject({ can_remove_subscribers_group: system.members });
      await refused(
        id,
        { can_remove_subscribers_group: { new: system.nobody, old: system.administrators } },
        "'old' value does not match the expected value.",
        { code: 'EXPECTATION_MISMATCH' },
      );
    });

    it('publishes the posting policy as a number to older clients', async () => {
      const id = await create({ name: 'x' });
      const someone = { direct_members: [people.hamlet.id], direct_subgroups: [system.moderators] };
      const events = await hears(people.cordelia, ['stream'], async () => {
        await change(id, { can_send_message_group: { new: system.administrators } });
        await change(id, { can_send_message_group: { new: system.everyone } });
        await change(id, { can_send_message_group: { new: someone } });
      });
      expect(events.map(({ property, value, name }: Wire) => [property, value, name])).toEqual([
        ['can_send_message_group', system.administrators, 'x'],
        ['stream_post_policy', 2, 'x'],
        ['is_announcement_only', true, 'x'],
        ['can_send_message_group', system.everyone, 'x'],
        ['stream_post_policy', 1, 'x'],
        ['is_announcement_only', false, 'x'],
        ['can_send_message_group', someone, 'x'],
      ]);
      expect((await notices(id)).at(-1)).toBe(
        `${by(people.hamlet)} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n` +
          `* **Old**: @_*role:everyone*\n* **New**: @_*role:moderators*, ${by(people.hamlet)}`,
      );
    });

    it('limits the names in its notice to the message length', async () => {
      const id = await create({ name: 'x' });
      const names = Array.from({ length: 60 }, (_, n) => n);
      const ids = await server.storage.uow.write(people.cordelia.user.realmId, async (tx) => {
        const added: number[] = [];
        for (const n of names) {
          const { id: _, version: __, realmId, ...user } = people.cordelia.user;
          added.push((await tx.users.add({ ...user, realmId, email: `n${n}@zulip.com`, fullName: `N${n}` }, null)).id);
        }
        return added;
      });
      await change(id, { can_send_message_group: { new: { direct_members: ids, direct_subgroups: [] } } });
      expect((await notices(id)).at(-1)).toMatch(/@_\*\*N49\|\d+\*\* and 10 more$/);
    });

    it('publishes a private channel to users who gain or lose access', async () => {
      const { cordelia, hamlet, polonius } = people;
      const id = await create({ name: 'x', invite_only: true });
      const types = ['stream', 'subscription'];
      const only = { new: { direct_members: [cordelia.id, polonius.id], direct_subgroups: [] } };
      const gained = await hears(cordelia, types, () => change(id, { can_subscribe_group: only }));
      expect(gained).toMatchObject([
        { type: 'stream', op: 'create', streams: [{ stream_id: id, can_subscribe_group: only.new }] },
        { type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [hamlet.id] },
      ]);
      const lost = await hears(cordelia, types, () =>
        change(id, { can_subscribe_group: { new: system.nobody } }, hamlet),
      );
      expect(lost).toMatchObject([{ op: 'delete', stream_ids: [id] }]);
    });

    it('rejects in the order of the contract', async () => {
      const id = await create({ name: 'x', invite_only: true });
      const combination = 'history_public_to_subscribers, can_create_topic_group';
      const unsupported = [`Unsupported parameter combination: ${combination}`, { parameters: combination }] as const;
      await refused(
        id,
        { can_delete_any_message_group: { new: system.nobody }, new_name: '' },
        'Insufficient permission',
      );
      await refused(id, { can_create_topic_group: { new: system.moderators } }, ...unsupported);
      for (const name of ['can_subscribe_group', 'can_add_subscribers_group']) {
        await refused(id, { [name]: { new: system.members } }, 'Channel content access is required.', {}, people.iago);
      }
      await refused(
        id,
        { can_subscribe_group: { new: system.everyone } },
        "'can_subscribe_group' setting cannot be set to 'role:everyone' group.",
      );
      await refused(id, { can_subscribe_group: { new: 99_999 } }, 'Invalid user group');
      const nobody = { direct_members: [99_999], direct_subgroups: [] };
      await refused(id, { can_subscribe_group: { new: nobody } }, 'Invalid user ID: 99999');
      await refused(id, { can_subscribe_group: system.members }, 'can_subscribe_group is not a dict');
      const open = await create({ name: 'open' });
      await change(open, { can_create_topic_group: { new: system.moderators } });
      await refused(open, { is_private: true }, ...unsupported);
      await change(open, { is_private: true, can_create_topic_group: { new: system.everyone } });
    });
  });

  it('requires an administrator of the organization or the channel', async () => {
    const open = await create({ name: 'open' });
    const closed = await create({ name: 'closed', invite_only: true });
    const denied = 'You do not have permission to administer this channel.';
    const attempt = { new_name: 'x'.repeat(61) };
    const tooLong = 'Channel name too long (limit: 60 characters).';
    for (const [who, id, msg, more] of [
      ['cordelia', open, denied, CANNOT],
      ['shiva', open, denied, CANNOT],
      ['polonius', open, UNKNOWN, {}],
      ['cordelia', closed, UNKNOWN, {}],
      ['shiva', closed, UNKNOWN, {}],
      ['hamlet', closed, tooLong, {}],
      ['iago', closed, tooLong, {}],
      ['desdemona', closed, tooLong, {}],
      ['desdemona', 99_999, UNKNOWN, {}],
    ] as [Person, number, string, object][]) {
      await refused(id, attempt, msg, more, people[who]);
    }
    const realmId = await server.addRealm('elsewhere');
    const outsider = await server.addUser({ email: 'x@else.example', fullName: 'Outsider', role: 'owner', realmId });
    const reply = await server.request('PATCH', `/streams/${open}`, { as: outsider, realm: 'elsewhere', params: {} });
    expectRefusal(reply, UNKNOWN);
    expect((await server.patch(`/streams/${open}`, null)).status).toBe(401);
    expect((await server.patch('/streams/x', people.iago)).status).toBe(404);
  });

  it('changes nothing if part of the request is rejected', async () => {
    const id = await create({ name: 'x' });
    const before = await read(id);
    await refused(id, { description: 'new', is_private: true, new_name: '' }, "Channel name can't be empty.");
    expect(await read(id)).toEqual(before);
  });

  it('changes archived channels', async () => {
    const id = await create({ name: 'x' });
    fieldsOf(await archive(id));
    await change(id, { new_name: 'y', topics_policy: 'disable_empty_topic' });
    expect(await read(id)).toMatchObject({ name: 'y', topics_policy: 'disable_empty_topic' });
    expect((await notices(id)).map((text) => text.includes('renamed'))).toEqual([false, true]);
  });
});

describe('DELETE /streams/{stream_id}', () => {
  it('archives the channel and keeps its content', async () => {
    const id = await create({ name: 'x' });
    const before = await read(id);
    const heard = await hears(people.cordelia, ['stream', 'message'], () => archive(id));
    expect(heard).toEqual([
      { type: 'stream', op: 'update', stream_id: id, name: 'x', property: 'is_archived', value: true },
    ]);
    expect(await read(id)).toEqual({ ...before, is_archived: true });
    expectRefusal(await archive(id), 'Channel is already deactivated');
    expectRefusal(await server.get('/get_stream_id', people.hamlet, { stream: 'x' }), "Invalid channel name 'x'");
    expectRefusal(
      await server.post('/messages', people.hamlet, { type: 'channel', to: id, topic: 't', content: 'c' }),
      "Not authorized to send to channel 'x'",
    );
  });

  it('posts a notice in the channel, which is read for everyone', async () => {
    const id = await create({ name: 'x' });
    const [message] = await hears(people.hamlet, ['message'], () => archive(id), { apply_markdown: false });
    expect(message).toMatchObject({ flags: ['read'], message: { content: 'Channel #**x** has been archived.' } });
    const { unread_msgs } = fieldsOf(await server.post('/register', people.hamlet)) as Wire;
    expect(JSON.stringify(unread_msgs)).not.toContain(String(message.message.id));
  });

  it('removes the channel for clients without archived channels and restores it with its subscribers', async () => {
    const { hamlet, cordelia } = people;
    const id = await create({ name: 'x' });
    const types = ['stream', 'subscription'];
    expect(await hears(hamlet, types, () => archive(id), OLDER)).toEqual([
      { type: 'stream', op: 'delete', streams: [{ stream_id: id }], stream_ids: [id] },
    ]);
    const unarchive = () => change(id, { is_archived: false });
    expect(await hears(hamlet, types, unarchive, OLDER)).toMatchObject([
      { type: 'stream', op: 'create', streams: [{ stream_id: id, is_archived: false }] },
      { type: 'subscription', op: 'add', subscriptions: [{ stream_id: id, subscribers: [hamlet.id] }] },
    ]);
    fieldsOf(await archive(id));
    expect(await hears(cordelia, types, unarchive, OLDER)).toMatchObject([
      { type: 'stream', op: 'create' },
      { type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [hamlet.id] },
    ]);
  });

  it('removes the channel from the default channels and organization settings', async () => {
    const { iago, desdemona } = people;
    const id = await create({ name: 'x', is_default_stream: true }, iago);
    await server.patch('/realm', desdemona, {
      new_stream_announcements_stream_id: id,
      signup_announcements_stream_id: id,
    });
    const types = ['realm', 'default_streams', 'stream', 'message'];
    const heard = await hears(people.hamlet, types, () => archive(id, iago));
    expect(heard).toMatchObject([
      {
        type: 'realm',
        op: 'update_dict',
        property: 'default',
        data: { new_stream_announcements_stream_id: -1, signup_announcements_stream_id: -1 },
      },
      { type: 'default_streams', default_streams: [] },
      { type: 'stream', op: 'update', property: 'is_archived' },
      { type: 'message', message: { content: expect.stringContaining('has been archived') } },
    ]);
    const state = fieldsOf(await server.post('/register', desdemona)) as Wire;
    expect(state.realm_new_stream_announcements_stream_id).toBe(-1);
    await change(id, { is_archived: false }, iago);
    expect((fieldsOf(await server.post('/register', desdemona)) as Wire).realm_default_streams).toEqual([]);
  });

  it('requires an administrator of the organization or the channel', async () => {
    const open = await create({ name: 'open' });
    const closed = await create({ name: 'closed', invite_only: true });
    const denied = 'You do not have permission to administer this channel.';
    expectRefusal(await archive(open, people.cordelia), denied, CANNOT);
    expectRefusal(await archive(open, people.polonius), UNKNOWN);
    expectRefusal(await archive(closed, people.shiva), UNKNOWN);
    expectRefusal(await archive(99_999, people.desdemona), UNKNOWN);
    fieldsOf(await archive(closed, people.iago));
    fieldsOf(await archive(open, people.hamlet));
  });
});

describe('unarchiving a channel', () => {
  it('posts a notice in the channel', async () => {
    const id = await create({ name: 'x' });
    fieldsOf(await archive(id));
    const events = await hears(
      people.hamlet,
      ['stream', 'subscription', 'message'],
      () => change(id, { is_archived: false }),
      { apply_markdown: false },
    );
    expect(events).toMatchObject([
      { type: 'stream', op: 'update', property: 'is_archived', value: false },
      { type: 'message', message: { content: 'Channel #**x** has been unarchived.' } },
    ]);
    expect((await read(id)).is_archived).toBe(false);
  });

  it('rejects an active channel and a private channel without subscribers', async () => {
    const id = await create({ name: 'x' });
    await refused(id, { is_archived: false }, 'Channel is not currently deactivated');
    const empty = await create({ name: 'empty', invite_only: true, subscribers: [] });
    fieldsOf(await archive(empty));
    await refused(empty, { is_archived: false }, 'Channel is private and have no subscribers');
    await store(empty, { privacy: 'public' });
    await change(empty, { is_archived: false });
  });
});
