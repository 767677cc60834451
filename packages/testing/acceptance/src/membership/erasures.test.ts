import { ImportReports } from '@parley/domain/exports';
import { JobRunner } from '@parley/domain/kernel';
import { ErasePerson } from '@parley/domain/membership';
import { RemoveTextFromReminders, RestoreMessages } from '@parley/domain/writing';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';
import { isOnPostgres } from '../testing/test-storage.js';

let town: number;
let erased: TestUser;

/** Words that occur nowhere else; the search index stores words without a common beginning. */
const word = (name: string) => `qzv${name}jxk`;
const WORDS = /v[a-z]+jxk/gi;
const NAME = `${word('given')} ${word('family')}`;
const EMAIL = `${word('mail')}@example.com`;
const EXTERNAL_ID = word('external');

const { server, people } = serverPerTest();
beforeEach(async () => {
  erased = await server.addUser({ email: `${word('oldmail')}@example.com`, fullName: word('oldname') });
  town = await server.createChannel('town', [people.hamlet, people.iago, erased]);
});

async function runErasure(): Promise<void> {
  await runJobs(server, server.parley.useCase(ErasePerson));
  await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
  // The erasure waits for the reminders.
  server.clock.advance(10);
  await runJobs(server, server.parley.useCase(ErasePerson));
}

const erase = async (options: { readonly everythingWritten?: boolean } = {}, userId = erased.id) => {
  const started = await server.parley.users.erase({ realm: 'zulip', userId }, options);
  await runErasure();
  return started;
};
const tracesIn = (text: string): readonly string[] => [...new Set(text.match(WORDS) ?? [])].sort();
async function traces(): Promise<readonly string[]> {
  // Removes former content of rows from pages and the index.
  await server.storage.eraseDeleted();
  return tracesIn(await server.storage.stored());
}

/** Leaves words of the person wherever the person can write. */
async function leaveTraces(): Promise<void> {
  const { hamlet } = people;
  const { realmId } = server;
  const post = async (path: string, params: Readonly<Record<string, unknown>>, as = erased) =>
    fieldsOf(await server.post(path, as, params));
  // Clients that do not read keep the following events in the log.
  for (const owner of [hamlet, people.iago, erased]) await openQueue(server, owner);
  await server.parley.users.link({ realm: 'zulip', externalId: EXTERNAL_ID, userId: erased.id });
  fieldsOf(await server.patch(`/users/${erased.id}`, people.desdemona, { full_name: NAME }));
  await server.storage.uow.write(realmId, async (tx) => {
    const user = await tx.users.update({ ...(await tx.users.get(realmId, erased.id)), email: EMAIL });
    await tx.events.append(realmId, { event: { type: 'user.email_changed', user }, audience: { kind: 'realm' } });
    const account = { userId: erased.id, method: 'google', subject: word('subject'), linkedAt: server.clock.now() };
    await tx.logIns.link(realmId, { ...account, picture: null });
    await tx.placeholderKeys.add({ realmId, placeholderId: erased.id, key: `email:${word('key')}@example.com` });
  });
  erased = { ...erased, email: EMAIL };
  const due = server.clock.now() + 100_000;
  await post('/drafts', {
    drafts: [{ type: 'stream', to: [town], topic: word('drafttopic'), content: word('draft'), timestamp: 1 }],
  });
  await post('/saved_snippets', { title: word('title'), content: word('snippet') });
  await post('/scheduled_messages', {
    ...{ type: 'channel', to: town, topic: word('latertopic'), content: word('later') },
    scheduled_delivery_timestamp: due,
  });
  const own = await server.sendMessage(erased, town, { content: 'a message stays' });
  await post('/reminders', { message_id: own, note: word('note'), scheduled_delivery_timestamp: due });
  await post('/users/me/status', { status_text: word('status') });
  await post('/users/me/alert_words', { alert_words: [word('alert')] });
  await post('/user_topics', { stream_id: town, topic: word('followed'), visibility_policy: 3 });
  await post('/navigation_views', { fragment: `narrow/is/${word('view')}`, is_pinned: true, name: word('viewname') });
  await post('/invites', { invitee_emails: `${word('guest')}@example.com`, stream_ids: [town] });
  fieldsOf(await postFiles(server, '/user_uploads', erased, [{ name: `${word('file')}.txt`, content: 'text' }]));
  // Others mention the person.
  await server.sendMessage(hamlet, town, { content: `@**${NAME}** and @_**${NAME}|${erased.id}**` });
  const edited = await server.sendMessage(hamlet, [people.iago], { content: `before @**${NAME}**` });
  fieldsOf(await server.patch(`/messages/${edited}`, hamlet, { content: 'without a name' }));
  const removed = await server.sendMessage(hamlet, town, { content: `removed @**${NAME}**` });
  fieldsOf(await server.delete(`/messages/${removed}`, people.desdemona));
  await post('/drafts', { drafts: [{ type: '', to: [], topic: '', content: `@**${NAME}**`, timestamp: 1 }] }, hamlet);
  // Adds terms to the index.
  const narrow = [['search', word('family')]];
  fieldsOf(await server.get('/messages', hamlet, { narrow, anchor: 'newest', num_before: 5, num_after: 0 }));
}

describe('the erasure of a person', () => {
  it('leaves no word of the person in any row', async () => {
    await leaveTraces();
    expect((await traces()).length).toBeGreaterThanOrEqual(20);
    await erase();
    expect(await traces()).toEqual([]);
  });

  it('leaves no name in descriptions, profiles and welcome texts that mention the person', async () => {
    const { desdemona, hamlet } = people;
    const text = `Ask @**${word('oldname')}** or @_**${word('oldname')}|${erased.id}**`;
    for (const owner of [hamlet, erased]) await openQueue(server, owner);
    fieldsOf(await server.patch(`/streams/${town}`, desdemona, { description: text }));
    fieldsOf(await server.post('/channel_folders/create', desdemona, { name: 'folder', description: text }));
    fieldsOf(await server.patch('/realm', desdemona, { description: text, welcome_message_custom_text: text }));
    const field = { name: 'About', hint: '', field_type: 2 };
    const { id } = fieldsOf(await server.post('/realm/profile_fields', desdemona, field));
    fieldsOf(await server.patch('/users/me/profile_data', hamlet, { data: [{ id, value: text }] }));
    const invitation = { invitee_emails: 'guest@example.com', stream_ids: [town], welcome_message_custom_text: text };
    fieldsOf(await server.post('/invites', desdemona, invitation));
    await erase();
    expect(await traces()).toEqual([]);
    const { streams } = fieldsOf(await server.get('/streams', hamlet));
    expect(streams.find(({ stream_id }: Wire) => stream_id === town)).toMatchObject({
      description: `Ask @**Deleted user|${erased.id}** or @_**Deleted user|${erased.id}**`,
      rendered_description: expect.stringContaining('>@Deleted user</span>'),
    });
  });

  it('leaves no name in reminders of others about deleted messages, even a former name', async () => {
    const { hamlet, iago } = people;
    for (const owner of [hamlet, iago]) await openQueue(server, owner);
    const remind = async (owner: TestUser, about: TestUser, name: string) => {
      const params = { note: `ask @**${name}** and @_**${name}|${erased.id}**`, scheduled_delivery_timestamp: 2e9 };
      const message_id = await server.sendMessage(about, town, { content: 'a message' });
      fieldsOf(await server.post('/reminders', owner, { message_id, ...params }));
      return message_id;
    };
    const other = await remind(iago, iago, word('oldname'));
    await remind(hamlet, erased, word('oldname'));
    fieldsOf(await server.patch(`/users/${erased.id}`, people.desdemona, { full_name: NAME }));
    await remind(iago, erased, NAME);
    fieldsOf(await server.delete(`/messages/${other}`, people.desdemona));
    await erase({ everythingWritten: true });
    const mention = `<span class="user-mention" data-user-id="${erased.id}">@Deleted user</span>`;
    for (const [owner, count] of [
      [hamlet, 1],
      [iago, 2],
    ] as const) {
      const { reminders } = fieldsOf(await server.get('/reminders', owner));
      expect(reminders).toHaveLength(count);
      for (const { content, rendered_content } of reminders) {
        expect(content).toContain(`ask @**Deleted user|${erased.id}** and @_**Deleted user|${erased.id}**`);
        expect(rendered_content).toContain(mention.replace('user-mention', 'user-mention silent').replace('@', ''));
      }
    }
    expect(await traces()).toEqual([]);
  });

  it('keeps messages, with a deleted user as author and in mentions', async () => {
    await leaveTraces();
    await erase();
    const page = fieldsOf(
      await server.get('/messages', people.hamlet, { anchor: 'newest', num_before: 9, num_after: 0 }),
    );
    const messages = page.messages as Wire[];
    expect(messages.find(({ sender_id }) => sender_id === erased.id)).toMatchObject({
      sender_full_name: 'Deleted user',
      content: '<p>a message stays</p>',
    });
    const mention = `<span class="user-mention" data-user-id="${erased.id}">@Deleted user</span>`;
    expect(messages.map(({ content }) => content)).toContainEqual(expect.stringContaining(mention));
    const users = fieldsOf(await server.get('/users', people.hamlet)).members as Wire[];
    expect(users.find(({ user_id }) => user_id === erased.id)).toMatchObject({
      full_name: 'Deleted user',
      is_active: false,
    });
  });

  it('shows clients the events that they have not read, with the present names and all messages', async () => {
    const queue = await openQueue(server, people.hamlet);
    await leaveTraces();
    await erase();
    const events = await eventsAfter(server, queue);
    expect(tracesIn(JSON.stringify(events))).toEqual([]);
    const contents = events.filter(({ type }) => type === 'message').map(({ message }) => message.content);
    const mention = `**Deleted user|${erased.id}**`;
    expect(contents).toEqual(['a message stays', `@${mention} and @_${mention}`, `before @${mention}`]);
    const changes = events.filter(({ type }) => type === 'realm_user').map(({ op, person }) => ({ op, ...person }));
    expect(changes).toContainEqual({ op: 'update', user_id: erased.id, full_name: 'Deleted user' });
    expect(changes.at(-1)).toMatchObject({ op: 'update', user_id: erased.id });
    expect(changes).toContainEqual(expect.objectContaining({ user_id: erased.id, is_active: false }));
  });

  it('removes the external id from clients that know it', async () => {
    await leaveTraces();
    const client_capabilities = { notification_settings_null: true, external_ids: true };
    const queue = await openQueue(server, people.hamlet, { event_types: ['realm_user'], client_capabilities });
    await erase();
    const changes = (await eventsAfter(server, queue)).map(({ person }) => person);
    expect(changes).toContainEqual({ user_id: erased.id, external_id: null });
  });

  it('frees the email and the external id for somebody else', async () => {
    await leaveTraces();
    expect((await server.parley.users.find({ realm: 'zulip', externalId: EXTERNAL_ID }))?.id).toBe(erased.id);
    await server.parley.as({ realm: 'zulip', externalId: EXTERNAL_ID }).unread.count();
    await erase();
    const joined = { realm: 'zulip', externalId: EXTERNAL_ID, name: 'New', email: EMAIL };
    const { id } = await server.parley.users.upsert(joined);
    expect(id).not.toBe(erased.id);
    // The facade must not remember the former owner of the external id.
    expect(await server.parley.as({ realm: 'zulip', externalId: EXTERNAL_ID }).unread.count()).toMatchObject({});
  });

  it('is repeated without effect and reports its progress', async () => {
    await leaveTraces();
    const started = await erase();
    expect(started).toMatchObject({ userId: erased.id, endedAt: null, removedRows: 0 });
    const ended = await erase();
    expect(ended).toMatchObject({ userId: erased.id, endedAt: expect.any(Date) });
    expect(ended.removedRows).toBeGreaterThan(10);
    expect(ended.changedTexts).toBeGreaterThan(4);
    expect(await erase()).toEqual(ended);
  });

  it('cannot be undone by reactivation', async () => {
    await erase();
    expectRefusal(await server.post(`/users/${erased.id}/reactivate`, people.desdemona), 'The user was erased.');
    expect(await server.get('/users/me', erased)).toMatchObject({ status: 401 });
  });

  it('is refused for bots, unknown users and the last owner, who keep everything', async () => {
    const bot = await server.addBot(people.hamlet, 'helper');
    const refused = (userId: number) => server.parley.users.erase({ realm: 'zulip', userId }).catch(({ code }) => code);
    expect(await refused(bot.id)).toBe('MUST_NOT_BE_BOT');
    expect(await refused(99_999)).toBe('UNKNOWN_USER');
    expect(await refused(people.desdemona.id)).toBe('LAST_OWNER');
    const { members } = fieldsOf(await server.get('/users', people.hamlet)) as Record<string, Wire[]>;
    expect(members!.filter(({ full_name }) => full_name === 'Deleted user')).toEqual([]);
  });

  it('reaches people who were deactivated before', async () => {
    await leaveTraces();
    await server.parley.users.deactivate({ realm: 'zulip', userId: erased.id });
    await erase();
    expect(await traces()).toEqual([]);
  });
});

/** Writes messages of every kind. Returns the id of a message that somebody has a reminder of. */
async function writeMessages(): Promise<number> {
  const { hamlet, desdemona } = people;
  const secret = await server.createChannel('secret', [hamlet, erased], { invite_only: true });
  const file = fieldsOf(
    await postFiles(server, '/user_uploads', erased, [{ name: `${word('sent')}.txt`, content: word('bytes') }]),
  );
  const shown = await server.sendMessage(erased, town, { content: `${word('public')} [a file](${file.url})` });
  await server.sendMessage(erased, secret, { content: word('private') });
  await server.sendMessage(erased, [hamlet], { content: word('direct') });
  const edited = await server.sendMessage(erased, town, { content: word('before') });
  fieldsOf(await server.patch(`/messages/${edited}`, erased, { content: word('after') }));
  const deleted = await server.sendMessage(erased, town, { content: word('restorable') });
  fieldsOf(await server.delete(`/messages/${deleted}`, desdemona));
  const due = server.clock.now() + 100_000;
  fieldsOf(await server.post('/reminders', hamlet, { message_id: shown, scheduled_delivery_timestamp: due }));
  return shown;
}

describe('the erasure of everything that a person wrote', () => {
  it('leaves no word of the messages, their history, copies and files', async () => {
    await leaveTraces();
    await writeMessages();
    await server.sendMessage(people.hamlet, town, { content: 'an answer' });
    await erase({ everythingWritten: true });
    expect(await traces()).toEqual([]);
    const page = await server.messagesFor(people.hamlet, { num_before: 50 });
    expect(page.map(({ sender_id }) => sender_id)).not.toContain(erased.id);
    expect(page.map(({ content }) => content)).toContain('<p>an answer</p>');
    const selection = { messageId: null, channelId: null, topicKey: null, since: null };
    const restored = { realmId: server.realmId, selection, isDryRun: false };
    await server.parley.useCase(RestoreMessages).execute(restored);
    expect(await traces()).toEqual([]);
    const { reminders } = fieldsOf(await server.get('/reminders', people.hamlet)) as { reminders: Wire[] };
    expect(reminders).toHaveLength(1);
  });

  it('tells clients that the messages are deleted', async () => {
    const shown = await writeMessages();
    const queue = await openQueue(server, people.hamlet);
    await erase({ everythingWritten: true });
    const deletions = (await eventsAfter(server, queue)).filter(({ type }) => type === 'delete_message');
    expect(deletions.flatMap(({ message_id, message_ids = [message_id] }) => message_ids)).toContain(shown);
    expect(deletions).toHaveLength(4);
  });

  it('removes reactions and answers to polls of others, also from deleted messages', async () => {
    const { hamlet, desdemona } = people;
    const polls = [];
    for (let n = 0; n < 2; n++) {
      const id = await server.sendMessage(hamlet, town, { content: '/poll Lunch?\nsoup' });
      polls.push(id);
      for (const as of [erased, desdemona]) {
        const option = JSON.stringify({ type: 'new_option', idx: 1, option: word(as === erased ? 'option' : 'stays') });
        fieldsOf(await server.post('/submessage', as, { message_id: id, msg_type: 'widget', content: option }));
        fieldsOf(await server.post(`/messages/${id}/reactions`, as, { emoji_name: 'tada' }));
      }
    }
    const [kept, deleted] = polls;
    fieldsOf(await server.delete(`/messages/${deleted}`, desdemona));
    const queue = await openQueue(server, hamlet);
    await erase();
    expect(await traces()).toContain('voptionjxk');
    await erase({ everythingWritten: true });
    expect(await traces()).toEqual(['vstaysjxk']);
    const selection = { messageId: null, channelId: null, topicKey: null, since: null };
    await server.parley.useCase(RestoreMessages).execute({ realmId: server.realmId, selection, isDryRun: false });
    expect(await traces()).toEqual(['vstaysjxk']);
    for (const id of [kept, deleted]) {
      const { message } = fieldsOf(await server.get(`/messages/${id}`, hamlet));
      expect(message.reactions).toMatchObject([{ user_id: desdemona.id }]);
      expect(message.submessages.map((each: Wire) => each.sender_id)).toEqual([hamlet.id, desdemona.id]);
    }
    const reactions = (await eventsAfter(server, queue)).filter(({ type }) => type === 'reaction');
    expect(reactions).toMatchObject([{ op: 'remove', user_id: erased.id, message_id: kept }]);
  });

  it('can be added to an erasure that has ended', async () => {
    await writeMessages();
    await erase();
    expect(await traces()).toContain('vdirectjxk');
    const started = await erase({ everythingWritten: true });
    expect(started).toMatchObject({ everythingWritten: true, endedAt: null });
    expect(await traces()).toEqual([]);
    const ended = await erase();
    expect(ended).toMatchObject({ everythingWritten: true, endedAt: expect.any(Date) });
    expect(await erase({ everythingWritten: true })).toEqual(ended);
  });

  it('can be added to an erasure that is still running', async () => {
    await writeMessages();
    await server.parley.users.erase({ realm: 'zulip', userId: erased.id });
    await erase({ everythingWritten: true });
    expect(await traces()).toEqual([]);
    expect(await erase()).toMatchObject({ everythingWritten: true, endedAt: expect.any(Date) });
  });
});

describe('bots of an erased person', () => {
  it('are deactivated for good without their names and addresses, even if they were inactive before', async () => {
    const bots = [];
    for (let n = 0; n < 7; n++) bots.push(await server.addBot(erased, `${word('bot')}${n}`));
    fieldsOf(await server.delete(`/bots/${bots[0]!.id}`, erased));
    const others = await server.addBot(people.hamlet, 'helper');
    await erase();
    const { members } = fieldsOf(await server.get('/users', people.desdemona)) as { members: Wire[] };
    for (const { id } of bots) {
      const bot = members.find(({ user_id }) => user_id === id);
      expect(bot).toMatchObject({ full_name: 'Deleted user', email: `user${id}@erased.invalid`, is_active: false });
      expectRefusal(await server.post(`/users/${id}/reactivate`, people.desdemona), 'The user was erased.');
    }
    expect(members.find(({ user_id }) => user_id === others.id)).toMatchObject({ is_active: true });
  });
});

describe('an erasure that fails repeatedly', () => {
  it('is retried every hour until it has ended', async () => {
    await leaveTraces();
    await server.parley.users.erase({ realm: 'zulip', userId: erased.id });
    const { uow } = server.storage;
    const failing = new ErasePerson(
      { ...uow, write: () => Promise.reject(new Error('no space')) },
      { remove: async () => {} } as never,
      server.clock,
      server.mailer,
      server.parley.useCase(ImportReports),
    );
    const runner = new JobRunner(failing, { uow, clock: server.clock, report: () => {} });
    for (let attempt = 0; attempt < 25; attempt++) {
      const next = (await runner.nextDueAt())!;
      server.clock.advance(Math.max(0, next - server.clock.now()));
      await runner.run();
      await runner.settle();
    }
    expect(await runner.nextDueAt()).not.toBeNull();
    expect((await traces()).length).toBeGreaterThan(0);
    server.clock.advance(3600);
    await runErasure();
    expect(await traces()).toEqual([]);
    expect(await erase()).toMatchObject({ endedAt: expect.any(Date) });
  });
});

describe.each([false, true])('an erasure that is interrupted (everything written: %s)', (everythingWritten) => {
  it('continues after a failure of any unit and leaves nothing', async () => {
    await leaveTraces();
    if (everythingWritten) await writeMessages();
    await server.parley.users.erase({ realm: 'zulip', userId: erased.id }, { everythingWritten });
    const { uow } = server.storage;
    for (let allowed = 0, isDone = false; !isDone; allowed++) {
      let left = allowed;
      const job = server.parley.useCase(ErasePerson);
      const failing = new ErasePerson(
        { ...uow, write: (...args) => (left-- > 0 ? uow.write(...args) : Promise.reject(new Error('killed'))) },
        { remove: async () => {} } as never,
        server.clock,
        server.mailer,
        server.parley.useCase(ImportReports),
      );
      const [stored] = await uow.readAcross(({ jobs }) =>
        jobs.listDue({ kind: job.kind.name, maxFormat: 1 }, server.clock.now(), 1),
      );
      const payload = job.kind.readPayload(JSON.parse(stored!.payload), 1);
      isDone = await failing
        .prepare({ id: stored!.id, realmId: server.realmId, dueAt: server.clock.now(), payload, attempt: 1 })
        .then(
          () => true,
          () => false,
        );
      expect(allowed).toBeLessThan(100);
    }
    await runErasure();
    expect(await traces()).toEqual([]);
  });
});

(isOnPostgres ? describe.skip : describe)('the SQLite file', () => {
  it('contains no word of an erased person after the server has stopped', async () => {
    await leaveTraces();
    await erase();
    server.clock.advance(86_400);
    await server.sweepQueues();
    await server.storage.eraseDeleted();
    const contents = server.storage.keepContents();
    await server.close();
    expect(tracesIn((await contents).toString('latin1'))).toEqual([]);
  });
});
