import {
  DeliverReminder,
  DeliverScheduledMessage,
  RemoveTextFromReminders,
  RestoreMessages,
} from '@parley/domain/writing';
import { FixedClock } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const START = new FixedClock().now();
/** Due time: one hour from now. */
let due: number;
const UNKNOWN = 'Reminder does not exist';

/** Public channel; Hamlet and Polonius subscribe. */
let town: number;
/** Message by Iago in `town`. */
let message: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  due = server.clock.now() + 3600;
  town = await server.createChannel('town', [people.hamlet, people.polonius]);
  message = await say('town', 'plans', 'bring *bread*');
});

const say = (to: string | readonly TestUser[], topic: string, content: string) =>
  server.sendMessage(people.iago, to, { topic, content });
const post = (as: TestUser, params: object = {}) =>
  server.post('/reminders', as, { message_id: message, scheduled_delivery_timestamp: due, ...params });
const remind = async (as: TestUser, params: object = {}): Promise<number> =>
  fieldsOf(await post(as, params)).reminder_id;
const list = async (as: TestUser): Promise<Wire[]> => fieldsOf(await server.get('/reminders', as)).reminders as Wire;
async function deliver(seconds = 3600): Promise<void> {
  server.clock.advance(seconds);
  await runJobs(server, server.parley.useCase(DeliverReminder));
  await runJobs(server, server.parley.useCase(DeliverScheduledMessage));
}
async function received(as: TestUser): Promise<Wire[]> {
  const narrow = [
    { operator: 'sender', operand: 'notification-bot@parley.invalid' },
    { operator: 'is', operand: 'dm' },
  ];
  return server.messagesFor(as, { narrow, num_before: 20, apply_markdown: false });
}
const nearUrl = (topic: string, id: number) => `${server.url}/#narrow/channel/${town}-town/topic/${topic}/near/${id}`;
const ofIago = (verb: string, url: string) => `@_**Iago|${people.iago.id}** [${verb}](${url})`;
const textOf = () =>
  `You requested a reminder for #**town>plans@${message}**.\n\n${ofIago('said', nearUrl('plans', message))}:\n` +
  '```quote\nbring *bread*\n```';

describe('reminder', () => {
  it('can refer to a notice', async () => {
    const { hamlet } = people;
    const notices = fieldsOf(
      await server.get('/messages', hamlet, {
        narrow: [{ operator: 'sender', operand: 'notification-bot@parley.invalid' }],
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
      }),
    ).messages as Wire;
    await remind(hamlet, { message_id: notices[0].id });
    const [reminder] = await list(hamlet);
    expect(reminder.content).toContain('@_**Notification Bot|');
  });

  it('is visible only to its user, ordered by time', async () => {
    const { hamlet, cordelia } = people;
    const queue = await openQueue(server, hamlet);
    const other = await openQueue(server, cordelia);
    const late = await remind(hamlet, { scheduled_delivery_timestamp: due + 5, note: '\n why  ' });
    const early = await remind(hamlet);
    const shown = {
      reminder_id: early,
      type: 'private',
      to: [hamlet.id],
      content: textOf(),
      rendered_content: expect.stringMatching(/^<p>You requested .*<blockquote>\n<p>bring <em>bread<\/em><\/p>/s),
      scheduled_delivery_timestamp: due,
      failed: false,
      reminder_target_message_id: message,
    };
    const noted = textOf().replace('.\n\n', '. Note:\n >  why\n\n');
    const lateOne = { ...shown, reminder_id: late, scheduled_delivery_timestamp: due + 5, content: noted };
    expect(await list(hamlet)).toEqual([shown, lateOne]);
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'reminders', op: 'add', reminders: [lateOne] },
      { type: 'reminders', op: 'add', reminders: [shown] },
    ]);
    const { registered } = await openQueue(server, hamlet, { fetch_event_types: ['reminders', 'scheduled_messages'] });
    expect(registered).toMatchObject({ reminders: [shown, lateOne], scheduled_messages: [] });
    expect([await list(cordelia), await eventsAfter(server, other)]).toEqual([[], []]);
  });

  it('can refer to a readable message that was never received', async () => {
    await remind(people.cordelia);
    expect(await list(people.cordelia)).toHaveLength(1);
  });

  it('is not listed as a scheduled message', async () => {
    const { hamlet } = people;
    const id = await remind(hamlet);
    const missing = ['Scheduled message does not exist', { status: 404 }] as const;
    expectRefusal(await server.patch(`/scheduled_messages/${id}`, hamlet, { content: 'x' }), ...missing);
    expectRefusal(await server.delete(`/scheduled_messages/${id}`, hamlet), ...missing);
    expect(fieldsOf(await server.get('/scheduled_messages', hamlet))).toEqual({ scheduled_messages: [] });
  });

  it.each<[string, () => object, string, Record<string, unknown>?]>([
    [
      'a time that has passed',
      () => ({ scheduled_delivery_timestamp: START, message_id: 999 }),
      'Scheduled delivery time must be in the future.',
    ],
    ['an unknown message', () => ({ message_id: 999, note: 'x'.repeat(1001) }), 'Invalid message(s)'],
    ['a note that is too long', () => ({ note: 'x'.repeat(1001) }), 'Maximum reminder note length: 1000 characters'],
    ['an id that is not a number', () => ({ message_id: 'x' }), 'message_id is not valid JSON'],
    [
      'a time that is not an integer',
      () => ({ scheduled_delivery_timestamp: '1.5' }),
      'scheduled_delivery_timestamp is not an integer',
    ],
  ])('rejects %s', async (_, params, msg, extra = {}) => {
    expectRefusal(await post(people.hamlet, params()), msg, extra);
    expect(await list(people.hamlet)).toEqual([]);
  });

  it.each(['message_id', 'scheduled_delivery_timestamp'])('requires %s', async (name) => {
    const params: Wire = { message_id: message, scheduled_delivery_timestamp: due };
    delete params[name];
    expectRefusal(await server.post('/reminders', people.hamlet, params), `Missing '${name}' argument`, {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: name,
    });
  });

  it('rejects an inaccessible message', async () => {
    const { hamlet, cordelia, iago } = people;
    await server.createChannel('closet', [iago], { invite_only: true });
    const hidden = await say('closet', 'x', 'secret');
    const direct = await say([hamlet], '', 'psst');
    const realmId = await server.addRealm('lear');
    const regan = await server.addUser({ email: 'regan@lear.com', fullName: 'Regan', realmId });
    expectRefusal(await post(hamlet, { message_id: hidden }), 'Invalid message(s)');
    expectRefusal(await post(cordelia, { message_id: direct }), 'Invalid message(s)');
    const params = { message_id: message, scheduled_delivery_timestamp: due };
    expectRefusal(
      await server.request('POST', '/reminders', { as: regan, realm: 'lear', params }),
      'Invalid message(s)',
    );
  });

  it('cannot exceed the maximum number', async () => {
    const id = await remind(people.hamlet);
    await server.storage.uow.write(server.realmId, async (tx) => {
      const { id: _, ...reminder } = (await tx.reminders.find(server.realmId, id as never))!;
      for (let count = 1; count < 1000; count++) await tx.reminders.add(reminder);
    });
    expectRefusal(await post(people.hamlet), 'Too many reminders (limit: 1000).');
    fieldsOf(await post(people.iago));
  });

  it('rejects content beyond the total text limit in both forms', async () => {
    const id = await remind(people.hamlet);
    await server.storage.uow.write(server.realmId, async (tx) => {
      const { id: _, ...reminder } = (await tx.reminders.find(server.realmId, id as never))!;
      const length = Buffer.byteLength(reminder.content + reminder.renderedContent);
      await tx.reminders.add({ ...reminder, renderedContent: 'x'.repeat(2_000_000 - 2 * length), content: '' });
    });
    await remind(people.hamlet);
    expectRefusal(await post(people.hamlet), 'Too much text in reminders (limit: 2000000 bytes).');
  });
});

describe('deleting a reminder', () => {
  it('prevents delivery', async () => {
    const { hamlet } = people;
    const id = await remind(hamlet);
    const queue = await openQueue(server, hamlet);
    expect(fieldsOf(await server.delete(`/reminders/${id}`, hamlet))).toEqual({});
    expect(await list(hamlet)).toEqual([]);
    await deliver();
    expect(await eventsAfter(server, queue)).toEqual([{ type: 'reminders', op: 'remove', reminder_id: id }]);
    expectRefusal(await server.delete(`/reminders/${id}`, hamlet), UNKNOWN, { status: 404 });
  });

  it('rejects reminders of other users and organizations, and scheduled messages', async () => {
    const { hamlet, desdemona } = people;
    const id = await remind(hamlet);
    const realmId = await server.addRealm('lear');
    const regan = await server.addUser({ email: 'regan@lear.com', fullName: 'Regan', realmId });
    expectRefusal(await server.delete(`/reminders/${id}`, desdemona), UNKNOWN, { status: 404 });
    expectRefusal(await server.request('DELETE', `/reminders/${id}`, { as: regan, realm: 'lear' }), UNKNOWN, {
      status: 404,
    });
    const { scheduled_message_id } = fieldsOf(
      await server.post('/scheduled_messages', hamlet, {
        type: 'stream',
        to: town,
        topic: 'plans',
        content: 'x',
        scheduled_delivery_timestamp: due,
      }),
    );
    expectRefusal(await server.delete(`/reminders/${scheduled_message_id}`, hamlet), UNKNOWN, { status: 404 });
    expect(await list(hamlet)).toHaveLength(1);
  });
});

describe('reminder delivery', () => {
  it('sends a direct message to the user when due, however late', async () => {
    const { hamlet } = people;
    const id = await remind(hamlet);
    const queue = await openQueue(server, hamlet);
    await deliver(3599);
    expect(await received(hamlet)).toEqual([]);
    await deliver(86_400);
    expect(await received(hamlet)).toMatchObject([{ content: textOf(), flags: [] }]);
    expect(await list(hamlet)).toEqual([]);
    const events = await eventsAfter(server, queue);
    expect(events).toMatchObject([{ type: 'message' }, { type: 'reminders', op: 'remove', reminder_id: id }]);
    await deliver(86_400);
    expect(await received(hamlet)).toHaveLength(1);
  });

  it.each<[string, string, string, (id: number) => string]>([
    ['without a topic', '', 'x', (id) => `#**town>@${id}**`],
    ['with a topic that a link may hold', 'a@b #1', 'x', (id) => `#**town>a@b #1@${id}**`],
    [
      'with a topic that a link may not hold',
      '`a` > *b* & [c] $$',
      'x',
      (id) =>
        '[#town > &#96;a&#96; &gt; &#42;b&#42; &amp; &#91;c&#93; &#36;&#36; @ 💬]' +
        `(#narrow/channel/${town}-town/topic/.60a.60.20.3E.20.2Ab.2A.20.26.20.5Bc.5D.20.24.24/near/${id})`,
    ],
  ])('refers to a message %s', async (_, topic, content, link) => {
    const id = await say('town', topic, content);
    await remind(people.hamlet, { message_id: id });
    await deliver();
    const [{ content: text, id: own }] = await received(people.hamlet);
    expect(text.split('\n')[0]).toBe(`You requested a reminder for ${link(id)}.`);
    const rendered: Wire = fieldsOf(await server.get(`/messages/${own}`, people.hamlet));
    const shown = (topic === '' ? '<em>general chat</em>' : topic).replace(/&/g, '&amp;');
    const plain = rendered.message.content
      .split('</p>')[0]
      .replaceAll('&gt;', '>')
      .replace(/&#(\d+);/g, (_: string, code: string) => String.fromCharCode(Number(code)));
    expect(plain).toContain(`>#town > ${shown} @ 💬</a>.`);
    expect(plain).toContain(`/near/${id}"`);
  });

  it('refers to a direct message by its participants', async () => {
    const { hamlet, cordelia, iago } = people;
    const id = await say([hamlet, cordelia], '', 'psst');
    await remind(hamlet, { message_id: id, note: 'a\nb' });
    await deliver();
    const url = `${server.url}/#narrow/dm/${[iago.id, hamlet.id, cordelia.id].sort((a, b) => a - b)}-pm/near/${id}`;
    expect((await received(hamlet))[0].content).toBe(
      'You requested a reminder for the following direct message. Note:\n > a\n > b\n\n' +
        `${ofIago('said', url)}:\n\`\`\`quote\npsst\n\`\`\``,
    );
  });

  it.each([
    ['/poll When?\nnow', 'a poll'],
    ['/todo Feast', 'a todo list'],
  ])('omits the quote of %j', async (content, what) => {
    const id = await say('town', 'plans', content);
    await remind(people.hamlet, { message_id: id });
    await deliver();
    const line = `${ofIago('sent', nearUrl('plans', id))} ${what}.`;
    expect((await received(people.hamlet))[0].content).toBe(
      `You requested a reminder for #**town>plans@${id}**.\n\n${line}`,
    );
  });

  it('uses a sufficiently long fence for the quote, with silent mentions', async () => {
    const id = await say('town', 'plans', '````py\nx\n````\n@**King Hamlet**');
    await remind(people.hamlet, { message_id: id });
    await deliver();
    const [{ content, flags }] = await received(people.hamlet);
    expect(content).toContain('`````quote\n````py\nx\n````\n@**King Hamlet**\n`````');
    expect(flags).toEqual([]);
  });

  it('truncates the quote to the message length', async () => {
    const id = await say('town', 'plans', '😀'.repeat(10_000));
    await remind(people.hamlet, { message_id: id });
    await deliver();
    const [{ content }] = await received(people.hamlet);
    expect([...content]).toHaveLength(10_000);
    expect(content).toMatch(/😀\n\[message truncated\]\n```$/u);
  });

  it('refers to an inaccessible message without details', async () => {
    const { hamlet, desdemona } = people;
    await server.createChannel('closet', [people.iago, hamlet], { invite_only: true });
    const id = await say('closet', 'x', 'secret');
    await remind(hamlet, { message_id: id });
    const [{ content }] = await list(hamlet);
    fieldsOf(
      await server.delete('/users/me/subscriptions', people.iago, {
        subscriptions: ['closet'],
        principals: [hamlet.id],
      }),
    );
    expectRefusal(await post(hamlet, { message_id: id }), 'Invalid message(s)');
    await deliver();
    expect((await received(hamlet)).map((it) => it.content)).toContain(content);
    expect(await received(desdemona)).toEqual([]);
  });

  it('quotes the current content of the message', async () => {
    const { hamlet } = people;
    await remind(hamlet);
    await server.changeChannel(town, { name: 'city' });
    await deliver();
    expect((await received(hamlet))[0].content).toContain(`#**city>plans@${message}**`);
  });

  it('does not quote a deleted message', async () => {
    const { hamlet, cordelia, iago } = people;
    const id = await remind(hamlet, { note: 'the *bread*' });
    await remind(cordelia);
    const queue = await openQueue(server, hamlet);
    const before = await openQueue(server, hamlet);
    fieldsOf(await server.delete(`/messages/${message}`, iago));
    const content = 'You requested a reminder for a message that has been deleted.';
    await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
    const [shown] = await list(hamlet);
    expect(shown).toMatchObject({
      content: `${content} Note:\n > the *bread*`,
      rendered_content: expect.stringContaining('<em>bread</em>'),
    });
    expect(await list(cordelia)).toMatchObject([{ content, rendered_content: `<p>${content}</p>` }]);
    const reminders = (await eventsAfter(server, queue)).filter(({ type }) => type === 'reminders');
    expect(reminders).toEqual([
      { type: 'reminders', op: 'remove', reminder_id: id },
      { type: 'reminders', op: 'add', reminders: [shown] },
    ]);
    expect(JSON.stringify(await eventsAfter(server, before))).not.toContain('bring');
    await deliver();
    expect((await received(hamlet))[0].content).toBe(`${content} Note:\n > the *bread*`);
  });

  it('removes the text of a deleted message from the reminders of a deactivated user', async () => {
    const { hamlet, cordelia, iago } = people;
    const id = await remind(hamlet, { note: 'for @**Iago**' });
    await remind(cordelia);
    fieldsOf(await server.delete(`/users/${hamlet.id}`, iago));
    fieldsOf(await server.delete(`/messages/${message}`, iago));
    await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
    const content = 'You requested a reminder for a message that has been deleted.';
    expect(await list(cordelia)).toMatchObject([{ content }]);
    const reminder = await server.storage.uow.read(server.realmId, (reads) =>
      reads.reminders.find(server.realmId, id as never),
    );
    expect(reminder!.content).toBe(`${content} Note:\n > for @**Iago**`);
    fieldsOf(await server.post(`/users/${hamlet.id}/reactivate`, iago));
  });

  it('quotes a message that was restored before the reminder was due', async () => {
    const { hamlet, iago } = people;
    await remind(hamlet);
    fieldsOf(await server.delete(`/messages/${message}`, iago));
    const selection = { messageId: message as never, channelId: null, topicKey: null, since: null };
    await server.parley.useCase(RestoreMessages).execute({ realmId: server.realmId, selection, isDryRun: false });
    await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
    expect(await list(hamlet)).toMatchObject([{ content: textOf() }]);
    await deliver();
    expect((await received(hamlet))[0].content).toBe(textOf());
  });

  it('names the sender to a limited guest only if accessible', async () => {
    const { polonius, iago } = people;
    await server.limitGuests();
    await remind(polonius);
    expect((await list(polonius))[0].content).toContain(`@_**Unknown user|${iago.id}**`);
  });

  it.each([
    ['its user', 'Account is deactivated'],
    ['the organization', 'This organization has been deactivated'],
  ])('fails when %s was deactivated', async (what, failure) => {
    const { hamlet } = people;
    const id = await remind(hamlet);
    await server.storage.uow.write(server.realmId, async (tx) => {
      if (what === 'its user') {
        await tx.users.update({ ...(await tx.users.find(server.realmId, hamlet.id))!, isActive: false });
      } else await tx.realms.update({ ...(await tx.realms.get(server.realmId)), isDeactivated: true });
    });
    await deliver();
    await deliver(86_400);
    const reminder = await server.storage.uow.read(server.realmId, ({ reminders }) =>
      reminders.find(server.realmId, id as never),
    );
    expect(reminder).toMatchObject({ failure });
  });
});
