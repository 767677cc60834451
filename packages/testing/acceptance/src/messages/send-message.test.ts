import type { Bot, User } from '@parley/domain/users';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

describe('POST /messages', () => {
  let general: number;
  const { server, people } = organizationPerTest();
  beforeEach(async () => {
    general = await server.createChannel('general', [people.hamlet, people.cordelia]);
  });

  const toChannel = { type: 'channel', to: 'general', topic: 'plans', content: 'hello' };
  const toCordelia = () => ({ type: 'direct', to: [people.cordelia.id], content: 'hello' });
  const send = (params: object, as: TestUser = people.hamlet) => server.post('/messages', as, { ...params });
  const sent = async (params: object, as: TestUser = people.hamlet) => read(fieldsOf(await send(params, as)).id, as);
  const read = async (id: number, as: TestUser = people.hamlet, params = {}) =>
    (await server.get(`/messages/${id}`, as, { allow_empty_topic_name: true, ...params })).body;
  /** Expects an error without a commit. */
  const refused = async (params: object, msg: string, more = {}, as: TestUser = people.hamlet) => {
    const { commits } = server.storage;
    expectRefusal(await send(params, as), msg, more);
    expect(server.storage.commits).toBe(commits);
  };
  const change = (user: User, changes: Partial<User>) =>
    server.storage.uow.write(user.realmId, (tx) => tx.users.update({ ...user, ...changes }));

  describe('to a channel', () => {
    it.each(['general', 'GENERAL', '"general"', '["general"]'])('accepts a channel named %s', async (to) => {
      expect((await sent({ ...toChannel, to })).message).toMatchObject({
        type: 'stream',
        display_recipient: 'general',
      });
    });

    it('accepts a channel id, bare or in a list', async () => {
      for (const to of [general, [general]]) {
        expect((await sent({ ...toChannel, to })).message.stream_id).toBe(general);
      }
    });

    it('accepts the older names of type and topic', async () => {
      const { topic, ...rest } = toChannel;
      expect((await sent({ ...rest, type: 'stream', subject: topic })).message.subject).toBe('plans');
    });

    it('accepts a quoted channel name that looks like a number', async () => {
      const five = await server.createChannel('5', [people.hamlet]);
      expect((await sent({ ...toChannel, to: '"5"' })).message.stream_id).toBe(five);
    });

    it.each(['', '(no topic)', 'general chat', '  '])('accepts %j as the empty topic', async (topic) => {
      const { message } = await sent({ ...toChannel, topic });
      expect(message.subject).toBe('');
      expect((await read(message.id, people.hamlet, { allow_empty_topic_name: false })).message.subject).toBe(
        'general chat',
      );
    });

    it('truncates long topics and content', async () => {
      const long = await sent({ ...toChannel, topic: 'A'.repeat(61), content: 'A'.repeat(10_001) });
      expect(long.message.subject).toBe(`${'A'.repeat(57)}...`);
      expect(long.raw_content).toBe(`${'A'.repeat(9980)}\n[message truncated]`);
    });

    it.each([
      ['  hi \n\n', '  hi'],
      ['\nhi', 'hi'],
    ])('strips %j from the topic', async (content, kept) => {
      expect((await sent({ ...toChannel, content })).raw_content).toBe(kept);
    });

    it("returns the sender's new topic policy", async () => {
      expect(fieldsOf(await send(toChannel))).toEqual({
        id: expect.any(Number),
        automatic_new_visibility_policy: 3,
      });
      expect(fieldsOf(await send(toChannel))).toEqual({ id: expect.any(Number) });
    });
  });

  describe('to users', () => {
    const peopleOf = (message: { display_recipient: { id: number }[] }) =>
      message.display_recipient.map(({ id }) => id);

    it('accepts ids in the older type as well, with or without the sender', async () => {
      const { hamlet, cordelia, iago } = people;
      for (const [type, to, expected] of [
        ['direct', [cordelia.id], [hamlet, cordelia]],
        ['private', [cordelia.id, hamlet.id], [hamlet, cordelia]],
        ['direct', [cordelia.id, iago.id, cordelia.id], [iago, hamlet, cordelia]],
        ['direct', [hamlet.id], [hamlet]],
      ] as const) {
        const { message } = await sent({ type, to, content: 'x' });
        expect(message).toMatchObject({ type: 'private', subject: '', topic_links: [] });
        expect(message).not.toHaveProperty('stream_id');
        expect(peopleOf(message)).toEqual(expected.map(({ id }) => id).sort((a, b) => a - b));
      }
    });

    it('accepts the visible email', async () => {
      const { hamlet, cordelia, iago } = people;
      for (const to of [cordelia.email, `"${cordelia.email}"`, [cordelia.email], `${cordelia.email}, ,`]) {
        expect(peopleOf((await sent({ type: 'direct', to, content: 'x' })).message)).toEqual([hamlet.id, cordelia.id]);
      }
      const both = `${cordelia.email.toUpperCase()},user${iago.id}@parley.invalid`;
      expect(peopleOf((await sent({ type: 'direct', to: both, content: 'x' })).message)).toHaveLength(3);
    });

    it('uses one conversation for both directions', async () => {
      const { hamlet, cordelia } = people;
      const there = (await sent({ type: 'direct', to: [cordelia.id], content: 'x' }, hamlet)).message;
      const back = (await sent({ type: 'direct', to: [hamlet.id], content: 'x' }, cordelia)).message;
      const alone = (await sent({ type: 'direct', to: [hamlet.id], content: 'x' }, hamlet)).message;
      expect(back.recipient_id).toBe(there.recipient_id);
      expect(alone.recipient_id).not.toBe(there.recipient_id);
    });

    it('ignores a topic', async () => {
      expect((await sent({ ...toCordelia(), topic: 'a\u0000b' })).message.subject).toBe('');
    });
  });

  describe('read by the sender', () => {
    const flagsOf = async (headers: Record<string, string>, params = {}) => {
      const { body } = await server.request('POST', '/messages', {
        as: people.hamlet,
        params: { ...toChannel, ...params },
        headers,
      });
      return (await read(body.id)).message;
    };

    it.each`
      agent                  | read_by_sender | read
      ${'ZulipTerminal/0.7'} | ${undefined}   | ${true}
      ${'ZulipMobile/27.1'}  | ${undefined}   | ${true}
      ${'my-script/1'}       | ${undefined}   | ${false}
      ${'my-script/1'}       | ${true}        | ${true}
      ${'ZulipTerminal/0.7'} | ${false}       | ${false}
    `(
      'sets read to $read for client $agent with read_by_sender $read_by_sender',
      async ({ agent, read_by_sender, read: isRead }) => {
        const params = read_by_sender === undefined ? {} : { read_by_sender };
        const message = await flagsOf({ 'User-Agent': agent }, params);
        expect(message.flags).toEqual(isRead ? ['read'] : []);
        expect(message.client).toBe(agent.split('/')[0]);
      },
    );

    it('depends on the client name in the User-Agent or the parameter', async () => {
      expect(await flagsOf({}, { client: 'website' })).toMatchObject({ client: 'website', flags: ['read'] });
      const named = await flagsOf({}, { client: 'my special client of great length and more' });
      expect(named.client).toBe('my special client of great len');
    });
  });

  it('returns local_id to the queue that sent the message only', async () => {
    const register = async (as: TestUser): Promise<string> =>
      (await server.post('/register', as, { event_types: ['message'] })).body.queue_id;
    const { hamlet, cordelia } = people;
    const [mine, other, cordelias] = [await register(hamlet), await register(hamlet), await register(cordelia)];
    const marksOf = async (as: TestUser, queue_id: string) =>
      (await server.get('/events', as, { queue_id, last_event_id: -1 })).body.events.map(
        ({ local_message_id }: { local_message_id?: string }) => local_message_id,
      );
    await send({ ...toChannel, queue_id: mine, local_id: '17.01' });
    await send({ ...toChannel, queue_id: cordelias, local_id: '17.02' });
    await send({ ...toChannel, queue_id: 'no queue', local_id: '17.03' });
    expect(await marksOf(hamlet, mine)).toEqual(['17.01', undefined, undefined]);
    expect(await marksOf(hamlet, other)).toEqual([undefined, undefined, undefined]);
    expect(await marksOf(cordelia, cordelias)).toEqual([undefined, undefined, undefined]);
  });

  describe('with a repeated queue and local id', () => {
    let mine: string;
    beforeEach(async () => {
      mine = (await server.post('/register', people.hamlet, { event_types: ['message'] })).body.queue_id;
    });
    const idOf = async (params: object, as?: TestUser) => fieldsOf(await send(params, as)).id;
    const echo = (local_id = '1') => ({ queue_id: mine, local_id });

    it("returns the first message's id", async () => {
      const first = await idOf({ ...toChannel, ...echo() });
      expect(await idOf({ ...toChannel, ...echo() })).toBe(first);
      const direct = await idOf({ ...toCordelia(), ...echo('2') });
      expect(await idOf({ ...toCordelia(), ...echo('2') })).toBe(direct);
      expect(direct).toBe(first! + 1);
    });

    it('returns the id even if the queue has ended and the sender may no longer post', async () => {
      const first = await idOf({ ...toChannel, ...echo() });
      fieldsOf(await server.delete('/events', people.hamlet, { queue_id: mine }));
      fieldsOf(await server.delete(`/streams/${general}`, people.desdemona));
      expect(await idOf({ ...toChannel, ...echo() })).toBe(first);
    });

    it('returns the id if the queue had expired before the first send', async () => {
      fieldsOf(await server.delete('/events', people.hamlet, { queue_id: mine }));
      const first = await idOf({ ...toChannel, ...echo() });
      expect(await idOf({ ...toChannel, ...echo() })).toBe(first);
    });

    it.each([
      ['another text', { content: 'bye' }],
      ['another topic', { topic: 'other plans' }],
      ['another local id', { local_id: '2' }],
      ['another queue', { queue_id: 'other' }],
      ['no local id', { local_id: undefined }],
    ])('sends a message with %s', async (_, more) => {
      const first = await idOf({ ...toChannel, ...echo() });
      expect(await idOf({ ...toChannel, ...echo(), ...more })).toBe(first! + 1);
    });

    it('sends for another sender and to another recipient', async () => {
      const first = await idOf({ ...toChannel, ...echo() });
      expect(await idOf({ ...toChannel, ...echo() }, people.cordelia)).toBe(first! + 1);
      expect(await idOf({ ...toCordelia(), ...echo() })).toBe(first! + 2);
    });

    it('sends after a day', async () => {
      const first = await idOf({ ...toChannel, ...echo() });
      server.clock.advance(86_400);
      expect(await idOf({ ...toChannel, ...echo() })).toBe(first! + 1);
    });
  });

  describe('error', () => {
    it('reports parameters in the order of the contract', async () => {
      const missing = (name: string) => ({ code: 'REQUEST_VARIABLE_MISSING', var_name: name });
      await refused({}, "Missing 'type' argument", missing('type'));
      await refused({ type: 'groups' }, 'Invalid type');
      await refused({ type: 'channel' }, "Missing 'content' argument", missing('content'));
      await refused({ ...toChannel, subject: 'x' }, "Can't decide between 'topic' and 'subject' arguments", {
        code: 'REQUEST_CONFUSING_VAR',
        var_name1: 'topic',
        var_name2: 'subject',
      });
      await refused({ ...toChannel, read_by_sender: 'yes' }, 'read_by_sender is not valid JSON');
    });

    it('reports invalid recipients before a missing topic', async () => {
      const { topic: _topic, ...untitled } = toChannel;
      await refused({ ...untitled, to: [] }, 'Expected exactly one channel');
      await refused({ ...untitled, to: ['a', 'b'] }, 'Expected exactly one channel');
      await refused({ ...untitled, to: { id: 1 } }, 'Invalid data type for channel');
      await refused(untitled, 'Missing topic');
      await refused({ ...toCordelia(), to: people.cordelia.id }, 'Invalid data type for recipients');
      await refused({ ...toCordelia(), to: [1.5] }, 'Invalid data type for recipients');
      const mixed = 'Recipient lists may contain emails or user IDs, but not both.';
      await refused({ ...toCordelia(), to: [1, 'a@x.org'] }, mixed);
      await refused({ ...toCordelia(), to: ['a@x.org', 1] }, mixed);
    });

    it('reports the topic before the content, and the content before the channel', async () => {
      const bad = { ...toChannel, to: 'nowhere', topic: 'Test\n\rTopic', content: ' ' };
      await refused(bad, 'Invalid character in topic, at position 5!');
      await refused({ ...bad, topic: 'x' }, 'Message must not be empty');
      await refused({ ...bad, topic: 'x', content: 'a\u0000b' }, 'Message must not contain null bytes');
    });

    it('reports recipients before the content', async () => {
      const empty = { type: 'direct', content: ' ' };
      await refused(empty, 'Message must have recipients');
      await refused({ ...empty, to: [] }, 'Message must have recipients');
      await refused({ ...empty, to: ' , ' }, 'Message must have recipients');
      await refused({ ...empty, to: [99_999_999] }, 'Invalid user ID 99999999');
      await refused({ ...empty, to: ['nobody@zulip.com'] }, "Invalid email 'nobody@zulip.com'");
      await refused({ ...empty, to: [people.cordelia.id] }, 'Message must not be empty');
    });

    it('reports a hidden real email', async () => {
      const { cordelia } = people;
      await change(cordelia.user, {
        settings: { ...cordelia.user.settings, emailAddressVisibility: 'administrators' },
      });
      await refused({ ...toCordelia(), to: [cordelia.email] }, `Invalid email '${cordelia.email}'`);
    });

    it('reports an unknown channel', async () => {
      const code = 'STREAM_DOES_NOT_EXIST';
      await refused({ ...toChannel, to: 99_999_999 }, "Channel with ID '99999999' does not exist", {
        code,
        stream_id: 99_999_999,
      });
      await refused({ ...toChannel, to: 'a<b' }, "Channel 'a&lt;b' does not exist", { code, stream: 'a&lt;b' });
      await refused({ ...toChannel, to: ' ' }, "Channel name can't be empty.");
      await refused({ ...toChannel, to: 'x'.repeat(61) }, 'Channel name too long (limit: 60 characters).');
      const { to: _to, ...nowhere } = toChannel;
      await refused(nowhere, 'Missing channel');
    });

    it('reports a channel in which the caller may not post', async () => {
      const admins = await server.systemGroups();
      await server.createChannel('news', [people.hamlet], { can_send_message_group: admins.administrators });
      await refused({ ...toChannel, to: 'news' }, 'You do not have permission to post in this channel.');
      expect((await send({ ...toChannel, to: 'news' }, people.desdemona)).status).toBe(200);
    });

    it('reports an inaccessible channel', async () => {
      await server.createChannel('secret', [people.hamlet], { invite_only: true });
      const closed = "Not authorized to send to channel 'secret'";
      await refused({ ...toChannel, to: 'secret' }, closed, {}, people.cordelia);
      await refused({ ...toChannel, to: 'secret' }, closed, {}, people.iago);
      await refused(toChannel, "Not authorized to send to channel 'general'", {}, people.polonius);
      expect((await send(toChannel, people.shiva)).status).toBe(200);
    });

    it('reports an archived channel', async () => {
      await server.changeChannel('general', { isArchived: true });
      await refused(toChannel, "Not authorized to send to channel 'general'");
    });

    it('reports a new topic without permission to create it', async () => {
      await send(toChannel);
      const { moderators } = await server.systemGroups();
      await server.createChannel('ordered', [people.hamlet, people.desdemona], { can_create_topic_group: moderators });
      const inOrder = { ...toChannel, to: 'ordered' };
      await refused(inOrder, 'You do not have permission to create new topics in this channel.');
      await send(inOrder, people.desdemona);
      expect((await send({ ...inOrder, topic: 'PLANS' })).status).toBe(200);
    });

    it("reports a topic that violates the channel's policy", async () => {
      await server.createChannel('named', [people.hamlet], { topics_policy: 'disable_empty_topic' });
      await server.createChannel('nameless', [people.hamlet], { topics_policy: 'empty_topic_only' });
      const display = { empty_topic_display_name: 'general chat' };
      await refused(
        { ...toChannel, to: 'named', topic: '' },
        'Sending messages to the general chat is not allowed in this channel.',
        display,
      );
      await refused(
        { ...toChannel, to: 'nameless' },
        'Only the general chat topic is allowed in this channel.',
        display,
      );
    });

    it('reports deactivated recipients', async () => {
      await change(people.cordelia.user, { isActive: false });
      await refused(toCordelia(), "'cordelia@zulip.com' is no longer using Zulip.");
    });

    it('reports anonymous callers', async () => {
      const reply = await server.request('POST', '/messages', { params: toChannel });
      expectRefusal(reply, 'Not logged in: API authentication or user session required', {
        status: 401,
        code: 'UNAUTHORIZED',
      });
    });
  });

  it('reports unknown parameters', async () => {
    const reply = fieldsOf(await send({ ...toChannel, colour: 'red' }));
    expect(reply.ignored_parameters_unsupported).toEqual(['colour']);
  });

  describe('widget', () => {
    it('is created from a command in the content', async () => {
      const { message } = await sent({ ...toChannel, content: '/poll Lunch?\nPizza\n- Soup' });
      expect(message.submessages).toEqual([
        {
          id: expect.any(Number),
          message_id: message.id,
          sender_id: people.hamlet.id,
          msg_type: 'widget',
          content: '{"widget_type": "poll", "extra_data": {"question": "Lunch?", "options": ["Pizza", "Soup"]}}',
        },
      ]);
    });

    it('is created from widget_content', async () => {
      const choices = { type: 'choices', heading: 'Pick', choices: [] };
      const widget_content = JSON.stringify({ widget_type: 'zform', extra_data: choices });
      const { message } = await sent({ ...toChannel, widget_content });
      expect(message.submessages).toMatchObject([{ content: expect.stringContaining('"zform"') }]);
    });

    it.each([
      ['{', 'Widgets: API programmer sent invalid JSON content'],
      ['{"widget_type": "slider", "extra_data": {}}', 'Widgets: unknown widget type: slider'],
    ])('is rejected for the widget content %s', async (widget_content, msg) => {
      await refused({ ...toChannel, widget_content }, msg);
    });
  });

  it('accepts a JSON body like a form', async () => {
    const reply = await server.request('POST', '/messages', {
      as: people.hamlet,
      body: JSON.stringify({ type: 'channel', to: general, topic: 't', content: 'c' }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect((await read(fieldsOf(reply).id)).message).toMatchObject({ stream_id: general });
  });

  describe('bot sender', () => {
    const bot = (more: Partial<Bot> = {}): Bot => ({
      kind: 'incomingWebhook',
      ownerId: people.hamlet.id,
      isSystem: false,
      defaultSendingChannelId: null,
      ...more,
    });
    const addBot = async (more: Partial<Bot> = {}): Promise<TestUser> => {
      const added = await server.addUser({ email: 'helper-bot@zulip.com', fullName: 'Helper' });
      const user = await change(added.user, { bot: bot(more) });
      return { ...added, user };
    };

    it('can only send messages if it is an incoming webhook', async () => {
      const helper = await addBot();
      expect((await send(toChannel, helper)).status).toBe(200);
      expectRefusal(
        await server.get('/messages', helper, { anchor: 'newest', num_before: 1, num_after: 0 }),
        'This API is not available to incoming webhook bots.',
        { status: 401, code: 'UNAUTHORIZED' },
      );
    });

    it('uses its default channel if none is given', async () => {
      const helper = await addBot({ kind: 'generic', defaultSendingChannelId: general });
      const { to: _to, ...anywhere } = toChannel;
      expect((await sent(anywhere, helper)).message.stream_id).toBe(general);
    });

    it('can send to channels in which the owner may post', async () => {
      await server.createChannel('secret', [people.hamlet], { invite_only: true });
      const helper = await addBot({ kind: 'generic' });
      expect((await send({ ...toChannel, to: 'secret' }, helper)).status).toBe(200);
    });
  });
});
