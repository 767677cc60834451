import { createHash } from 'node:crypto';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Public channel; Hamlet, Cordelia and Polonius (a guest) subscribe. */
let general: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  general = await server.createChannel('general', [people.hamlet, people.cordelia, people.polonius]);
});

const say = (to: number | readonly TestUser[], as: TestUser, topic?: string, content?: string) =>
  server.sendMessage(as, to, { topic, content });
const edit = (as: TestUser, id: number, params: object) => server.patch(`/messages/${id}`, as, { ...params });
const edited = async (as: TestUser, id: number, params: object) =>
  expect(fieldsOf(await edit(as, id, params))).toEqual({ detached_uploads: [] });
const get = async (id: number, as = people.hamlet, params = {}): Promise<Wire> =>
  (fieldsOf(await server.get(`/messages/${id}`, as, { allow_empty_topic_name: true, ...params })) as Wire).message;
const flagsOf = async (id: number, as: TestUser) => (await get(id, as)).flags;
const history = async (id: number, as = people.hamlet, params = {}): Promise<Wire[]> =>
  (fieldsOf(await server.get(`/messages/${id}/history`, as, params)) as Wire).message_history;
const list = async (as: TestUser, ...narrow: readonly (readonly [string, unknown])[]): Promise<Wire[]> => {
  const params = { narrow, anchor: 'newest', num_before: 100, num_after: 0, allow_empty_topic_name: true };
  const terms = narrow.map(([operator, operand]) => ({ operator, operand }));
  return (fieldsOf(await server.get('/messages', as, { ...params, narrow: terms })) as Wire).messages;
};
const inTopic = async (as: TestUser, channel: number, topic: string): Promise<string[]> =>
  (await list(as, ['channel', channel], ['topic', topic])).map(({ content }) => content);
const patchRealm = async (params: object) => fieldsOf(await server.patch('/realm', people.desdemona, { ...params }));
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const policies = async (as: TestUser) => (fieldsOf(await server.post('/register', as)) as Wire).user_topics;

const HIDDEN = 'Invalid message(s)';
const UPDATES = { event_types: ['update_message', 'delete_message'] };
const BULK = { client_capabilities: { notification_settings_null: true, bulk_message_deletion: true } };

describe('PATCH /messages/{message_id}: content', () => {
  it('renders new content and shows it with its history', async () => {
    const id = await say(general, people.hamlet);
    server.clock.advance(5);
    await edited(people.hamlet, id, { content: '**bye** https://example.com' });
    const message = await get(id);
    const now = server.clock.now();
    expect(message).toMatchObject({
      content: expect.stringContaining('<p><strong>bye</strong>'),
      last_edit_timestamp: now,
      edit_history: [
        { user_id: people.hamlet.id, timestamp: now, prev_content: 'hello', prev_rendered_content: '<p>hello</p>' },
      ],
    });
    expect(Object.keys(message.edit_history[0])).toHaveLength(4);
    expect(message).not.toHaveProperty('last_moved_timestamp');
    expect((await list(people.hamlet, ['has', 'link'])).map((one) => one.id)).toEqual([id]);
    await edited(people.hamlet, id, { content: 'bye' });
    expect(await list(people.hamlet, ['has', 'link'])).toEqual([]);
    expect((await get(id)).edit_history).toHaveLength(2);
  });

  it('updates the search index to the new content only', async () => {
    const id = await say(general, people.hamlet, 'plans', 'a walrus');
    await edited(people.hamlet, id, { content: 'a penguin' });
    expect((await list(people.hamlet, ['search', 'penguin'])).map((one) => one.id)).toEqual([id]);
    expect(await list(people.hamlet, ['search', 'walrus'])).toEqual([]);
    await edited(people.hamlet, id, { topic: 'zoology', send_notification_to_new_thread: false });
    expect((await list(people.hamlet, ['search', 'zoology'])).map((one) => one.id)).toEqual([id]);
    fieldsOf(await server.delete(`/messages/${id}`, people.hamlet));
    expect(await list(people.hamlet, ['search', 'penguin'])).toEqual([]);
  });

  it('updates pages that were cached before the edit', async () => {
    const id = await say(general, people.hamlet);
    await list(people.hamlet);
    await edited(people.hamlet, id, { content: 'bye' });
    expect((await list(people.hamlet)).at(-1)).toMatchObject({ id, content: '<p>bye</p>' });
  });

  it.each([
    [' ', '(deleted)'],
    ['', '(deleted)'],
    ['\nhi  ', 'hi'],
  ])('stores %p as %p', async (content, stored) => {
    const id = await say(general, people.hamlet);
    await edited(people.hamlet, id, { content });
    expect((await get(id, people.hamlet, { apply_markdown: false })).content).toBe(stored);
  });

  it('updates mentions', async () => {
    const { hamlet, cordelia, polonius } = people;
    const id = await say(general, hamlet, 'plans', '@**Polonius**');
    expect(await flagsOf(id, polonius)).toEqual(['mentioned']);
    await edited(hamlet, id, { content: `@**${cordelia.user.fullName}** @**King Hamlet**` });
    expect(await flagsOf(id, polonius)).toEqual([]);
    expect(await flagsOf(id, cordelia)).toEqual(['mentioned']);
    await server.post('/messages/flags', hamlet, { messages: [id], op: 'add', flag: 'read' });
    expect(await flagsOf(id, hamlet)).toEqual(['read', 'mentioned']);
    await edited(hamlet, id, { content: '@**all** and @**topic**' });
    // A read message remains read.
    expect((await flagsOf(id, hamlet))[0]).toBe('read');
    expect(await flagsOf(id, cordelia)).toEqual(['stream_wildcard_mentioned', 'wildcard_mentioned']);
    // Users who did not receive the message get no mention flags.
    await edited(hamlet, id, { content: '@**Iago**' });
    expect(await flagsOf(id, people.iago)).toEqual(['read', 'historical']);
  });

  it("notifies users with access, with each user's flags", async () => {
    const { hamlet, cordelia, polonius, iago } = people;
    const id = await say(general, hamlet, '');
    const queues = await Promise.all([
      openQueue(server, cordelia, UPDATES),
      openQueue(server, polonius, { ...UPDATES, client_capabilities: { notification_settings_null: true } }),
      openQueue(server, hamlet, UPDATES),
      openQueue(server, iago, UPDATES),
    ]);
    await edited(hamlet, id, { content: `/me greets @**${cordelia.user.fullName}** @**all**` });
    const [ofCordelia, ofPolonius, ofHamlet, ofIago] = await Promise.all(queues.map((q) => eventsAfter(server, q)));
    const event = {
      type: 'update_message',
      user_id: hamlet.id,
      rendering_only: false,
      message_id: id,
      message_ids: [id],
      flags: ['mentioned', 'stream_wildcard_mentioned'],
      edit_timestamp: server.clock.now(),
      stream_id: general,
      stream_name: 'general',
      orig_content: 'hello',
      orig_rendered_content: '<p>hello</p>',
      content: `/me greets @**${cordelia.user.fullName}** @**all**`,
      rendered_content: expect.stringContaining('<p>/me greets '),
      is_me_message: true,
    };
    expect(ofCordelia).toEqual([event]);
    expect(ofPolonius).toEqual([{ ...event, flags: ['stream_wildcard_mentioned'] }]);
    expect(ofHamlet).toEqual([{ ...event, flags: ['stream_wildcard_mentioned'] }]);
    expect(ofIago).toEqual([]);
  });

  it('publishes an edit of a direct message to its participants without a channel', async () => {
    const { hamlet, cordelia, desdemona } = people;
    const id = await say([hamlet], cordelia);
    const queues = await Promise.all([hamlet, desdemona].map((who) => openQueue(server, who, UPDATES)));
    await edited(cordelia, id, { content: 'bye' });
    const [ofHamlet, ofDesdemona] = await Promise.all(queues.map((q) => eventsAfter(server, q)));
    expect(ofDesdemona).toEqual([]);
    expect(ofHamlet).toEqual([
      {
        type: 'update_message',
        user_id: cordelia.id,
        rendering_only: false,
        message_id: id,
        message_ids: [id],
        flags: [],
        edit_timestamp: server.clock.now(),
        orig_content: 'hello',
        orig_rendered_content: '<p>hello</p>',
        content: 'bye',
        rendered_content: '<p>bye</p>',
        is_me_message: false,
      },
    ]);
    expect((await get(id)).content).toBe('<p>bye</p>');
  });

  it('publishes nothing to former subscribers of a private channel', async () => {
    const { hamlet, cordelia } = people;
    const secret = await server.createChannel('secret', [hamlet, cordelia], { invite_only: true });
    const id = await say(secret, hamlet);
    const queue = await openQueue(server, cordelia, UPDATES);
    fieldsOf(await server.delete('/users/me/subscriptions', cordelia, { subscriptions: ['secret'] }));
    await edited(hamlet, id, { content: 'among us' });
    expect(await eventsAfter(server, queue)).toEqual([]);
  });
});

describe('PATCH /messages/{message_id} error', () => {
  const NOTHING = 'Nothing to change';
  const CONTENT = { content: 'bye' };

  it('reports edits that are not allowed', async () => {
    const { hamlet, cordelia, iago, desdemona } = people;
    const id = await say(general, hamlet);
    for (const who of [cordelia, iago, desdemona]) {
      expectRefusal(await edit(who, id, CONTENT), "You don't have permission to edit this message");
    }
    server.clock.advance(620);
    await edited(hamlet, id, CONTENT);
    server.clock.advance(1);
    expectRefusal(await edit(hamlet, id, { content: 'x' }), 'The time limit for editing this message has passed');
    await patchRealm({ message_content_edit_limit_seconds: '"unlimited"' });
    await edited(hamlet, id, { content: 'x' });
    await patchRealm({ allow_message_editing: false });
    expectRefusal(await edit(hamlet, id, CONTENT), 'Your organization has turned off message editing');
    expectRefusal(await edit(cordelia, id, CONTENT), 'Your organization has turned off message editing');
    expect((await get(id)).content).toBe('<p>x</p>');
  });

  it('reports unknown messages and messages of other senders', async () => {
    const { hamlet, cordelia, iago, polonius } = people;
    const direct = await say([hamlet], cordelia);
    const open = await server.createChannel('open', []);
    expectRefusal(await edit(iago, direct, CONTENT), HIDDEN);
    expectRefusal(await edit(polonius, await say(open, cordelia), CONTENT), HIDDEN);
    expectRefusal(await edit(iago, 999_999, {}), HIDDEN);
    const realmId = await server.addRealm('lear');
    const king = await server.addUser({ email: 'king@lear.org', fullName: 'King Lear', role: 'owner', realmId });
    const id = await say(general, hamlet);
    const foreign = { as: king, realm: 'lear', params: CONTENT };
    expectRefusal(await server.request('PATCH', `/messages/${id}`, foreign), HIDDEN);
    expect((await server.request('GET', `/messages/${id}/history`, { as: king, realm: 'lear' })).body.msg).toBe(HIDDEN);
  });

  it('reports invalid parameters', async () => {
    const { hamlet, cordelia } = people;
    const id = await say(general, hamlet);
    const direct = await say([cordelia], hamlet);
    const other = await server.createChannel('other', [hamlet]);
    const refused = async (params: object, msg: string, on = id) => expectRefusal(await edit(hamlet, on, params), msg);
    await refused({}, NOTHING);
    await refused({ topic: ' plans ' }, NOTHING);
    await refused({ stream_id: general, send_notification_to_new_thread: false }, NOTHING);
    await refused({ topic: '' }, NOTHING, direct);
    await refused({ stream_id: general }, 'Direct messages cannot be moved to channels.', direct);
    await refused({ topic: 'x' }, 'Direct messages cannot have topics.', direct);
    const mode = { propagate_mode: 'change_all' };
    await refused({ ...CONTENT, ...mode }, 'Invalid propagate_mode without topic edit');
    await refused({ topic: 'x', propagate_mode: 'some' }, 'Invalid propagate_mode');
    for (const topic of ['✔', '✔ general chat']) await refused({ topic }, 'General chat cannot be marked as resolved');
    await refused({ topic: 'a\nb' }, 'Invalid character in topic, at position 2!');
    await refused({ ...CONTENT, stream_id: other }, 'Cannot change message content while changing channel');
    await refused({ content: 'a\0b' }, 'Message must not contain null bytes');
    await refused({ stream_id: 999_999 }, 'Invalid channel ID');
    await refused({ stream_id: -1 }, 'stream_id is too small');
    expect(await get(id)).not.toHaveProperty('edit_history');
    const both = await edit(hamlet, id, { topic: 'x', subject: 'y' });
    expect(both.body.msg).toBe("Can't decide between 'topic' and 'subject' arguments");
  });

  it('reports an outdated previous content hash and edits of polls', async () => {
    const { hamlet } = people;
    const id = await say(general, hamlet);
    const stale = "'prev_content_sha256' value does not match the expected value.";
    const mismatch = { code: 'EXPECTATION_MISMATCH' };
    for (const params of [CONTENT, { topic: 'x' }]) {
      expectRefusal(await edit(hamlet, id, { ...params, prev_content_sha256: sha('other') }), stale, mismatch);
    }
    await edited(hamlet, id, { content: 'bye ä', prev_content_sha256: sha('hello') });
    await edited(hamlet, id, { content: 'bye', prev_content_sha256: sha('bye ä') });
    const poll = await say(general, hamlet, 'plans', '/poll tea or coffee?');
    expectRefusal(await edit(hamlet, poll, CONTENT), 'Widgets cannot be edited.');
    await edited(hamlet, poll, { topic: 'polls' });
  });

  it('reports wildcard mentions without permission', async () => {
    const { hamlet } = people;
    const crowd = await server.createChannel('crowd', [hamlet]);
    const names = Array.from({ length: 16 }, (_, n) => `extra${n}`);
    const ids: number[] = [];
    for (const name of names) ids.push((await server.addUser({ email: `${name}@zulip.com`, fullName: name })).id);
    fieldsOf(
      await server.post('/users/me/subscriptions', people.desdemona, {
        subscriptions: [{ name: 'crowd' }],
        principals: ids,
      }),
    );
    const id = await say(crowd, hamlet);
    expectRefusal(
      await edit(hamlet, id, { content: '@**all**' }),
      'You do not have permission to use channel wildcard mentions in this channel.',
      { code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED' },
    );
  });
});

describe('PATCH /messages/{message_id}: topic', () => {
  it('moves one message, the message and later ones, or the whole topic, ignoring case', async () => {
    const { hamlet, iago } = people;
    const quiet = { send_notification_to_new_thread: false };
    const fill = async (topic: string) => {
      const ids: number[] = [];
      for (const spelling of [topic, topic.toUpperCase(), topic])
        ids.push(await say(general, iago, spelling, `${ids.length}`));
      return ids;
    };
    const [, second] = await fill('one');
    await edited(hamlet, second!, { topic: 'one moved', ...quiet });
    expect(await inTopic(hamlet, general, 'one moved')).toEqual(['<p>1</p>']);
    const [, later] = await fill('later');
    await edited(hamlet, later!, { topic: 'later moved', propagate_mode: 'change_later', ...quiet });
    expect(await inTopic(hamlet, general, 'later')).toEqual(['<p>0</p>']);
    expect(await inTopic(hamlet, general, 'later moved')).toEqual(['<p>1</p>', '<p>2</p>']);
    const [, all] = await fill('all');
    await edited(hamlet, all!, { topic: 'all moved', propagate_mode: 'change_all', ...quiet });
    expect(await inTopic(hamlet, general, 'all')).toEqual([]);
    expect(await inTopic(hamlet, general, 'all moved')).toHaveLength(3);
  });

  it('shows the new topic and publishes all moved messages', async () => {
    const { hamlet, cordelia } = people;
    const ids = [await say(general, hamlet, ''), await say(general, hamlet, '')];
    const queue = await openQueue(server, cordelia, UPDATES);
    await edited(hamlet, ids[1]!, { topic: 'see https://example.com/x', content: 'two', propagate_mode: 'change_all' });
    const links = [{ text: 'https://example.com/x', url: 'https://example.com/x' }];
    const now = server.clock.now();
    const move = { prev_topic: '', topic: 'see https://example.com/x' };
    expect(await get(ids[0]!)).toMatchObject({
      subject: move.topic,
      topic_links: links,
      last_moved_timestamp: now,
      edit_history: [{ user_id: hamlet.id, timestamp: now, ...move }],
    });
    expect(await get(ids[0]!)).not.toHaveProperty('last_edit_timestamp');
    expect((await get(ids[1]!)).edit_history).toEqual([
      {
        user_id: hamlet.id,
        timestamp: now,
        ...move,
        prev_content: 'hello',
        prev_rendered_content: '<p>hello</p>',
      },
    ]);
    const params = { allow_empty_topic_name: false };
    expect((await get(ids[0]!, hamlet, params)).edit_history[0].prev_topic).toBe('general chat');
    expect(await eventsAfter(server, queue)).toEqual([
      {
        type: 'update_message',
        user_id: hamlet.id,
        rendering_only: false,
        message_id: ids[1],
        message_ids: ids,
        flags: [],
        edit_timestamp: now,
        stream_id: general,
        stream_name: 'general',
        propagate_mode: 'change_all',
        orig_subject: '',
        subject: move.topic,
        topic_links: links,
        orig_content: 'hello',
        orig_rendered_content: '<p>hello</p>',
        content: 'two',
        rendered_content: '<p>two</p>',
        is_me_message: false,
      },
    ]);
  });

  it('keeps unread messages unread in the new topic', async () => {
    const { cordelia, hamlet } = people;
    await server.post('/mark_all_as_read', cordelia);
    const ids = [await say(general, hamlet), await say(general, hamlet)];
    await edited(hamlet, ids[0]!, {
      topic: 'moved',
      propagate_mode: 'change_all',
      send_notification_to_new_thread: false,
    });
    const { unread_msgs } = fieldsOf(await server.post('/register', cordelia)) as Wire;
    expect(unread_msgs.streams).toEqual([{ stream_id: general, topic: 'moved', unread_message_ids: ids }]);
  });

  it.each`
    mode              | topic      | notices
    ${'change_one'}   | ${'full'}  | ${['A message was moved from this topic to', '>A message</a> was moved here from']}
    ${'change_later'} | ${'full'}  | ${['2 messages were moved from this topic to', '2 messages were moved here from']}
    ${'change_all'}   | ${'full'}  | ${['This topic was moved to', '3 messages were moved here from']}
    ${'change_all'}   | ${'empty'} | ${['This topic was moved to', 'This topic was moved here from']}
  `('posts notices in both threads: $mode to $topic', async ({ mode, topic, notices }) => {
    const { hamlet, iago } = people;
    await say(general, iago, 'full', 'before');
    const ids = [await say(general, iago), await say(general, iago), await say(general, iago)];
    await edited(hamlet, ids[1]!, { topic, propagate_mode: mode, send_notification_to_old_thread: true });
    const [left, arrived] = [
      (await inTopic(hamlet, general, 'plans')).at(-1),
      (await inTopic(hamlet, general, topic)).at(-1),
    ];
    expect(left).toContain(notices[0]);
    expect(left).toContain(`#general &gt; ${topic}`);
    expect(arrived).toContain(notices[1]);
    expect(arrived).toContain('#general &gt; plans');
    for (const text of [left, arrived]) expect(text).toContain(`data-user-id="${hamlet.id}">King Hamlet</span>.</p>`);
    if (mode === 'change_one') expect(arrived).toContain(`/topic/full/near/${ids[1]}"`);
  });

  it.each`
    mode              | topic      | notices
    ${'change_one'}   | ${'PLANS'} | ${['A message was moved from this topic to', '>A message</a> was moved here from']}
    ${'change_later'} | ${'PLANS'} | ${['2 messages were moved from this topic to', '2 messages were moved here from']}
    ${'change_all'}   | ${'PLANS'} | ${['This topic was moved to', 'This topic was moved here from']}
  `('counts the moved messages if only the case of the topic changes: $mode', async ({ mode, topic, notices }) => {
    const { hamlet, iago } = people;
    const ids = [await say(general, iago), await say(general, iago), await say(general, iago)];
    await edited(hamlet, ids[1]!, { topic, propagate_mode: mode, send_notification_to_old_thread: true });
    const [arrived, left] = (await inTopic(hamlet, general, 'plans')).slice(-2);
    expect([left, arrived]).toEqual(notices.map((notice: string) => expect.stringContaining(notice)));
  });

  it('posts the notice in the new topic before the notice in the old one', async () => {
    const { hamlet, iago } = people;
    const id = await say(general, iago);
    const queue = await openQueue(server, hamlet, { event_types: ['message'] });
    await edited(hamlet, id, { topic: 'new', propagate_mode: 'change_all', send_notification_to_old_thread: true });
    const topics = ((await eventsAfter(server, queue)) as Wire[]).map(({ message }) => message.subject);
    expect(topics).toEqual(['new', 'plans']);
  });

  it('moves topic policies and keeps the more visible one', async () => {
    const { hamlet, cordelia, iago } = people;
    const choose = (who: TestUser, topic: string, visibility: 'muted' | 'followed') =>
      server.storage.uow.write(server.realmId, (tx) =>
        tx.topicPolicies.put({
          realmId: server.realmId,
          userId: who.id,
          channelId: general as never,
          topic,
          visibility,
          changedAt: 5,
        }),
      );
    const id = await say(general, iago);
    await choose(hamlet, 'plans', 'muted');
    await choose(cordelia, 'plans', 'followed');
    await edited(hamlet, id, { topic: 'new', propagate_mode: 'change_all', send_notification_to_new_thread: false });
    expect(await policies(hamlet)).toMatchObject([{ topic_name: 'new', visibility_policy: 1 }]);
    expect(await policies(cordelia)).toMatchObject([{ topic_name: 'new', visibility_policy: 3 }]);
    const other = await say(general, iago, 'busy');
    await choose(cordelia, 'busy', 'muted');
    const queue = await openQueue(server, hamlet, { event_types: ['user_topic'] });
    await edited(hamlet, id, { topic: 'busy', propagate_mode: 'change_all' });
    expect(await policies(hamlet)).toEqual([]);
    expect(await policies(cordelia)).toMatchObject([{ topic_name: 'busy', visibility_policy: 3 }]);
    expect(await eventsAfter(server, queue)).toMatchObject([{ topic_name: 'new', visibility_policy: 0 }]);
    // A partial move keeps topic policies in place.
    await edited(hamlet, other, { topic: 'elsewhere' });
    expect(await policies(cordelia)).toMatchObject([{ topic_name: 'busy' }]);
  });

  it('requires permission to move messages within the time limit', async () => {
    const { hamlet, shiva, polonius, desdemona } = people;
    const id = await say(general, desdemona);
    const late = "The time limit for editing this message's topic has passed.";
    await edited(polonius, id, { topic: 'by a guest' });
    const { nobody, members } = await server.systemGroups();
    server.clock.advance(604_800 + 21);
    expectRefusal(await edit(hamlet, id, { topic: 'x' }), late);
    await edited(shiva, id, { topic: 'by a moderator' });
    await patchRealm({ can_move_messages_between_topics_group: { new: nobody } });
    expectRefusal(await edit(shiva, id, { topic: 'x' }), "You don't have permission to edit this message");
    await edited(desdemona, id, { topic: 'by the owner' });
    await patchRealm({ can_move_messages_between_topics_group: { new: members } });
    const young = await say(general, desdemona, 'by the owner');
    expectRefusal(
      await edit(hamlet, young, { topic: 'x', propagate_mode: 'change_all' }),
      // Two notices are as recent as the message.
      'You only have permission to move the 2/3 most recent messages in this topic.',
      {
        code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
        first_message_id_allowed_to_move: expect.any(Number),
        total_messages_in_topic: 3,
        total_messages_allowed_to_move: 2,
      },
    );
    await edited(hamlet, young, { topic: 'x', propagate_mode: 'change_later' });
  });
});

describe('PATCH /messages/{message_id}: resolved topic', () => {
  const all = { propagate_mode: 'change_all' };

  it('posts a notice even if the topic is renamed at the same time', async () => {
    const { hamlet, iago } = people;
    const id = await say(general, iago);
    await edited(hamlet, id, { topic: '✔ other', ...all });
    const [, ...notices] = await inTopic(hamlet, general, '✔ other');
    expect(notices).toHaveLength(2);
    expect(notices[0]).toMatch(/ has marked this topic as resolved\.<\/p>$/);
    expect(notices[1]).toContain('This topic was moved here from <a');
    await edited(hamlet, id, { topic: 'third', ...all, send_notification_to_new_thread: false });
    expect((await inTopic(hamlet, general, 'third')).at(-1)).toMatch(/ has marked this topic as unresolved\.<\/p>$/);
  });

  it('posts a notice and removes it if undone within a minute', async () => {
    const { hamlet, iago } = people;
    const id = await say(general, iago);
    await edited(hamlet, id, { topic: '✔ plans', ...all });
    const resolved = await inTopic(hamlet, general, '✔ plans');
    expect(resolved).toHaveLength(2);
    expect(resolved[1]).toMatch(/King Hamlet<\/span> has marked this topic as resolved\.<\/p>$/);
    await edited(hamlet, id, { topic: 'plans', ...all });
    expect(await inTopic(hamlet, general, 'plans')).toEqual(['<p>hello</p>']);
    expect(await get(id)).not.toHaveProperty('last_moved_timestamp');
    expect((await get(id)).edit_history.map(({ topic }: Wire) => topic)).toEqual(['plans', '✔ plans']);
    await edited(hamlet, id, { topic: '✔ plans', ...all });
    server.clock.advance(61);
    await edited(hamlet, id, { topic: 'plans', ...all });
    expect((await inTopic(hamlet, general, 'plans')).map((text) => /as (un)?resolved/.exec(text)?.[0])).toEqual([
      undefined,
      'as resolved',
      'as unresolved',
    ]);
  });

  it('leaves the notice unread for users who want it', async () => {
    const { hamlet, cordelia, shiva, iago } = people;
    fieldsOf(await server.patch('/settings', cordelia, { resolved_topic_notice_auto_read_policy: 'never' }));
    fieldsOf(await server.patch('/settings', shiva, { automatically_follow_topics_policy: 1 }));
    const second = await server.createChannel('second', [shiva, iago, hamlet, cordelia]);
    const id = await say(second, hamlet);
    // Shiva follows the topic by writing in it, like Hamlet who started it.
    await say(second, shiva);
    const queue = await openQueue(server, cordelia, { event_types: ['message'] });
    await edited(hamlet, id, { topic: '✔ plans', ...all });
    const notice = (await list(hamlet, ['channel', second])).at(-1).id;
    const read = await Promise.all(
      [hamlet, cordelia, shiva, iago].map(async (who) => (await flagsOf(notice, who)).includes('read')),
    );
    expect(read).toEqual([true, false, false, true]);
    expect(await eventsAfter(server, queue)).toMatchObject([{ message: { id: notice }, flags: [] }]);
  });

  it('requires permission by the organization or the channel, without time limit', async () => {
    const { hamlet, desdemona, iago } = people;
    const id = await say(general, iago);
    const { nobody, members } = await server.systemGroups();
    await patchRealm({ can_resolve_topics_group: { new: nobody } });
    server.clock.advance(9e8);
    const refusal = "You don't have permission to resolve topics in this channel.";
    for (const who of [hamlet, desdemona]) expectRefusal(await edit(who, id, { topic: '✔ plans' }), refusal);
    const own = await server.createChannel('own', [hamlet], { can_resolve_topics_group: members });
    const inOwn = await say(own, iago);
    await edited(hamlet, inOwn, { topic: '✔ plans' });
  });
});

describe('PATCH /messages/{message_id}: channel', () => {
  const all = { propagate_mode: 'change_all' };
  const quiet = { send_notification_to_new_thread: false };

  it('moves messages into view of new readers and out of view of users without access', async () => {
    const { hamlet, cordelia, polonius, iago } = people;
    const other = await server.createChannel('other', [hamlet, iago]);
    const ids = [await say(general, iago), await say(general, iago)];
    await server.post('/messages/flags', cordelia, { messages: ids, op: 'add', flag: 'starred' });
    const open = (who: TestUser) => openQueue(server, who, { ...UPDATES, ...BULK });
    const queues = await Promise.all([open(hamlet), open(cordelia), open(iago), open(polonius), open(people.shiva)]);
    await edited(hamlet, ids[0]!, { stream_id: other, ...all, ...quiet });
    const [ofHamlet, ofCordelia, ofIago, ofPolonius, ofShiva] = await Promise.all(
      queues.map((queue) => eventsAfter(server, queue)),
    );
    const update = {
      type: 'update_message',
      user_id: hamlet.id,
      rendering_only: false,
      message_id: ids[0],
      message_ids: ids,
      flags: [],
      edit_timestamp: server.clock.now(),
      stream_id: general,
      stream_name: 'general',
      new_stream_id: other,
      propagate_mode: 'change_all',
      orig_subject: 'plans',
    };
    expect(ofHamlet).toEqual([update]);
    // Cordelia subscribes to the old channel only and can still read them.
    expect(ofCordelia).toEqual([{ ...update, flags: ['read'] }]);
    // Iago did not subscribe to the old channel and never received them.
    expect(ofIago).toEqual([{ ...update, flags: ['read'] }]);
    expect(ofPolonius).toEqual([
      { type: 'delete_message', message_type: 'stream', stream_id: general, topic: 'plans', message_ids: ids },
    ]);
    expect(ofShiva).toEqual([]);
    expectRefusal(await server.get(`/messages/${ids[0]}`, polonius), HIDDEN);
    expect(await get(ids[0]!, cordelia)).toMatchObject({
      stream_id: other,
      flags: ['read', 'historical'],
      edit_history: [{ prev_stream: general, stream: other }],
      last_moved_timestamp: server.clock.now(),
    });
  });

  it('removes messages moved to a private channel from members who had left the public one', async () => {
    const { hamlet, cordelia, iago } = people;
    const secret = await server.createChannel('secret', [hamlet], { invite_only: true });
    const id = await say(general, hamlet, 'plans');
    fieldsOf(await server.delete('/users/me/subscriptions', cordelia, { subscriptions: ['general'] }));
    const unseen = await say(general, hamlet, 'plans');
    const open = (user: TestUser) => openQueue(server, user, { ...UPDATES, ...BULK });
    const queues = await Promise.all([open(cordelia), open(iago)]);
    await edited(hamlet, unseen, { stream_id: secret, propagate_mode: 'change_all' });
    const [ofCordelia, ofIago] = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(ofCordelia).toEqual([
      expect.objectContaining({ type: 'delete_message', stream_id: general, message_ids: [id, unseen] }),
    ]);
    // Iago never received the messages.
    expect(ofIago).toEqual([]);
  });

  it('hides the name of a private channel from readers who cannot see it', async () => {
    const { hamlet, cordelia, polonius, desdemona } = people;
    const secret = await server.createChannel('acquisition', [hamlet], { invite_only: true });
    const id = await say(secret, hamlet);
    const readers = [hamlet, desdemona, cordelia, polonius];
    const queues = await Promise.all(readers.map((who) => openQueue(server, who, UPDATES)));
    await patchRealm({ can_move_messages_between_channels_group: { new: (await server.systemGroups()).members } });
    await edited(hamlet, id, { stream_id: general, ...quiet });
    const events = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const moved = { type: 'update_message', message_id: id, stream_id: secret, new_stream_id: general };
    const [ofHamlet, ...others] = events.map((list) => list.filter(({ type }) => type === 'update_message'));
    expect(ofHamlet).toMatchObject([{ ...moved, stream_name: 'acquisition' }]);
    for (const list of others.slice(1)) {
      expect(list).toMatchObject([moved]);
      expect(list[0]).not.toHaveProperty('stream_name');
    }
    expect(JSON.stringify(events.slice(2))).not.toContain('acquisition');
  });

  it('names a private channel in the notice only if the user who moves the messages wants a notice', async () => {
    const { hamlet, cordelia } = people;
    await patchRealm({ can_move_messages_between_channels_group: { new: (await server.systemGroups()).members } });
    const secret = await server.createChannel('acquisition', [hamlet], { invite_only: true });
    for (const [topic, isNamed] of [
      ['told', true],
      ['untold', false],
    ] as const) {
      const id = await say(secret, hamlet, topic);
      await edited(hamlet, id, { stream_id: general, send_notification_to_new_thread: isNamed });
      const read = await inTopic(cordelia, general, topic);
      expect([topic, read.some((content) => content.includes('acquisition'))]).toEqual([topic, isNamed]);
    }
  });

  it('delivers messages moved to a protected history to its subscribers as read', async () => {
    const { hamlet, iago, cordelia } = people;
    const vault = await server.createChannel('vault', [hamlet, iago], {
      invite_only: true,
      history_public_to_subscribers: false,
    });
    const id = await say(general, cordelia);
    const queue = await openQueue(server, iago, UPDATES);
    await edited(hamlet, id, { stream_id: vault, topic: 'kept', ...quiet });
    expect(await flagsOf(id, iago)).toEqual(['read']);
    expect(await eventsAfter(server, queue)).toMatchObject([
      { type: 'update_message', flags: ['read'], new_stream_id: vault, subject: 'kept', orig_subject: 'plans' },
    ]);
    expectRefusal(await server.get(`/messages/${id}`, cordelia), HIDDEN);
  });

  it('moves only messages visible to the caller out of a protected history', async () => {
    const { hamlet, iago } = people;
    const vault = await server.createChannel('vault', [hamlet], {
      invite_only: true,
      history_public_to_subscribers: false,
    });
    const early = await say(vault, hamlet);
    fieldsOf(
      await server.post('/users/me/subscriptions', hamlet, {
        subscriptions: [{ name: 'vault' }],
        principals: [iago.id],
      }),
    );
    const late = [await say(vault, hamlet), await say(vault, hamlet)];
    const queue = await openQueue(server, iago, UPDATES);
    // Moves within the channel affect all messages; each user is notified of their own.
    await edited(hamlet, early, { topic: 'moved', ...all, ...quiet });
    expect(await eventsAfter(server, queue)).toMatchObject([
      { message_id: late[0], message_ids: late, subject: 'moved' },
    ]);
    await edited(iago, late[1]!, { stream_id: general, ...all, ...quiet });
    expect(await inTopic(hamlet, vault, 'moved')).toEqual(['<p>hello</p>']);
    expect(await inTopic(hamlet, general, 'moved')).toHaveLength(2);
  });

  it('names only the messages that a subscriber has when they leave a protected history', async () => {
    const { hamlet, iago, cordelia } = people;
    const isProtected = { invite_only: true, history_public_to_subscribers: false };
    const vault = await server.createChannel('vault', [hamlet], isProtected);
    const other = await server.createChannel('other vault', [hamlet], { invite_only: true });
    const invite = async ({ id }: TestUser) => {
      const params = { subscriptions: [{ name: 'vault' }], principals: [id] };
      fieldsOf(await server.post('/users/me/subscriptions', hamlet, params));
    };
    const early = await say(vault, hamlet, 'plans');
    await invite(iago);
    const late = await say(vault, hamlet, 'plans');
    await invite(cordelia);
    const open = (user: TestUser) => openQueue(server, user, { ...UPDATES, ...BULK });
    const queues = await Promise.all([open(iago), open(cordelia)]);
    await edited(hamlet, early, { stream_id: other, propagate_mode: 'change_all' });
    const [ofIago, ofCordelia] = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(ofIago).toEqual([expect.objectContaining({ type: 'delete_message', topic: 'plans', message_ids: [late] })]);
    expect(ofCordelia).toEqual([]);
  });

  it('posts notices with the old and the new location', async () => {
    const { hamlet, iago } = people;
    const other = await server.createChannel('other', [hamlet]);
    const id = await say(general, iago);
    await edited(hamlet, id, { stream_id: other, ...all, send_notification_to_old_thread: true });
    expect((await inTopic(hamlet, general, 'plans'))[0]).toContain('This topic was moved to <a');
    expect((await inTopic(hamlet, other, 'plans'))[1]).toContain('This topic was moved here from <a');
  });

  it('requires permission by the organization or the channels within the time limit', async () => {
    const { hamlet, iago, polonius } = people;
    const { nobody, moderators } = await server.systemGroups();
    const [other, closed, readOnly] = [
      await server.createChannel('other', [hamlet, polonius]),
      await server.createChannel('closed', [iago], { invite_only: true }),
      await server.createChannel('read only', [hamlet], { can_send_message_group: moderators }),
    ];
    const strict = await server.createChannel('strict', [hamlet], { can_create_topic_group: moderators });
    const named = await server.createChannel('named', [hamlet], { topics_policy: 'disable_empty_topic' });
    const id = await say(general, iago);
    const refused = async (who: TestUser, params: object, msg: string, on = id) =>
      expectRefusal(await edit(who, on, params), msg);
    await refused(polonius, { stream_id: other }, "You don't have permission to move this message");
    await refused(hamlet, { stream_id: closed }, 'Invalid channel ID');
    await refused(hamlet, { stream_id: readOnly }, 'You do not have permission to post in this channel.');
    await refused(hamlet, { stream_id: strict }, 'You do not have permission to create new topics in this channel.');
    const unnamed = await say(general, iago, '');
    const policy = await edit(hamlet, unnamed, { stream_id: named });
    expect(policy.status).toBe(400);
    server.clock.advance(604_800 + 21);
    await refused(hamlet, { stream_id: other }, "The time limit for editing this message's channel has passed");
    await patchRealm({ can_move_messages_between_channels_group: { new: nobody } });
    await refused(hamlet, { stream_id: other }, "You don't have permission to move this message");
    await edited(iago, id, { stream_id: other });
    expect((await get(id)).stream_id).toBe(other);
  });

  it('marks the destination channel as active', async () => {
    const { hamlet, iago } = people;
    const other = await server.createChannel('other', [hamlet]);
    await server.changeChannel('other', { isRecentlyActive: false });
    const queue = await openQueue(server, hamlet, { event_types: ['stream'] });
    await edited(hamlet, await say(general, iago), { stream_id: other, ...quiet });
    expect(await eventsAfter(server, queue)).toMatchObject([
      { op: 'update', property: 'is_recently_active', value: true, stream_id: other, name: 'other' },
    ]);
  });

  it('removes topic policies of users who lose access to the topic', async () => {
    const { hamlet, cordelia } = people;
    const closed = await server.createChannel('closed', [hamlet], { invite_only: true });
    const id = await say(general, cordelia);
    expect(await policies(cordelia)).toHaveLength(1);
    await edited(hamlet, id, { stream_id: closed, ...all, ...quiet });
    expect(await policies(cordelia)).toEqual([]);
  });
});

describe('GET /messages/{message_id}/history', () => {
  it('returns only the current version if the message was never changed', async () => {
    const { hamlet } = people;
    const [id, direct] = [await say(general, hamlet, ''), await say([people.iago], hamlet)];
    const snapshot = {
      topic: 'general chat',
      content: 'hello',
      rendered_content: '<p>hello</p>',
      timestamp: server.clock.now(),
      user_id: hamlet.id,
    };
    expect(await history(id)).toEqual([snapshot]);
    expect(await history(id, hamlet, { allow_empty_topic_name: true })).toEqual([{ ...snapshot, topic: '' }]);
    expect(await history(direct)).toEqual([{ ...snapshot, topic: '' }]);
  });

  it('returns a snapshot per change, oldest first', async () => {
    const { hamlet, iago } = people;
    const other = await server.createChannel('other', [hamlet]);
    const id = await say(general, hamlet, 'plans', 'content before edit');
    const companion = await say(general, hamlet);
    const sent = server.clock.now();
    server.clock.advance(1);
    await edited(hamlet, id, { content: 'content after edit' });
    server.clock.advance(1);
    await edited(iago, id, { topic: '', stream_id: other, propagate_mode: 'change_all' });
    server.clock.advance(1);
    await edited(hamlet, id, { topic: 'last', content: 'done' });
    const before = { content: 'content before edit', rendered_content: '<p>content before edit</p>' };
    const after = { content: 'content after edit', rendered_content: '<p>content after edit</p>' };
    const moved = { user_id: iago.id, prev_topic: 'plans', topic: '', prev_stream: general, stream: other };
    expect(await history(id, hamlet, { allow_empty_topic_name: true })).toEqual([
      { topic: 'plans', ...before, timestamp: sent, user_id: hamlet.id },
      {
        topic: 'plans',
        ...after,
        timestamp: sent + 1,
        user_id: hamlet.id,
        prev_content: before.content,
        prev_rendered_content: before.rendered_content,
        content_html_diff:
          '<div><p>content <span class="highlight_text_inserted">after</span> ' +
          '<span class="highlight_text_deleted">before</span> edit</p></div>',
      },
      { ...after, timestamp: sent + 2, ...moved },
      {
        topic: 'last',
        content: 'done',
        rendered_content: '<p>done</p>',
        timestamp: sent + 3,
        user_id: hamlet.id,
        prev_topic: '',
        prev_content: after.content,
        prev_rendered_content: after.rendered_content,
        content_html_diff: expect.stringContaining('highlight_text_deleted'),
      },
    ]);
    expect(await history(companion, hamlet, { allow_empty_topic_name: true })).toMatchObject([
      { topic: 'plans', user_id: hamlet.id },
      { timestamp: sent + 2, ...moved },
    ]);
  });

  it("respects the organization's edit history policy", async () => {
    const { hamlet } = people;
    const id = await say(general, hamlet);
    await edited(hamlet, id, { content: 'two' });
    await edited(hamlet, id, { content: 'three', topic: 'moved' });
    const onlyEdited = await say(general, hamlet);
    await edited(hamlet, onlyEdited, { content: 'two' });
    // Fills the page cache.
    await list(hamlet);
    await patchRealm({ message_edit_history_visibility_policy: 'moves' });
    const moves = await history(id);
    expect(moves.map((snapshot) => Object.keys(snapshot).sort())).toEqual([
      ['content', 'rendered_content', 'timestamp', 'topic', 'user_id'],
      ['content', 'prev_topic', 'rendered_content', 'timestamp', 'topic', 'user_id'],
    ]);
    // The previous content is not revealed.
    expect(moves.map(({ content }) => content)).toEqual(['three', 'three']);
    for (const message of [await get(id), (await list(hamlet, ['topic', 'moved'])).find((one) => one.id === id)]) {
      expect(message.edit_history).toEqual([
        { user_id: hamlet.id, timestamp: server.clock.now(), prev_topic: 'plans', topic: 'moved' },
      ]);
    }
    expect(await get(onlyEdited)).not.toHaveProperty('edit_history');
    expect(await get(onlyEdited)).toHaveProperty('last_edit_timestamp');
    await patchRealm({ message_edit_history_visibility_policy: 'none' });
    const disabled = 'Message edit history is disabled in this organization';
    for (const one of [id, 999_999]) expectRefusal(await server.get(`/messages/${one}/history`, hamlet), disabled);
    for (const message of [await get(id), ...(await list(hamlet))]) expect(message).not.toHaveProperty('edit_history');
  });

  it('hides the history together with the message', async () => {
    const { hamlet, iago, cordelia } = people;
    const secret = await server.createChannel('secret', [hamlet], { invite_only: true });
    for (const id of [await say(secret, hamlet), await say([hamlet], cordelia), 999_999]) {
      expectRefusal(await server.get(`/messages/${id}/history`, iago), HIDDEN);
    }
  });
});
