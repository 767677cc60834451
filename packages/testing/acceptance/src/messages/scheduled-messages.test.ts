import { DeliverScheduledMessage } from '@parley/domain/writing';
import { FixedClock } from '@parley/testkit';
import { eventsAfter, openQueue, type TestQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const START = new FixedClock().now();
/** Due time: one hour from now. */
let due: number;
const PAST = 'Scheduled delivery time must be in the future.';
const UNKNOWN = 'Scheduled message does not exist';
const NOT_FOUND = { status: 404 };

/** Public channel; Hamlet and Polonius subscribe. */
let town: number;
/** Private channel without Hamlet. */
let closet: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  due = server.clock.now() + 3600;
  town = await server.createChannel('town', [people.hamlet, people.polonius]);
  closet = await server.createChannel('closet', [people.iago], { invite_only: true });
});

const toTown = () => ({ type: 'stream', to: town, topic: 'plans' });
const toCordelia = () => ({ type: 'direct', to: [people.cordelia.id] });
const post = (as: TestUser, params: object) =>
  server.post('/scheduled_messages', as, { content: 'later *on*', scheduled_delivery_timestamp: due, ...params });
const schedule = async (as: TestUser, params: object): Promise<number> =>
  fieldsOf(await post(as, params)).scheduled_message_id;
const edit = (as: TestUser, id: number, params: object) => server.patch(`/scheduled_messages/${id}`, as, { ...params });
const list = async (as: TestUser): Promise<Wire[]> =>
  fieldsOf(await server.get('/scheduled_messages', as)).scheduled_messages as Wire;
const heard = async (queue: TestQueue) =>
  (await eventsAfter(server, queue)).filter(({ type }) => type !== 'user_topic' && type !== 'muted_topics');
async function deliver(seconds = 3600): Promise<void> {
  server.clock.advance(seconds);
  await runJobs(server, server.parley.useCase(DeliverScheduledMessage));
}
async function messagesIn(narrow: unknown, as: TestUser): Promise<Wire[]> {
  return server.messagesFor(as, { narrow, num_before: 20, apply_markdown: false });
}
const inTown = (as = people.hamlet) =>
  messagesIn(
    [
      { operator: 'channel', operand: town },
      { operator: 'topic', operand: 'plans' },
    ],
    as,
  );
const fromBot = (as: TestUser) =>
  messagesIn(
    [
      { operator: 'is', operand: 'dm' },
      { operator: 'sender', operand: 'notification-bot@parley.invalid' },
    ],
    as,
  );
const shown = (id: number, more: object = {}) => ({
  scheduled_message_id: id,
  type: 'stream',
  to: town,
  topic: 'plans',
  content: 'later *on*',
  rendered_content: '<p>later <em>on</em></p>',
  scheduled_delivery_timestamp: due,
  failed: false,
  ...more,
});

describe('scheduling a message', () => {
  it('shows it to its sender only', async () => {
    const { hamlet, cordelia, iago } = people;
    const queue = await openQueue(server, hamlet);
    const other = await openQueue(server, cordelia);
    const late = await schedule(hamlet, { ...toTown(), scheduled_delivery_timestamp: due + 5 });
    const early = await schedule(hamlet, { ...toTown(), type: 'channel' });
    const direct = await schedule(hamlet, { type: 'private', to: [iago.id, cordelia.id, hamlet.id, iago.id] });
    const { topic: _, ...message } = shown(direct, { type: 'private', to: [iago.id, cordelia.id] });
    const lateOne = shown(late, { scheduled_delivery_timestamp: due + 5 });
    expect(await list(hamlet)).toEqual([shown(early), message, lateOne]);
    expect(await heard(queue)).toEqual(
      [lateOne, shown(early), message].map((each) => ({
        type: 'scheduled_messages',
        op: 'add',
        scheduled_messages: [each],
      })),
    );
    const { registered } = await openQueue(server, hamlet, { fetch_event_types: ['scheduled_messages'] });
    expect(registered.scheduled_messages).toEqual([shown(early), message, lateOne]);
    expect([await list(cordelia), await heard(other)]).toEqual([[], []]);
  });

  it('includes the sender when sent to oneself', async () => {
    const { hamlet } = people;
    await schedule(hamlet, { type: 'direct', to: [hamlet.id] });
    expect(await list(hamlet)).toMatchObject([{ type: 'private', to: [hamlet.id] }]);
  });

  it.each([
    ['  plans ', 'plans'],
    ['(no topic)', ''],
    ['general chat', ''],
    ['t'.repeat(61), `${'t'.repeat(57)}...`],
  ])('stores the topic %j as %j', async (topic, kept) => {
    await schedule(people.hamlet, { ...toTown(), topic });
    expect(await list(people.hamlet)).toMatchObject([{ topic: kept }]);
  });

  it('creates no conversation before delivery', async () => {
    await schedule(people.hamlet, toCordelia());
    const { registered } = await openQueue(server, people.cordelia, {
      fetch_event_types: ['recent_private_conversations'],
    });
    expect(registered.recent_private_conversations).toEqual([]);
  });

  it.each<[string, () => object, string, Record<string, unknown>?]>([
    ['an invalid message type', () => ({ ...toTown(), type: 'group' }), notListed('type')],
    ['now', () => ({ type: 'direct', to: 5, scheduled_delivery_timestamp: START }), PAST],
    ['a list instead of a channel', () => ({ ...toTown(), to: [town] }), 'Invalid data type for channel ID'],
    ['a name instead of a channel id', () => ({ ...toTown(), to: '"town"' }), 'to["int"] is not an integer'],
    ['an integer instead of recipients', () => ({ type: 'direct', to: 5 }), 'Invalid data type for recipients'],
    ['a name instead of user ids', () => ({ type: 'direct', to: '"me"' }), 'to["int"] is not an integer'],
    ['addresses', () => ({ type: 'direct', to: ['a@b.c'] }), 'to["int"] is not an integer'],
    ['fractions', () => ({ type: 'direct', to: '[1.5]' }), 'to["int"] is not an integer'],
    ['no JSON', () => ({ ...toTown(), to: 'town' }), 'to is not valid JSON'],
    [
      'an unknown channel',
      () => ({ ...toTown(), to: 999 }),
      "Channel with ID '999' does not exist",
      { code: 'STREAM_DOES_NOT_EXIST', stream_id: 999 },
    ],
    ['no topic', () => ({ type: 'stream', to: town }), 'Missing topic'],
    ['a bad topic', () => ({ ...toTown(), topic: 'a\nb' }), 'Invalid character in topic, at position 2!'],
    ['nobody', () => ({ type: 'direct', to: [] }), 'Message must have recipients'],
    ['an unknown user', () => ({ type: 'direct', to: [999] }), 'Invalid user ID 999'],
    ['empty content', () => ({ ...toTown(), content: ' \n' }), 'Message must not be empty'],
    ['a null byte', () => ({ ...toTown(), content: 'a\0b' }), 'Message must not contain null bytes'],
    [
      'a time beyond the calendar',
      () => ({ ...toTown(), scheduled_delivery_timestamp: 1e12 }),
      'scheduled_delivery_timestamp is too large',
    ],
  ])('rejects %s', async (_, params, msg, extra = {}) => {
    expectRefusal(await post(people.hamlet, params()), msg, extra);
    expect(await list(people.hamlet)).toEqual([]);
  });

  it('rejects an inaccessible channel as unknown', async () => {
    const extra = { code: 'STREAM_DOES_NOT_EXIST', stream_id: closet };
    expectRefusal(
      await post(people.hamlet, { ...toTown(), to: closet }),
      `Channel with ID '${closet}' does not exist`,
      extra,
    );
  });

  it.each(['type', 'to', 'content', 'scheduled_delivery_timestamp'])('requires %s', async (name) => {
    const params: Wire = { ...toTown(), content: 'x', scheduled_delivery_timestamp: due };
    delete params[name];
    expectRefusal(await server.post('/scheduled_messages', people.hamlet, params), `Missing '${name}' argument`, {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: name,
    });
  });

  it('rejects more than the maximum number of scheduled messages', async () => {
    const { hamlet } = people;
    const id = await schedule(hamlet, toTown());
    await server.storage.uow.write(server.realmId, async (tx) => {
      const { id: _, ...message } = (await tx.scheduledMessages.find(server.realmId, id as never))!;
      for (let count = 1; count < 1000; count++) await tx.scheduledMessages.add(message);
    });
    expectRefusal(await post(hamlet, toTown()), 'Too many scheduled messages (limit: 1000).');
    fieldsOf(await post(people.iago, toTown()));
    expect(await list(hamlet)).toHaveLength(1000);
  });

  it('rejects content beyond the total text limit in both forms, including edits', async () => {
    const { hamlet } = people;
    const id = await schedule(hamlet, { ...toTown(), content: 'x' });
    await server.storage.uow.write(server.realmId, async (tx) => {
      const found = (await tx.scheduledMessages.find(server.realmId, id as never))!;
      const { id: _, ...message } = found;
      const renderedContent = 'x'.repeat(2_000_000 - 2 * 9);
      await tx.scheduledMessages.add({ ...message, content: '', renderedContent });
    });
    const refusal = 'Too much text in scheduled messages (limit: 2000000 bytes).';
    const change = (fields: Wire) => server.patch(`/scheduled_messages/${id}`, hamlet, fields);
    const second = await schedule(hamlet, { ...toTown(), content: 'x' });
    expectRefusal(await post(hamlet, { ...toTown(), content: 'x' }), refusal);
    expectRefusal(await change({ content: 'xy' }), refusal);
    fieldsOf(await change({ content: 'y' }));
    fieldsOf(await server.delete(`/scheduled_messages/${second}`, hamlet));
    fieldsOf(await change({ content: 'xy' }));
  });
});

describe('editing a scheduled message', () => {
  let queue: TestQueue;
  let id: number;
  beforeEach(async () => {
    id = await schedule(people.hamlet, toTown());
    queue = await openQueue(server, people.hamlet);
  });
  const shows = async (more: object) => {
    const changed = shown(id, more);
    expect(await list(people.hamlet)).toEqual([changed]);
    const update = { type: 'scheduled_messages', op: 'update', scheduled_message: changed };
    expect(await heard(queue)).toEqual([update]);
  };
  const direct = (to: readonly number[], more: object = {}) => {
    const { topic: _, ...rest } = shown(id, { type: 'private', to, ...more });
    return rest;
  };

  it('changes the given properties and renders new content', async () => {
    const content = { content: 'even *later*', rendered_content: '<p>even <em>later</em></p>' };
    expect(fieldsOf(await edit(people.hamlet, id, { content: 'even *later*' }))).toEqual({});
    await shows(content);
    const other = await server.createChannel('other', [people.hamlet]);
    fieldsOf(await edit(people.hamlet, id, { to: other }));
    fieldsOf(await edit(people.hamlet, id, { topic: ' news ', scheduled_delivery_timestamp: due + 9 }));
    expect(await list(people.hamlet)).toEqual([
      shown(id, { ...content, to: other, topic: 'news', scheduled_delivery_timestamp: due + 9 }),
    ]);
  });

  it('publishes an edit without changes', async () => {
    fieldsOf(await edit(people.hamlet, id, { topic: 'plans' }));
    await shows({});
  });

  it('changes the recipients to users and back to a channel', async () => {
    const { cordelia, hamlet } = people;
    fieldsOf(await edit(hamlet, id, { type: 'direct', to: [cordelia.id], topic: 'ignored' }));
    expect(await list(hamlet)).toEqual([direct([cordelia.id])]);
    fieldsOf(await edit(hamlet, id, { topic: 'ignored' }));
    expect(await list(hamlet)).toEqual([direct([cordelia.id])]);
    fieldsOf(await edit(hamlet, id, { to: [cordelia.id, people.iago.id] }));
    expect(await list(hamlet)).toMatchObject([{ to: [people.iago.id, cordelia.id] }]);
    fieldsOf(await edit(hamlet, id, { type: 'stream', to: town, topic: 'plans' }));
    expect(await list(hamlet)).toEqual([shown(id)]);
  });

  it.each<[string, () => object, string, Record<string, unknown>?]>([
    ['nothing', () => ({}), 'Nothing to change'],
    [
      'a type without recipients',
      () => ({ type: 'stream' }),
      'Recipient required when updating type of scheduled message.',
    ],
    [
      'a channel type without a topic',
      () => ({ type: 'channel', to: 5, scheduled_delivery_timestamp: 1 }),
      'Topic required when updating scheduled message type to channel.',
    ],
    [
      'a channel type with an empty topic',
      () => ({ type: 'channel', to: town, topic: '(no topic)' }),
      'Topic required when updating scheduled message type to channel.',
    ],
    ['a time that has passed', () => ({ scheduled_delivery_timestamp: START, to: [5] }), PAST],
    ['a list instead of a channel', () => ({ to: [town] }), 'Invalid data type for channel ID'],
    ['an integer instead of recipients', () => ({ type: 'direct', to: 5 }), 'Invalid data type for recipients'],
    ['addresses', () => ({ type: 'direct', to: ['a@b.c'] }), 'to["int"] is not an integer'],
    [
      'an unknown channel',
      () => ({ to: 999 }),
      "Channel with ID '999' does not exist",
      { code: 'STREAM_DOES_NOT_EXIST', stream_id: 999 },
    ],
    ['an unknown user', () => ({ type: 'direct', to: [999] }), 'Invalid user ID 999'],
    ['no content', () => ({ content: ' ' }), 'Message must not be empty'],
    ['a bad topic', () => ({ topic: 'a\nb' }), 'Invalid character in topic, at position 2!'],
    ['an unknown message type', () => ({ type: 'group', to: 5 }), notListed('type')],
  ])('rejects the edit for %s without changing anything', async (_, params, msg, extra = {}) => {
    expectRefusal(await edit(people.hamlet, id, params()), msg, extra);
    expect(await list(people.hamlet)).toEqual([shown(id)]);
    expect(await heard(queue)).toEqual([]);
  });

  it('requires permission to send unless only topic and time change', async () => {
    const { hamlet, desdemona } = people;
    fieldsOf(
      await server.delete('/users/me/subscriptions', desdemona, {
        subscriptions: ['town'],
        principals: [hamlet.id],
      }),
    );
    await server.storage.uow.write(server.realmId, async (tx) => {
      const channel = (await tx.channels.find(server.realmId, town as never))!;
      const { nobody } = await tx.groups.systemGroupIds(server.realmId);
      await tx.channels.update({ ...channel, permissions: { ...channel.permissions, canSendMessage: nobody } });
    });
    fieldsOf(await edit(hamlet, id, { topic: 'news', scheduled_delivery_timestamp: due + 1 }));
    expectRefusal(await edit(hamlet, id, { content: 'x' }), 'You do not have permission to post in this channel.');
  });

  it.each<[string, () => TestUser, () => number]>([
    ['that does not exist', () => people.hamlet, () => 999],
    ['of another user', () => people.desdemona, () => id],
  ])('rejects editing and deleting a scheduled message %s', async (_, who, which) => {
    expectRefusal(await edit(who(), which(), { content: 'x' }), UNKNOWN, NOT_FOUND);
    expectRefusal(await server.delete(`/scheduled_messages/${which()}`, who()), UNKNOWN, NOT_FOUND);
    expect(await list(people.hamlet)).toEqual([shown(id)]);
  });

  it('rejects scheduled messages of another organization, as deleting does', async () => {
    const realmId = await server.addRealm('lear');
    const regan = await server.addUser({ email: 'regan@lear.com', fullName: 'Regan', realmId });
    const foreign = (method: string, params = {}) =>
      server.request(method, `/scheduled_messages/${id}`, { as: regan, realm: 'lear', params });
    expectRefusal(await foreign('PATCH', { content: 'x' }), UNKNOWN, NOT_FOUND);
    expectRefusal(await foreign('DELETE'), UNKNOWN, NOT_FOUND);
    expect(await list(people.hamlet)).toEqual([shown(id)]);
  });

  it('rejects messages already sent', async () => {
    await deliver();
    expectRefusal(await edit(people.hamlet, id, { content: 'x' }), 'Scheduled message was already sent');
    expectRefusal(await edit(people.iago, id, { content: 'x' }), UNKNOWN, NOT_FOUND);
  });
});

describe('deleting a scheduled message', () => {
  it('prevents delivery', async () => {
    const id = await schedule(people.hamlet, toTown());
    const queue = await openQueue(server, people.hamlet);
    expect(fieldsOf(await server.delete(`/scheduled_messages/${id}`, people.hamlet))).toEqual({});
    expect(await list(people.hamlet)).toEqual([]);
    await deliver();
    expect(await heard(queue)).toEqual([{ type: 'scheduled_messages', op: 'remove', scheduled_message_id: id }]);
    expectRefusal(await server.delete(`/scheduled_messages/${id}`, people.hamlet), UNKNOWN, NOT_FOUND);
  });
});

describe('scheduled message delivery', () => {
  it('sends a normal message when due', async () => {
    const { hamlet, polonius } = people;
    const id = await schedule(hamlet, { ...toTown(), content: 'for @**Polonius**' });
    const queues = [await openQueue(server, hamlet), await openQueue(server, polonius)] as const;
    await deliver(3599);
    expect(await heard(queues[0])).toEqual([]);
    await deliver(1);
    const [sent, removed] = await heard(queues[0]);
    expect(sent).toMatchObject({
      type: 'message',
      message: { sender_id: hamlet.id, stream_id: town, subject: 'plans', timestamp: due, client: 'Unspecified' },
    });
    expect(removed).toEqual({ type: 'scheduled_messages', op: 'remove', scheduled_message_id: id });
    expect(await heard(queues[1])).toMatchObject([{ type: 'message', flags: ['mentioned'] }]);
    expect(await list(hamlet)).toEqual([]);
    await deliver(86_400);
    expect(await inTown()).toHaveLength(1);
  });

  it.each([
    ['a script', {}, 'python', false],
    ['an app', {}, 'ZulipMobile', true],
    ['an app with an explicit value', { read_by_sender: false }, 'ZulipMobile', false],
    ['a script with an explicit value', { read_by_sender: true }, 'python', true],
  ])('sets the read state for the sender: %s', async (_, params, client, isRead) => {
    await schedule(people.hamlet, { ...toTown(), ...params, client });
    await deliver();
    expect(await inTown()).toMatchObject([{ client, flags: isRead ? ['read'] : [] }]);
  });

  it('leaves messages to oneself from an app unread', async () => {
    const { hamlet } = people;
    await schedule(hamlet, { type: 'direct', to: [hamlet.id], client: 'ZulipMobile' });
    await deliver();
    expect(await messagesIn([{ operator: 'dm', operand: [hamlet.id] }], hamlet)).toMatchObject([{ flags: [] }]);
  });

  it('sends the edited message at the new time with the client that edited it', async () => {
    const { hamlet } = people;
    const id = await schedule(hamlet, toTown());
    fieldsOf(await edit(hamlet, id, { content: 'new', scheduled_delivery_timestamp: due + 60, client: 'ZulipMobile' }));
    await deliver(3600);
    expect(await inTown()).toEqual([]);
    await deliver(60);
    expect(await inTown()).toMatchObject([{ content: 'new', client: 'ZulipMobile' }]);
  });

  it('sends to users without a previous conversation', async () => {
    const { hamlet, cordelia } = people;
    await schedule(hamlet, toCordelia());
    await deliver();
    expect(await messagesIn([{ operator: 'dm', operand: [hamlet.id] }], cordelia)).toMatchObject([
      { type: 'private', content: 'later *on*' },
    ]);
  });

  it('creates a poll from a poll command', async () => {
    await schedule(people.hamlet, { ...toTown(), content: '/poll When?\nnow' });
    await deliver();
    expect(await inTown()).toMatchObject([{ submessages: [{ msg_type: 'widget' }] }]);
  });

  describe('failure', () => {
    const isoOf = (seconds: number) =>
      new Date(seconds * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00:00');
    const failing = async (id: number, failure: string, queue: TestQueue) => {
      const failed = shown(id, { failed: true });
      expect(await list(people.hamlet)).toEqual([failed]);
      const [update, notice, ...rest] = await heard(queue);
      expect(update).toEqual({ type: 'scheduled_messages', op: 'update', scheduled_message: failed });
      expect(notice.message).toMatchObject({ sender_full_name: 'Notification Bot', type: 'private' });
      expect(rest).toEqual([]);
      expect(await fromBot(people.hamlet)).toMatchObject([
        {
          content:
            `The message you scheduled for <time:${isoOf(due)}>  was not sent because of the following error:` +
            `\n\n> ${failure}\n\n[View scheduled messages](#scheduled)`,
        },
      ]);
      expect(await inTown(people.polonius)).toEqual([]);
    };

    it('is published for a missing permission and not retried before an edit', async () => {
      const { hamlet } = people;
      const id = await schedule(hamlet, toTown());
      const queue = await openQueue(server, hamlet);
      const members = await allowSending('nobody');
      await deliver();
      await failing(id, 'You do not have permission to post in this channel.', queue);
      await allowSending(members);
      await deliver(60);
      expect(await list(hamlet)).toMatchObject([{ failed: true }]);

      expectRefusal(await edit(hamlet, id, { content: 'again' }), PAST);
      const next = due + 7200;
      fieldsOf(await edit(hamlet, id, { scheduled_delivery_timestamp: next }));
      expect(await list(hamlet)).toEqual([shown(id, { scheduled_delivery_timestamp: next })]);
      await deliver(7200);
      expect(await inTown(people.polonius)).toHaveLength(1);
      expect(await list(hamlet)).toEqual([]);
    });

    async function allowSending(to: 'nobody' | number): Promise<number> {
      return server.storage.uow.write(server.realmId, async (tx) => {
        const channel = (await tx.channels.find(server.realmId, town as never))!;
        const { nobody } = await tx.groups.systemGroupIds(server.realmId);
        const canSendMessage = (to === 'nobody' ? nobody : to) as typeof nobody;
        await tx.channels.update({ ...channel, permissions: { ...channel.permissions, canSendMessage } });
        return channel.permissions.canSendMessage;
      });
    }

    it('happens if the server was down for more than ten minutes', async () => {
      const id = await schedule(people.hamlet, toTown());
      const queue = await openQueue(server, people.hamlet);
      await deliver(3600 + 601);
      await failing(id, 'Message could not be sent at the scheduled time.', queue);
    });

    it('does not happen within ten minutes of the due time', async () => {
      await schedule(people.hamlet, toTown());
      await deliver(3600 + 600);
      expect(await inTown()).toHaveLength(1);
    });

    it('is published after failed retries of unknown errors', async () => {
      const { hamlet } = people;
      const id = await schedule(hamlet, toTown());
      const queue = await openQueue(server, hamlet);
      const broken = jest.spyOn(server.parts.markdownRenderer, 'parse').mockRejectedValue(new Error('broken'));
      for (const seconds of [3600, 5, 10]) {
        expect(await list(hamlet)).toEqual([shown(id)]);
        await expect(deliver(seconds)).rejects.toThrow('broken');
      }
      broken.mockRestore();
      await failing(id, 'Internal server error', queue);
    });

    it.each([
      ['its sender', 'Account is deactivated'],
      ['the organization', 'This organization has been deactivated'],
    ])('notifies no one when delivery fails because %s was deactivated', async (what, failure) => {
      const { hamlet } = people;
      const id = await schedule(hamlet, toTown());
      await server.storage.uow.write(server.realmId, async (tx) => {
        if (what === 'its sender')
          await tx.users.update({ ...(await tx.users.find(server.realmId, hamlet.id))!, isActive: false });
        else await tx.realms.update({ ...(await tx.realms.get(server.realmId)), isDeactivated: true });
      });
      const before = server.storage.commits;
      await deliver();
      const { message, lastSeq } = await server.storage.uow.read(server.realmId, async (r) => ({
        message: await r.scheduledMessages.find(server.realmId, id as never),
        lastSeq: await r.events.lastSeq(server.realmId),
      }));
      expect(message).toMatchObject({ status: 'failed', failure });
      expect(server.storage.commits).toBeGreaterThan(before);
      await deliver(10);
      expect(await server.storage.uow.read(server.realmId, (r) => r.events.lastSeq(server.realmId))).toBe(lastSeq);
      const told = await server.storage.uow.read(server.realmId, (r) =>
        r.events.listAfter(server.realmId, (lastSeq - 1) as never, 10),
      );
      expect(told.map((stored: Wire) => stored.event?.type)).not.toContain('scheduled_message.changed');
    });
  });
});
