import { buffer, text } from 'node:stream/consumers';
import { SweepFiles } from '@parley/domain/files';
import type { MessageId } from '@parley/domain/kernel';
import { DeleteContributions, ErasePerson } from '@parley/domain/membership';
import { MAX_HELD_EDITS } from '@parley/domain/messages';
import { DeleteRealmData } from '@parley/domain/realms';
import { GrantSpecialPermission } from '@parley/domain/users';
import {
  ExpireMessages,
  type HeldMessage,
  PurgeArchive,
  RemoveTextFromReminders,
  RestoreMessages,
} from '@parley/domain/writing';
import type { HoldToCreate } from '@parley/server';
import { fromBufferPromise } from 'yauzl';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let author: TestUser;
let town: number;

const DAY = 86_400;

const { server, people } = serverPerTest();
beforeEach(async () => {
  author = await server.addUser({ email: 'author@example.com', fullName: 'qzvnamejxk' });
  town = await server.createChannel('town', [people.hamlet, people.iago, author], { message_retention_days: 60 });
});

const hold = (criteria: Omit<HoldToCreate, 'realm' | 'reason'>) =>
  server.parley.holds.create({ realm: 'zulip', reason: 'Case 1', ...criteria });

/** Sends a message with a file, and edits it so that the file is linked in its history only. */
async function writeMessage(): Promise<{ readonly id: number; readonly file: string; readonly pathId: string }> {
  const { url } = fieldsOf(
    await postFiles(server, '/user_uploads', author, [{ name: 'qzvfilejxk.txt', content: 'the bytes' }]),
  ) as Wire;
  const id = await server.sendMessage(author, town, { content: `qzvfirstjxk [a file](${url})` });
  fieldsOf(await server.patch(`/messages/${id}`, author, { content: 'qzvsecondjxk' }));
  return { id, file: url, pathId: url.replace('/user_uploads/', '') };
}

/** Time after which nothing that is deleted stays. */
const LATER = 40 * DAY;

/** Does the work of the background that removes for good. */
async function removeForGood(): Promise<void> {
  const { useCase } = server.parley;
  await runJobs(server, useCase(DeleteContributions));
  await runJobs(server, useCase(ErasePerson));
  await runJobs(server, useCase(RemoveTextFromReminders));
  server.clock.advance(LATER);
  await runJobs(server, useCase(ErasePerson));
  await useCase(ExpireMessages).execute();
  await useCase(PurgeArchive).execute({ keepSeconds: 30 * DAY });
  await useCase(SweepFiles).execute({ keepDetachedSeconds: 30 * DAY });
}

async function held(): Promise<readonly HeldMessage[]> {
  const { realmId } = server;
  return server.storage.uow.read(realmId, async ({ holds, heldMessages }) => {
    const found: HeldMessage[] = [];
    for (const each of await holds.list(realmId)) {
      found.push(
        ...(await heldMessages.list(each, 0, 1000)).held,
        ...(await heldMessages.listCopies(each, 0, 1000)).held,
      );
    }
    return found;
  });
}

const fileOf = (pathId: string) =>
  server.storage.uow.read(server.realmId, async ({ files }) => (await files.listByPath(server.realmId, [pathId]))[0]);

async function isSeen(id: number): Promise<boolean> {
  const messages = await server.messagesFor(people.hamlet, { num_before: 1000 });
  return messages.some((message: Wire) => message.id === id);
}

const restoreAll = () =>
  server.parley.useCase(RestoreMessages).execute({
    realmId: server.realmId,
    selection: { messageId: null, channelId: null, topicKey: null, since: null },
    isDryRun: false,
  });

/** Ways of deleting a message for good. Each runs before `removeForGood`. */
const WAYS: Readonly<Record<string, (id: number) => Promise<unknown>>> = {
  'its author deletes it': async (id) => {
    fieldsOf(await server.patch('/realm', people.desdemona, { can_delete_own_message_group: await membersGroup() }));
    fieldsOf(await server.delete(`/messages/${id}`, author));
  },
  'an administrator deletes it': async (id) => fieldsOf(await server.delete(`/messages/${id}`, people.iago)),
  'an administrator deletes its topic': async (id) => {
    const { message } = fieldsOf(await server.get(`/messages/${id}`, people.hamlet)) as Wire;
    const params = { topic_name: message.subject };
    fieldsOf(await server.post(`/streams/${town}/delete_topic`, people.iago, params));
  },
  'it expires': async () => {
    server.clock.advance(61 * DAY);
    await server.parley.useCase(ExpireMessages).execute();
  },
  'its author is deactivated with all messages': async () => {
    const actions = { delete_profile: true, delete_public_channel_messages: true };
    fieldsOf(await server.delete(`/users/${author.id}`, people.iago, { actions }));
  },
  'its author is erased with everything written': () =>
    server.parley.users.erase({ realm: 'zulip', userId: author.id }, { everythingWritten: true }),
  'its channel is archived and its messages expire': async () => {
    fieldsOf(await server.delete(`/streams/${town}`, people.iago));
    server.clock.advance(61 * DAY);
  },
  'it is moved to another channel and deleted there': async (id) => {
    const elsewhere = await server.createChannel('elsewhere', [people.iago, author]);
    fieldsOf(await server.patch(`/messages/${id}`, people.iago, { stream_id: elsewhere, topic: 'other' }));
    fieldsOf(await server.delete(`/messages/${id}`, people.iago));
  },
};

async function membersGroup(): Promise<object> {
  const { members } = (await server.systemGroups()) as never as Record<string, number>;
  return { new: members };
}

describe('a held message', () => {
  it('stays held if its author is a visitor who becomes a customer', async () => {
    const { parley } = server;
    const realm = 'zulip';
    const { user, token } = await parley.visitors.start({ realm });
    const [staff, visitor] = [parley.as({ realm, userId: people.iago.id }), parley.as({ realm, userId: user.id })];
    await staff.channels.ensure({ name: 'question', isPrivate: true, subscribers: [user.id] });
    const inChannel = await visitor.messages.send({ channel: 'question', content: 'qzvfirstjxk' });
    const direct = await visitor.messages.send({ to: people.iago.id, content: 'qzvsecondjxk' });
    await hold({ person: user.id });
    await parley.users.link({ realm, externalId: 'author', userId: author.id });
    server.clock.advance(1);
    await parley.visitors.become({ realm, token, externalId: 'author', name: 'qzvnamejxk' });
    await parley.visitors.become({ realm, token, externalId: 'author', name: 'qzvnamejxk' });
    server.clock.advance(1);
    const later = await server.sendMessage(author, town);
    for (const id of [inChannel.id, direct.id, later]) fieldsOf(await server.delete(`/messages/${id}`, people.iago));
    await removeForGood();
    expect((await held()).map(({ id }) => id).sort((a, b) => a - b)).toEqual([inChannel.id, direct.id]);
    expect((await parley.holds.list(realm)).map(({ reason }) => reason)).toEqual(['Case 1', 'Case 1']);
  });

  it('cannot be edited or moved any more after the maximum of edits, and can again after the release', async () => {
    const { id } = await writeMessage();
    const { id: holdId } = await hold({ messageId: id });
    const { realmId } = server;
    const edit = { userId: author.id, editedAt: server.clock.now(), topic: null, channelId: null };
    await server.storage.uow.write(realmId, async ({ edits }) => {
      const ids = [id as MessageId];
      for (let n = 2; n < MAX_HELD_EDITS; n++) await edits.add(realmId, edit, ids, ids[0]!);
    });
    fieldsOf(await server.patch(`/messages/${id}`, author, { content: 'the last edit' }));
    for (const change of [{ content: 'one more' }, { topic: 'elsewhere' }]) {
      expectRefusal(await server.patch(`/messages/${id}`, author, change), 'This message has been edited too often.');
    }
    await server.parley.holds.release({ realm: 'zulip', id: holdId });
    fieldsOf(await server.patch(`/messages/${id}`, author, { content: 'one more' }));
  });

  it.each(Object.keys(WAYS))('is kept with its edits and files, unseen by members, when %s', async (way) => {
    const { id, pathId } = await writeMessage();
    const { id: holdId } = await hold({ channel: 'town' });
    await WAYS[way]!(id);
    await removeForGood();
    await removeForGood();
    expect(await isSeen(id)).toBe(false);
    const found = (await held()).find((message) => message.id === id)!;
    expect([found.content, found.edits.at(-1)!.previousContent!.content]).toEqual([
      'qzvsecondjxk',
      expect.stringContaining('qzvfirstjxk'),
    ]);
    const file = (await fileOf(pathId))!;
    expect(await server.parley.ports.blobStore.sizeOf(file.blob)).toBe('the bytes'.length);
    // Nobody can bring it back after its time.
    await restoreAll();
    expect(await isSeen(id)).toBe(false);
    await server.parley.holds.release({ realm: 'zulip', id: holdId });
    await removeForGood();
    await removeForGood();
    expect((await held()).find((message) => message.id === id)).toBeUndefined();
    expect([await fileOf(pathId), await server.parley.ports.blobStore.sizeOf(file.blob)]).toEqual([undefined, null]);
    await server.storage.eraseDeleted();
    expect((await server.storage.stored()).match(/qzv(first|second)jxk/)?.[0]).toBeUndefined();
  });

  it('keeps a file that its owner deletes, unseen by everybody', async () => {
    const { id, file, pathId } = await writeMessage();
    fieldsOf(await server.patch(`/messages/${id}`, author, { content: `again [a file](${file})` }));
    const { id: holdId } = await hold({ messageId: id });
    const list = async () => (fieldsOf(await server.get('/attachments', author)) as Wire).attachments;
    const [{ id: fileId }] = await list();
    const { url: temporary } = fieldsOf(await server.get(file, author)) as Wire;
    fieldsOf(await server.delete(`/attachments/${fileId}`, author));
    expectRefusal(await server.request('GET', `/${temporary}`), 'Invalid token');
    await removeForGood();
    expect(await list()).toEqual([]);
    for (const as of [author, people.hamlet]) {
      const { status, body } = await server.get(file, as);
      expect([status, body]).toEqual([404, '<p>This file does not exist or has been deleted.</p>']);
    }
    const stored = () => server.storage.uow.read(server.realmId, ({ files }) => files.find(server.realmId, fileId));
    expect(await stored()).toMatchObject({ pathId });
    await server.parley.holds.release({ realm: 'zulip', id: holdId });
    await removeForGood();
    expect(await stored()).toBeNull();
  });

  it('keeps the deletion of its organization waiting', async () => {
    const { id: holdId } = await hold({ channel: 'town' });
    fieldsOf(await server.post('/realm/deactivate', people.desdemona, { deletion_delay_days: 14 }));
    server.clock.advance(15 * DAY);
    const deletion = server.parley.useCase(DeleteRealmData);
    const realms = async () => (await server.storage.uow.readAcross((r) => r.realms.list())).length;
    const before = await realms();
    await runJobs(server, deletion);
    expect(await realms()).toBe(before);
    const { realmId } = server;
    await server.storage.uow.write(realmId, async (tx) =>
      tx.holds.update({ ...(await tx.holds.find(realmId, holdId as never))!, releasedAt: 1 }),
    );
    server.clock.advance(3600);
    await runJobs(server, deletion);
    expect(await realms()).toBe(before - 1);
  });
});

describe('an erasure that meets a hold', () => {
  const erase = (options = {}) => server.parley.users.erase({ realm: 'zulip', userId: author.id }, options);
  const traces = async () => {
    await server.storage.eraseDeleted();
    return [...new Set((await server.storage.stored()).match(/qzv[a-z]+jxk/g))].sort();
  };

  it('erases the rest, says so, and continues after the release', async () => {
    await writeMessage();
    const mention = await server.sendMessage(people.hamlet, town, { content: '@**qzvnamejxk** hi' });
    fieldsOf(
      await server.post('/drafts', author, {
        drafts: [{ type: '', to: [], topic: '', content: 'qzvdraftjxk', timestamp: 1 }],
      }),
    );
    const other = await server.sendMessage(people.hamlet, [people.iago], { content: '@**qzvnamejxk** direct' });
    const { id: holdId } = await hold({ channel: 'town' });
    await erase();
    await removeForGood();
    const state = await erase();
    // The text and the two messages of the author.
    expect(state).toMatchObject({ endedAt: null, heldTexts: expect.any(Number) });
    expect(state.heldTexts).toBeGreaterThanOrEqual(2);
    expect(await traces()).toEqual(expect.arrayContaining(['qzvnamejxk', 'qzvsecondjxk']));
    expect(await traces()).not.toContain('qzvdraftjxk');
    const contentOf = async (id: number) =>
      server.storage.uow.read(server.realmId, async ({ messages }) =>
        (await messages.list(server.realmId, [id as MessageId])).map(({ content }) => content),
      );
    expect(await contentOf(mention)).toEqual(['@**qzvnamejxk** hi']);
    expect(await contentOf(other)).toEqual([`@**Deleted user|${author.id}** direct`]);
    expect((fieldsOf(await server.get(`/users/${author.id}`, people.hamlet)) as Wire).user.full_name).toBe(
      'Deleted user',
    );
    await server.parley.holds.release({ realm: 'zulip', id: holdId });
    server.clock.advance(3601);
    await runJobs(server, server.parley.useCase(ErasePerson));
    expect(await erase()).toMatchObject({ endedAt: expect.any(Date), heldTexts: 0 });
    expect(await contentOf(mention)).toEqual([`@**Deleted user|${author.id}** hi`]);
    expect(await traces()).not.toContain('qzvnamejxk');
  });

  it('ends at once if the hold covers other messages', async () => {
    await writeMessage();
    await hold({ messageId: await server.sendMessage(people.hamlet, town, { content: 'other' }) });
    await erase({ everythingWritten: true });
    await removeForGood();
    expect(await erase()).toMatchObject({ endedAt: expect.any(Date), heldTexts: 0 });
    expect(await traces()).toEqual([]);
  });
});

describe('parley.holds', () => {
  it('creates, lists and releases holds, and records changes in the audit log', async () => {
    const created = await hold({ person: author.id, since: new Date(5000), until: new Date(10_000) });
    expect(created).toMatchObject({ personId: author.id, channelId: null, since: new Date(5000), createdBy: null });
    const released = await server.parley.holds.release({ realm: 'zulip', id: created.id });
    expect(await server.parley.holds.list('zulip')).toEqual([released]);
    const { entries } = fieldsOf(await server.get('/audit', people.desdemona)) as Wire;
    expect(entries.map(({ action, program, target }: Wire) => [action, program, target])).toEqual([
      ['holds.release', 'application', { hold_id: created.id }],
      ['holds.create', 'application', {}],
    ]);
  });

  it('exports what a hold keeps with the former identity of erased people, and records it in the audit log', async () => {
    const { id } = await writeMessage();
    const direct = await server.sendMessage(people.hamlet, [author], { content: 'to the author' });
    const { id: holdId } = await hold({ person: author.id });
    await server.parley.users.erase({ realm: 'zulip', userId: author.id }, { everythingWritten: true });
    await removeForGood();
    const zip = await fromBufferPromise(await buffer(server.parley.holds.export({ realm: 'zulip', id: holdId })));
    const files = new Map<string, string>();
    for await (const entry of zip.eachEntry()) {
      files.set(entry.fileName, await text(await zip.openReadStreamPromise(entry)));
    }
    const lines = files
      .get('messages.jsonl')!
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Wire);
    const sender = { id: author.id, name: 'qzvnamejxk', email: 'author@example.com' };
    expect(lines.map((line) => line.id)).toEqual([direct, id]);
    expect(lines).toMatchObject([
      { sender: { id: people.hamlet.id }, participants: expect.arrayContaining([sender]), deleted: null },
      { sender, channel: { name: 'town' }, content: 'qzvsecondjxk', deleted: { at: expect.any(Number) } },
    ]);
    expect(lines[1]!.edits).toMatchObject([{ by: sender, previousContent: expect.stringContaining('qzvfirstjxk') }]);
    expect(files.get(`emails/${id}.eml`)).toContain('From: qzvnamejxk <author@example.com>');
    expect([...files].filter(([name]) => name.startsWith('files/'))).toEqual([
      [expect.stringContaining('qzvfilejxk.txt'), 'the bytes'],
    ]);
    const { entries } = fieldsOf(await server.get('/audit', people.desdemona)) as Wire;
    expect(entries[0]).toMatchObject({ action: 'holds.export', target: { hold_id: holdId } });
    await expect(buffer(server.parley.holds.export({ realm: 'zulip', id: 99 }))).rejects.toMatchObject({
      code: 'UNKNOWN_HOLD',
    });
  });

  it.each<[string, object]>([
    ['INVALID_ARGUMENT', { channel: 'nowhere' }],
    ['INVALID_ARGUMENT', { since: 5 }],
    ['INVALID_ARGUMENT', { somebody: 1 }],
    ['INVALID_HOLD', {}],
    ['UNKNOWN_USER', { person: 99_999 }],
    ['UNKNOWN_CHANNEL', { channel: 99_999 }],
    ['UNKNOWN_MESSAGE', { messageId: 99_999 }],
  ])('refuses as %s the hold %j', async (code, criteria) => {
    await expect(hold(criteria)).rejects.toMatchObject({ code });
    expect(await server.parley.holds.list('zulip')).toEqual([]);
  });
});

describe('GET and POST /holds', () => {
  const grant = () =>
    server.parley.useCase(GrantSpecialPermission).execute({
      realmId: server.realmId,
      email: 'desdemona@zulip.com',
      permission: 'canHoldMessages',
    });
  const create = (as: TestUser, params: object) => server.post('/holds', as, { reason: 'Case 1', ...params });

  it('hold messages for an owner with the permission, and record it in the audit log', async () => {
    await grant();
    const { desdemona } = people;
    const { hold: created } = fieldsOf(await create(desdemona, { user_id: author.id, stream_id: town })) as Wire;
    expect(created).toMatchObject({ reason: 'Case 1', user_id: author.id, stream_id: town, created_by: desdemona.id });
    const { hold: released } = fieldsOf(await server.post(`/holds/${created.id}/release`, desdemona, {})) as Wire;
    expect(released).toEqual({ ...created, released_at: server.clock.now(), released_by: desdemona.id });
    expect((fieldsOf(await server.get('/holds', desdemona)) as Wire).holds).toEqual([released]);
    const { entries } = fieldsOf(await server.get('/audit', desdemona)) as Wire;
    expect(entries.map(({ action, actor_id, target }: Wire) => [action, actor_id, target])).toEqual([
      ['POST /holds/:hold_id/release', desdemona.id, { hold_id: created.id }],
      ['POST /holds', desdemona.id, {}],
    ]);
    const again = await server.post(`/holds/${created.id}/release`, desdemona, {});
    expectRefusal(again, 'The hold is released already.');
    expectRefusal(await server.post('/holds/999/release', desdemona, {}), 'Invalid hold ID', { status: 404 });
    expectRefusal(await create(desdemona, {}), 'A hold needs a person, a channel, a message or a time.');
  });

  it('refuse others', async () => {
    expectRefusal(await create(people.desdemona, { stream_id: town }), 'User not authorized to hold messages');
    expectRefusal(await server.get('/holds', people.desdemona), 'User not authorized to hold messages');
    const code = { code: 'UNAUTHORIZED_PRINCIPAL' };
    expectRefusal(await create(people.iago, { stream_id: town }), 'Must be an organization owner', code);
    expect(await server.parley.holds.list('zulip')).toEqual([]);
  });
});
