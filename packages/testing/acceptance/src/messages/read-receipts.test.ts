import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Message by Hamlet in a channel to which Cordelia and Iago subscribe. */
let message: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  const { hamlet, cordelia, iago } = people;
  await server.createChannel('general', [hamlet, cordelia, iago]);
  message = await say(hamlet);
});

const say = (as: TestUser, to: string | readonly TestUser[] = 'general') =>
  server.sendMessage(as, to, { read_by_sender: true });
const mark = (as: TestUser, flag = 'read', id = message) =>
  server.post('/messages/flags', as, { messages: [id], op: 'add', flag });
const change = (settings: object) => server.patch('/realm', people.desdemona, { ...settings });

describe('GET /messages/{message_id}/read_receipts (messages §14)', () => {
  const receipts = (as = people.hamlet, id = message) => server.get(`/messages/${id}/read_receipts`, as);
  const readers = async (...args: Parameters<typeof receipts>) => fieldsOf(await receipts(...args)).user_ids;
  const ids = (...users: readonly TestUser[]) => users.map(({ id }) => id).sort((a, b) => a - b);

  beforeEach(async () => {
    fieldsOf(await change({ enable_read_receipts: true }));
  });

  it('lists readers except the sender and users who hide read receipts', async () => {
    const { hamlet, cordelia, iago, shiva } = people;
    expect(await readers()).toEqual([]);
    fieldsOf(await mark(cordelia));
    fieldsOf(await mark(iago));
    // A message that was never received counts as read once it is flagged from history.
    fieldsOf(await mark(shiva, 'starred'));
    expect(await readers()).toEqual(ids(cordelia, iago, shiva));
    expect(await readers(cordelia)).toEqual(ids(cordelia, iago, shiva));
    fieldsOf(await server.patch('/settings', iago, { send_read_receipts: false }));
    expect(await readers()).toEqual(ids(cordelia, shiva));
    const { storage, realmId } = server;
    await storage.uow.write(realmId, ({ personal }) =>
      personal.muteSender({ realmId, userId: cordelia.id }, hamlet.id, 5),
    );
    await storage.uow.write(realmId, ({ personal }) =>
      personal.muteSender({ realmId, userId: hamlet.id }, shiva.id, 5),
    );
    expect(await readers()).toEqual([]);
    expect(await readers(iago)).toEqual(ids(cordelia, shiva));
  });

  it('lists the other participants of a direct conversation', async () => {
    const { hamlet, cordelia } = people;
    const direct = await say(hamlet, [cordelia]);
    expect(await readers(hamlet, direct)).toEqual([]);
    fieldsOf(await mark(cordelia, 'read', direct));
    expect(await readers(hamlet, direct)).toEqual([cordelia.id]);
  });

  it('rejects inaccessible messages first, then disabled read receipts', async () => {
    const { hamlet, iago } = people;
    const direct = await say(hamlet, [hamlet]);
    fieldsOf(await change({ enable_read_receipts: false }));
    for (const id of [99999999, direct]) expectRefusal(await receipts(iago, id), 'Invalid message(s)');
    expectRefusal(await receipts(), 'Read receipts are disabled in this organization.');
  });
});

describe('POST /messages/{message_id}/report (messages §15.4)', () => {
  const report = (params: object, id = message, as = people.cordelia) =>
    server.post(`/messages/${id}/report`, as, { report_type: 'spam', ...params });
  let moderation: number;

  beforeEach(async () => {
    moderation = await server.createChannel('moderation', [people.shiva], { invite_only: true });
    fieldsOf(await change({ moderation_request_channel_id: moderation }));
  });
  const reports = async (): Promise<Wire[]> => {
    const narrow = [['channel', 'moderation']];
    const messages = await server.messagesFor(people.shiva, { narrow, num_before: 10, apply_markdown: false });
    return messages.filter(({ subject }: Wire) => subject.startsWith('Reports'));
  };

  it('shows the message and the reason to moderators', async () => {
    const { hamlet, cordelia } = people;
    const nasty = await server.sendMessage(hamlet, 'general', {
      content: '@**Polonius** ```` ```quote\nboo',
      read_by_sender: true,
    });
    expect(fieldsOf(await report({ description: ' too *loud* ' }, nasty))).toEqual({});
    const [told] = await reports();
    expect(told).toMatchObject({ subject: 'Reports about King Hamlet', sender_full_name: 'Notification Bot' });
    const { content } = told;
    expect(content).toContain(
      `@_**${cordelia.user.fullName}|${cordelia.id}** reported a message by @_**King Hamlet|${hamlet.id}**`,
    );
    expect(content).toContain(`#**general>plans@${nasty}**`);
    expect(content).toContain('**Spam**');
    expect(content).toContain('```quote\ntoo *loud*\n```');
    expect(content).toContain('`````quote\n@**Polonius** ```` ```quote\nboo\n`````');
    const flags = (fieldsOf(await server.get(`/messages/${told.id}`, people.shiva)) as Wire).message.flags;
    expect(flags).not.toContain('mentioned');
  });

  it('shows direct messages', async () => {
    const { hamlet, cordelia } = people;
    const direct = await say(hamlet, [cordelia]);
    fieldsOf(await report({ report_type: 'other', description: 'x' }, direct));
    expect((await reports())[0].content).toContain('direct conversation');
  });

  it('checks in contract order and posts nothing if a check fails', async () => {
    fieldsOf(await change({ moderation_request_channel_id: -1 }));
    const unknown = 99999999;
    expectRefusal(
      await report({ report_type: 'x', description: 'x'.repeat(1001) }, unknown),
      'Invalid report_type: Value error, Not in the list of possible values',
    );
    expectRefusal(
      await report({ report_type: 'other', description: 'x'.repeat(1001) }, unknown),
      'description is too long (limit: 1000 characters)',
    );
    expectRefusal(await report({ report_type: 'other', description: ' ' }, unknown), 'An explanation is required.');
    expectRefusal(await report({}, unknown), 'Message reporting is not enabled in this organization.');
    fieldsOf(await change({ moderation_request_channel_id: moderation }));
    expectRefusal(await report({}, unknown), 'Invalid message(s)');
    const direct = await say(people.hamlet, [people.hamlet]);
    expectRefusal(await report({}, direct), 'Invalid message(s)');
    expectRefusal(await server.post(`/messages/${message}/report`, people.hamlet), "Missing 'report_type' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'report_type',
    });
    expect(await reports()).toEqual([]);
  });
});
