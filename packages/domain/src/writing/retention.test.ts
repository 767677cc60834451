import {
  aChannel,
  aMessage,
  aRealm,
  aRealmWith,
  aUser,
  createFixture,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import type { Channel } from '../channels/channel.js';
import type { BlobKey } from '../files/blobs.js';
import type { MessageId } from '../kernel/ids.js';
import { decodeJob } from '../kernel/jobs.js';
import { type ArchiveSelection, deleteMessages } from './deletion.js';
import { DeleteMessage, ExpireMessages, PurgeArchive, RestoreMessages, retentionDays } from './deletion.use-cases.js';
import { DELETED_QUOTE_JOB } from './drafts.js';
import { RemoveQuotesFromDrafts } from './drafts.use-cases.js';
import { DELETED_MESSAGE_JOB } from './reminders.js';

const DAY = 86_400;
const EVERYTHING: ArchiveSelection = { messageId: null, channelId: null, topicKey: null, since: null };

const scene = (days: number | null, channel: Partial<Pick<Channel, 'messageRetentionDays' | 'privacy'>> = {}) => [
  aUser({ name: 'author' }),
  aUser({ name: 'reader' }),
  aRealmWith({ settings: { messageRetentionDays: days } }),
  aChannel({ name: 'general', subscribers: ['author', 'reader'], ...channel }),
  aChannel({ name: 'empty' }),
];

const existing = async ({ uow, realm, messages }: MemoryFixture): Promise<readonly number[]> => {
  const ids = messages.map(({ id }) => id);
  const found = await uow.read(realm.id, (r) => r.messages.list(realm.id, ids));
  return found.map(({ id }) => ids.indexOf(id));
};
const firstMessageId = ({ uow, realm, channel }: MemoryFixture) =>
  uow.read(realm.id, (r) => r.channels.find(realm.id, channel('general').id)).then((found) => found!.firstMessageId);
const published = ({ storage }: MemoryFixture) => storage.announced.map(({ event }) => event.type);

describe('retentionDays', () => {
  it.each([
    [null, null, null],
    [null, 3, 3],
    [7, null, 7],
    [7, 3, 3],
    [7, 'forever', null],
  ] as const)('combines %s days of the realm with %s of the channel to %s', (ofRealm, ofChannel, expected) => {
    const realm = { settings: { messageRetentionDays: ofRealm } } as Parameters<typeof retentionDays>[0];
    expect(retentionDays(realm, { messageRetentionDays: ofChannel })).toBe(expected);
    expect(retentionDays(realm, null)).toBe(ofRealm);
  });
});

describe('ExpireMessages', () => {
  it('deletes messages older than the period, of channels and direct conversations', async () => {
    const fixture = await createFixture(
      ...scene(7),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: ['reader'] }),
    );
    const { uow, clock } = fixture;
    clock.advance(7 * DAY);
    expect(await new ExpireMessages(uow, clock).execute()).toBe(0);
    await fixture.add(aMessage({ from: 'author', to: 'general' }), aMessage({ from: 'author', to: ['reader'] }));
    clock.advance(1);
    expect(await new ExpireMessages(uow, clock).execute()).toBe(2);
    expect(await existing(fixture)).toEqual([2, 3]);
    expect(await firstMessageId(fixture)).toBe(fixture.messages[2]!.id);
  });

  it('publishes one event per channel topic and one per direct message, to the readers', async () => {
    const fixture = await createFixture(
      ...scene(1),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: ['reader'] }),
      aMessage({ from: 'author', to: ['reader'] }),
    );
    const { uow, clock } = fixture;
    clock.advance(2 * DAY);
    expect(await new ExpireMessages(uow, clock).execute()).toBe(4);
    const ids = fixture.messages.map(({ id }) => id);
    const deleted = fixture.storage.announced.filter(({ event }) => event.type === 'message.deleted');
    expect(deleted).toMatchObject([
      { event: { messageIds: [ids[0], ids[1]], channelId: fixture.channel('general').id, onlyToHolders: false } },
      { event: { messageIds: [ids[2]], channelId: null, topic: '', onlyToHolders: false } },
      { event: { messageIds: [ids[3]], channelId: null, topic: '', onlyToHolders: false } },
    ]);
  });

  it.each([
    ['keeps messages without a period', null, null, [0, 1]],
    ['keeps messages of a channel that keeps them forever', 1, 'forever', [0]],
    ['applies only the period of the channel', null, 1, [1]],
  ] as const)('%s', async (_title, ofRealm, ofChannel, left) => {
    const fixture = await createFixture(
      ...scene(ofRealm, { messageRetentionDays: ofChannel }),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: ['reader'] }),
    );
    fixture.clock.advance(30 * DAY);
    expect(await new ExpireMessages(fixture.uow, fixture.clock).execute()).toBe(2 - left.length);
    expect(await existing(fixture)).toEqual(left);
  });

  it('keeps a message that is exactly as old as the period', async () => {
    const fixture = await createFixture(...scene(7), aMessage({ from: 'author', to: 'general' }));
    fixture.clock.advance(1);
    await fixture.add(aMessage({ from: 'author', to: 'general' }));
    fixture.clock.advance(7 * DAY);
    expect(await new ExpireMessages(fixture.uow, fixture.clock).execute()).toBe(1);
    expect(await existing(fixture)).toEqual([1]);
  });

  it('deletes more messages than fit into a unit of work', async () => {
    const many = Array.from({ length: 250 }, () => aMessage({ from: 'author', to: 'general' }));
    const fixture = await createFixture(...scene(1), ...many);
    fixture.clock.advance(2 * DAY);
    expect(await new ExpireMessages(fixture.uow, fixture.clock).execute()).toBe(250);
    expect(await existing(fixture)).toEqual([]);
    expect(await firstMessageId(fixture)).toBeNull();
  });

  it('keeps the messages if the period is removed before they are deleted', async () => {
    const fixture = await createFixture(...scene(1), aMessage({ from: 'author', to: 'general' }));
    fixture.clock.advance(2 * DAY);
    const changing = intercepting(fixture.uow, {
      write: async (work, run) => {
        await fixture.add(aRealmWith({ settings: { messageRetentionDays: null } }));
        return run(work);
      },
    });
    expect(await new ExpireMessages(changing, fixture.clock).execute()).toBe(0);
    expect(await existing(fixture)).toEqual([0]);
  });

  it('keeps the messages of deactivated organizations', async () => {
    const fixture = await createFixture(
      aRealm({ isDeactivated: true }),
      ...scene(1),
      aMessage({ from: 'author', to: 'general' }),
    );
    fixture.clock.advance(2 * DAY);
    expect(await new ExpireMessages(fixture.uow, fixture.clock).execute()).toBe(0);
    expect(await existing(fixture)).toEqual([0]);
  });
});

describe('deleteMessages', () => {
  it('publishes one event per topic, with the newest spelling', async () => {
    const fixture = await createFixture(
      ...scene(null),
      aMessage({ from: 'author', to: 'general', topic: 'plans' }),
      aMessage({ from: 'author', to: 'general', topic: 'other' }),
      aMessage({ from: 'author', to: 'general', topic: 'Plans' }),
    );
    const { uow, realm, user, channel, clock, messages } = fixture;
    const deletion = { realmId: realm.id, deletedBy: user('author').id, deletedAt: clock.now() };
    await uow.write(realm.id, (tx) =>
      deleteMessages(tx, { ...deletion, channel: channel('general'), messages: [...messages].reverse() }),
    );
    const [first, second, third] = messages.map(({ id }) => id);
    expect(fixture.storage.announced).toMatchObject([
      { event: { type: 'blanked' } },
      { event: { type: 'channel.property_changed', property: 'firstMessageId', value: null } },
      { event: { type: 'message.deleted', topic: 'Plans', messageIds: [first, third] } },
      { event: { type: 'message.deleted', topic: 'other', messageIds: [second] } },
    ]);
    expect(await existing(fixture)).toEqual([]);
  });

  it('makes the oldest of several remaining messages the first of the channel', async () => {
    const inTown = Array.from({ length: 4 }, () => aMessage({ from: 'author', to: 'general' }));
    const fixture = await createFixture(...scene(null), ...inTown);
    const { uow, realm, channel, messages } = fixture;
    const remove = (...removed: typeof messages) =>
      uow.write(realm.id, async (tx) => {
        const general = await tx.channels.get(realm.id, channel('general').id);
        const deletion = { realmId: realm.id, deletedBy: null, deletedAt: 1, channel: general };
        await deleteMessages(tx, { ...deletion, messages: removed });
      });
    const [first, second, third, last] = messages;
    await remove(first!);
    expect(await firstMessageId(fixture)).toBe(second!.id);
    await remove(third!);
    expect(await firstMessageId(fixture)).toBe(second!.id);
    await remove(second!);
    expect(await firstMessageId(fixture)).toBe(last!.id);
  });

  it.each(['author', null])('publishes the deletion to the acting user: %s', async (name) => {
    const fixture = await createFixture(...scene(null), aMessage({ from: 'author', to: 'general' }));
    const { uow, realm, user, channel, messages } = fixture;
    const deletedBy = name === null ? null : user(name).id;
    await uow.write(realm.id, (tx) =>
      deleteMessages(tx, { realmId: realm.id, deletedBy, deletedAt: 1, channel: channel('general'), messages }),
    );
    const announced = fixture.storage.announced.filter(({ event }) => event.type !== 'blanked');
    for (const { audience } of announced) {
      const named = JSON.stringify(audience).includes(`{"kind":"users","ids":[${user('author').id}]}`);
      expect(named).toBe(name !== null);
      expect(JSON.stringify(audience)).not.toContain('null');
    }
    expect(announced).toHaveLength(2);
  });

  it('publishes the attached files without the messages to their owners', async () => {
    const fixture = await createFixture(...scene(null), aMessage({ from: 'author', to: ['reader'] }));
    const { uow, realm, user, messages } = fixture;
    const ownerId = user('author').id;
    await uow.write(realm.id, async (tx) => {
      const blob = '0'.repeat(32) as BlobKey;
      const content = { blob, name: 'a.txt', pathId: '2/ab/c/a.txt', size: 1, contentType: 'text/plain', image: null };
      const { id } = await tx.files.add({ realmId: realm.id, ownerId, ...content, createdAt: 0 });
      await tx.files.attach(realm.id, messages[0]!.id, [id]);
      await deleteMessages(tx, { realmId: realm.id, deletedBy: null, deletedAt: 1, channel: null, messages });
    });
    const changed = fixture.storage.announced.filter(({ event }) => event.type === 'file.changed');
    expect(changed).toMatchObject([{ event: { file: { messageIds: [] } }, audience: { ids: [ownerId] } }]);
  });

  it('keeps the first message of a channel if another one is deleted', async () => {
    const fixture = await createFixture(
      ...scene(null),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: 'general' }),
    );
    const { uow, realm, channel, messages } = fixture;
    await uow.write(realm.id, (tx) =>
      deleteMessages(tx, {
        realmId: realm.id,
        deletedBy: null,
        deletedAt: 1,
        channel: channel('general'),
        messages: messages.slice(1),
      }),
    );
    expect(published(fixture)).toEqual(['blanked', 'message.deleted']);
    expect(await firstMessageId(fixture)).toBe(messages[0]!.id);
  });

  it('schedules a job that removes the text from reminders only for messages with reminders', async () => {
    const toGeneral = aMessage({ from: 'author', to: 'general' });
    const fixture = await createFixture(...scene(null), toGeneral, toGeneral);
    const { uow, realm, user, channel, clock, messages } = fixture;
    const reminded = messages[1]!.id;
    const texts = { note: '', content: 'said', renderedContent: '<p>said</p>', failure: null };
    await uow.write(realm.id, async (tx) => {
      const reminder = { realmId: realm.id, userId: user('reader').id, messageId: reminded, dueAt: 99, ...texts };
      await tx.reminders.add(reminder);
      await deleteMessages(tx, {
        realmId: realm.id,
        deletedBy: null,
        deletedAt: clock.now(),
        channel: channel('general'),
        messages,
      });
    });
    const { name, format } = DELETED_MESSAGE_JOB;
    const due = await uow.readAcross((r) => r.jobs.listDue({ kind: name, maxFormat: format }, clock.now(), 10));
    expect(due.map((job) => decodeJob(DELETED_MESSAGE_JOB, job))).toMatchObject([
      { realmId: realm.id, dueAt: clock.now(), payload: { id: reminded } },
    ]);
  });
});

describe('RemoveQuotesFromDrafts', () => {
  it('runs for messages that drafts quote and changes each draft', async () => {
    const toGeneral = aMessage({ from: 'author', to: 'general' });
    const fixture = await createFixture(...scene(null), toGeneral, toGeneral);
    const { uow, realm, user, channel, clock, messages } = fixture;
    const [other, quoted] = [messages[0]!.id, messages[1]!.id];
    const quote = (id: number, text: string) => `[said](#narrow/channel/1-a/near/${id}):\n\`\`\`quote\n${text}\n\`\`\``;
    const to = { kind: 'nobody' } as const;
    const drafts = await uow.write(realm.id, async (tx) => {
      const draft = { realmId: realm.id, userId: user('reader').id, to, editedAt: 1 };
      const added = [await tx.drafts.add({ ...draft, content: quote(quoted, 'a') })];
      // A replacement that is longer than the text respects the limit of a draft.
      added.push(await tx.drafts.add({ ...draft, content: `${quote(quoted, 'a')}\n${'x'.repeat(9942)}` }));
      await deleteMessages(tx, {
        realmId: realm.id,
        deletedBy: null,
        deletedAt: clock.now(),
        channel: channel('general'),
        messages,
      });
      return added;
    });
    const { name, format } = DELETED_QUOTE_JOB;
    const due = await uow.readAcross((r) => r.jobs.listDue({ kind: name, maxFormat: format }, clock.now(), 10));
    expect(due.map((job) => decodeJob(DELETED_QUOTE_JOB, job))).toMatchObject([{ payload: { id: quoted } }]);
    expect(quoted).not.toBe(other);
    await new RemoveQuotesFromDrafts(uow).prepare(decodeJob(DELETED_QUOTE_JOB, due[0]!) as never);
    const changed = await uow.read(realm.id, (r) => r.drafts.list(realm.id, user('reader').id));
    expect(changed).toContainEqual({ ...drafts[0]!, content: quote(quoted, '(deleted message)') });
    expect(changed.map(({ content }) => content.length > 10_000)).toEqual([false, false]);
    expect(published(fixture).filter((type) => type === 'draft.changed')).toHaveLength(2);
  });
});

describe('deleteMessages in the event log', () => {
  it('removes the content of the events of the messages', async () => {
    const fixture = await createFixture(...scene(null), aMessage({ from: 'author', to: 'general' }));
    const { uow, realm, channel, messages } = fixture;
    const blank = jest.fn();
    await uow.write(realm.id, (tx) =>
      deleteMessages(
        { ...tx, events: Object.assign(Object.create(tx.events), { blank, append: () => Promise.resolve() }) },
        { realmId: realm.id, deletedBy: null, deletedAt: 1, channel: channel('general'), messages },
      ),
    );
    expect(blank).toHaveBeenCalledWith(realm.id, [messages[0]!.id]);
  });
});

describe('DeleteMessage', () => {
  it('applies the rule for deleting messages', async () => {
    const fixture = await createFixture(
      aUser({ name: 'admin', role: 'administrator' }),
      ...scene(null),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: ['admin'] }),
    );
    const { uow, clock, caller, messages } = fixture;
    const remove = (who: string, id: MessageId) =>
      new DeleteMessage(uow, clock).execute(caller(who), { messageId: id });
    await expect(remove('reader', messages[0]!.id)).rejects.toMatchObject({ code: 'CANNOT_DELETE_MESSAGE' });
    await expect(remove('reader', messages[1]!.id)).rejects.toMatchObject({ code: 'UNKNOWN_MESSAGE' });
    await expect(remove('admin', messages[1]!.id)).resolves.toBeUndefined();
    await expect(remove('admin', messages[0]!.id)).resolves.toBeUndefined();
    expect(await existing(fixture)).toEqual([]);
  });

  it('lets the owner of a bot delete its messages', async () => {
    const fixture = await createFixture(
      ...scene(null),
      aRealmWith({ permissionOverrides: { canDeleteOwnMessage: 'everyone' } }),
      aUser({ name: 'bot', botOf: 'author' }),
      aMessage({ from: 'bot', to: 'general' }),
    );
    const { uow, clock, caller, messages } = fixture;
    const input = { messageId: messages[0]!.id };
    await expect(new DeleteMessage(uow, clock).execute(caller('reader'), input)).rejects.toMatchObject({
      code: 'CANNOT_DELETE_MESSAGE',
    });
    await new DeleteMessage(uow, clock).execute(caller('author'), input);
    expect(await existing(fixture)).toEqual([]);
  });
});

describe('deleted messages', () => {
  async function deleted(count: number): Promise<MemoryFixture> {
    const many = Array.from({ length: count }, () => aMessage({ from: 'author', to: 'general' }));
    const fixture = await createFixture(...scene(1), ...many);
    fixture.clock.advance(2 * DAY);
    await new ExpireMessages(fixture.uow, fixture.clock).execute();
    fixture.storage.announced.length = 0;
    return fixture;
  }

  it('are purged after the period in which they can be restored', async () => {
    const fixture = await deleted(250);
    const { uow, clock, realm } = fixture;
    const purge = () => new PurgeArchive(uow, clock).execute({ keepSeconds: 100 });
    clock.advance(100);
    expect(await purge()).toBe(0);
    clock.advance(1);
    expect(await purge()).toBe(250);
    const restore = { realmId: realm.id, selection: EVERYTHING, isDryRun: false };
    expect(await new RestoreMessages(uow).execute(restore)).toBe(0);
  });

  it('are counted without being restored in a dry run', async () => {
    const fixture = await deleted(250);
    const restore = { realmId: fixture.realm.id, selection: EVERYTHING, isDryRun: true };
    expect(await new RestoreMessages(fixture.uow).execute(restore)).toBe(250);
    expect(await existing(fixture)).toEqual([]);
  });

  it('are restored with the first message of the channel, which is published', async () => {
    const fixture = await deleted(250);
    const { uow, realm, messages, channel } = fixture;
    const restore = { realmId: realm.id, selection: EVERYTHING, isDryRun: false };
    expect(await new RestoreMessages(uow).execute(restore)).toBe(250);
    expect(await existing(fixture)).toHaveLength(250);
    expect(await firstMessageId(fixture)).toBe(messages[0]!.id);
    expect(fixture.storage.announced).toMatchObject([
      {
        event: { type: 'channel.property_changed', property: 'firstMessageId', value: messages[0]!.id },
        audience: { kind: 'anyOf', of: [{ channelId: channel('general').id }, {}] },
      },
    ]);
  });

  it('become the first message of a channel with newer messages', async () => {
    const fixture = await createFixture(
      ...scene(null),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: 'general' }),
    );
    const { uow, realm, channel, messages } = fixture;
    const deletion = { realmId: realm.id, deletedBy: null, deletedAt: 1, channel: channel('general') };
    await uow.write(realm.id, (tx) => deleteMessages(tx, { ...deletion, messages: messages.slice(0, 1) }));
    expect(await firstMessageId(fixture)).toBe(messages[1]!.id);
    await new RestoreMessages(uow).execute({ realmId: realm.id, selection: EVERYTHING, isDryRun: false });
    expect(await firstMessageId(fixture)).toBe(messages[0]!.id);
  });

  it('leave an older first message in place when they are restored', async () => {
    const fixture = await createFixture(
      ...scene(null),
      aMessage({ from: 'author', to: 'general' }),
      aMessage({ from: 'author', to: 'general' }),
    );
    const { uow, realm, channel, messages } = fixture;
    const deletion = { realmId: realm.id, deletedBy: null, deletedAt: 1, channel: channel('general') };
    await uow.write(realm.id, (tx) => deleteMessages(tx, { ...deletion, messages: messages.slice(1) }));
    fixture.storage.announced.length = 0;
    await new RestoreMessages(uow).execute({ realmId: realm.id, selection: EVERYTHING, isDryRun: false });
    expect(published(fixture)).toEqual([]);
    expect(await firstMessageId(fixture)).toBe(messages[0]!.id);
  });

  it('publish nothing if they are purged before they are restored', async () => {
    const { uow, clock, realm, storage } = await deleted(1);
    const purging = intercepting(uow, {
      write: async (work, run) => {
        await new PurgeArchive(uow, clock).execute({ keepSeconds: -1 });
        return run(work);
      },
    });
    const restore = { realmId: realm.id, selection: EVERYTHING, isDryRun: false };
    expect(await new RestoreMessages(purging).execute(restore)).toBe(0);
    expect(storage.announced).toEqual([]);
  });
});
