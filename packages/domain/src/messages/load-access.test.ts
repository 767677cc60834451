import {
  aChannel,
  aMessage,
  aRealmWith,
  aUser,
  createFixture,
  expectRefused,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
  subscribe,
} from '@parley/testkit';
import type { Actor } from '../access/actor.js';
import { HIDDEN } from '../files/files.js';
import type { AccessTokenId, ChannelId, MessageId, TokenScope } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { DeleteMessage } from '../writing/deletion.use-cases.js';
import { MoveNotices } from '../writing/moves.js';
import { UserTextParser } from '../writing/render-message.js';
import { AddSubmessage } from '../writing/submessages.js';
import { SystemMessages } from '../writing/system-messages.js';
import { NotifyTypingInMessage } from '../writing/typing.js';
import { UpdateMessage } from '../writing/update-message.use-cases.js';
import { canReadFile } from './file-access.js';
import { listReadableEntries, loadMessages, loadReadable, loadReadableWithFlags, ownership } from './load-access.js';
import { filterWithin, RequireMessagesInScope } from './token-scope.js';

/**
 * Messages by index: 0 in a public channel, 1 in a private one, 2 and 3 in a private one with protected history, which
 * the newcomer joined in between, 4 to the member alone.
 */
const scene = () =>
  createFixture(
    aUser({ name: 'author' }),
    aUser({ name: 'member' }),
    aUser({ name: 'newcomer' }),
    aUser({ name: 'guest', role: 'guest' }),
    aChannel({ name: 'public', subscribers: ['author', 'member'] }),
    aChannel({ name: 'private', privacy: 'privateSharedHistory', subscribers: ['author', 'member'] }),
    aChannel({ name: 'protected', privacy: 'privateProtectedHistory', subscribers: ['author', 'member'] }),
    aMessage({ from: 'author', to: 'public' }),
    aMessage({ from: 'author', to: 'private' }),
    aMessage({ from: 'author', to: 'protected' }),
    (fixture, tx) => subscribe(tx, fixture.channel('protected'), [fixture.user('newcomer').id]),
    aMessage({ from: 'author', to: 'protected' }),
    aMessage({ from: 'author', to: ['member'] }),
  );

function as<T>(fixture: MemoryFixture, name: string, work: (tx: Transaction, actor: Actor) => Promise<T>): Promise<T> {
  return fixture.uow.write(fixture.realm.id, async (tx) => work(tx, await tx.actors.get(fixture.caller(name))));
}

const idsOf = ({ messages }: MemoryFixture) => messages.map(({ id }) => id);

/** Indices of the messages that each user may read. */
const READABLE: readonly (readonly [string, readonly number[]])[] = [
  ['author', [0, 1, 2, 3, 4]],
  ['member', [0, 1, 2, 3, 4]],
  ['newcomer', [0, 3]],
  ['guest', []],
];

describe('access to messages', () => {
  it.each(READABLE)('lets %s load exactly the readable messages %j', async (name, readable) => {
    const fixture = await scene();
    const loaders = [loadReadable, loadReadableWithFlags];
    for (const [index, id] of idsOf(fixture).entries()) {
      for (const load of loaders) {
        const loading = as(fixture, name, (tx, actor) => load(tx, actor, id));
        if (readable.includes(index)) await expect(loading).resolves.toMatchObject({ message: { id } });
        else await expect(loading).rejects.toMatchObject({ code: 'UNKNOWN_MESSAGE' });
      }
    }
  });

  it.each(READABLE)('lists for %s exactly the readable entries %j', async (name, readable) => {
    const fixture = await scene();
    const entries = await as(fixture, name, (tx, actor) => listReadableEntries(tx, actor, idsOf(fixture), []));
    expect(entries.map(({ id }) => id)).toEqual(readable.map((index) => fixture.messages[index]!.id));
  });

  it.each(READABLE)('lets %s read the files of exactly the readable messages %j', async (name, readable) => {
    const fixture = await scene();
    for (const [index, id] of idsOf(fixture).entries()) {
      const file = { ownerId: fixture.user('author').id, messageIds: [id] } as unknown as Parameters<
        typeof canReadFile
      >[2];
      expect(await as(fixture, name, (tx, actor) => canReadFile(tx, actor, file))).toBe(
        name === 'author' || readable.includes(index),
      );
    }
  });

  it('reports a nonexistent message as unknown', async () => {
    const fixture = await scene();
    for (const load of [loadReadable, loadReadableWithFlags]) {
      await expect(as(fixture, 'member', (tx, actor) => load(tx, actor, 999 as MessageId))).rejects.toMatchObject({
        code: 'UNKNOWN_MESSAGE',
      });
    }
  });

  it('applies the option of modifying in archived channels', async () => {
    const fixture = await scene();
    const { id } = fixture.messages[0]!;
    await as(fixture, 'author', (tx) => tx.channels.update({ ...fixture.channel('public'), isArchived: true }));
    for (const load of [loadReadable, loadReadableWithFlags]) {
      await expect(as(fixture, 'member', (tx, actor) => load(tx, actor, id))).resolves.toMatchObject({
        message: { id },
      });
      await expect(
        as(fixture, 'member', (tx, actor) => load(tx, actor, id, { modifying: true })),
      ).rejects.toMatchObject({ code: 'UNKNOWN_MESSAGE' });
    }
  });
});

describe('messages of archived channels (messages §1.4)', () => {
  const CHANGES: Readonly<Record<string, (fixture: MemoryFixture, messageId: MessageId) => Promise<unknown>>> = {
    DeleteMessage: ({ uow, clock, caller }, messageId) =>
      new DeleteMessage(uow, clock).execute(caller('author'), { messageId }),
    UpdateMessage: ({ uow, clock, caller }, messageId) => {
      const renderer = new FakeRenderer();
      const parser = new UserTextParser(uow, renderer, fakeRealmUrls);
      const notices = new MoveNotices(new SystemMessages(renderer, fakeRealmUrls, clock), fakeRealmUrls, clock);
      return new UpdateMessage(uow, parser, clock, (text) => text, notices).execute(caller('author'), {
        messageId,
        content: 'changed',
        topic: null,
        channelId: null,
        propagation: 'one',
        notifiesOldThread: false,
        notifiesNewThread: false,
        previousDigest: null,
      });
    },
    AddSubmessage: ({ uow, clock, caller }, messageId) =>
      new AddSubmessage(uow, clock).execute(caller('author'), { messageId, kind: 'widget', content: '{}' }),
    NotifyTypingInMessage: ({ uow, clock, caller }, messageId) =>
      new NotifyTypingInMessage(uow, { publishEphemeral: () => {} }, clock).execute(caller('author'), {
        op: 'start',
        messageId,
      }),
  };

  it.each(Object.keys(CHANGES))('are unknown to %s until the channel is unarchived', async (name) => {
    const fixture = await scene();
    await fixture.add(aRealmWith({ permissionOverrides: { canDeleteOwnMessage: 'everyone' } }));
    const archive = (isArchived: boolean) =>
      as(fixture, 'author', (tx) => tx.channels.update({ ...fixture.channel('public'), isArchived }));
    const change = () => CHANGES[name]!(fixture, fixture.messages[0]!.id);
    await archive(true);
    await expectRefused(fixture, change, { code: 'UNKNOWN_MESSAGE' });
    await archive(false);
    await change();
  });
});

describe('loadMessages', () => {
  it('returns channel, subscription and flags of each known message', async () => {
    const fixture = await scene();
    const ids = [...idsOf(fixture), 999 as MessageId];
    const loaded = await as(fixture, 'newcomer', (tx, actor) => loadMessages(tx, actor, ids));
    expect(loaded.map(({ channel, isSubscribed, isOwn }) => [channel?.name ?? null, isSubscribed, isOwn])).toEqual([
      ['public', false, false],
      ['private', false, false],
      ['protected', true, false],
      ['protected', true, true],
      [null, false, false],
    ]);
    expect(loaded.map(({ flags }) => flags !== null)).toEqual([false, false, false, true, false]);
  });

  it('returns nothing without a known message', async () => {
    const fixture = await scene();
    expect(await as(fixture, 'member', (tx, actor) => loadMessages(tx, actor, [999 as MessageId]))).toEqual([]);
  });
});

describe('canReadFile', () => {
  it('hides a file that a hold keeps after its deletion, even from readers of a restored message', async () => {
    const fixture = await scene();
    const file = { ownerId: HIDDEN, messageIds: idsOf(fixture) } as unknown as Parameters<typeof canReadFile>[2];
    expect(await as(fixture, 'member', (tx, actor) => canReadFile(tx, actor, file))).toBe(false);
  });

  it('lets the owner read the file of an unreadable message', async () => {
    const fixture = await scene();
    const file = { ownerId: fixture.user('guest').id, messageIds: idsOf(fixture) } as unknown as Parameters<
      typeof canReadFile
    >[2];
    expect(await as(fixture, 'guest', (tx, actor) => canReadFile(tx, actor, file))).toBe(true);
  });

  it('finds a readable message anywhere among many references', async () => {
    const fixture = await scene();
    const unreadable = Array.from({ length: 250 }, (_, n) => (1000 + n) as MessageId);
    const [shown] = idsOf(fixture);
    const can = (messageIds: readonly MessageId[]) =>
      as(fixture, 'member', (tx, actor) =>
        canReadFile(tx, actor, { ownerId: fixture.user('author').id, messageIds } as unknown as Parameters<
          typeof canReadFile
        >[2]),
      );
    expect(await can([shown!, ...unreadable])).toBe(true);
    expect(await can([...unreadable, shown!])).toBe(true);
    expect(await can(unreadable)).toBe(false);
    expect(await can([])).toBe(false);
  });
});

describe('a scope', () => {
  const scopeOf = (fixture: MemoryFixture) =>
    ({
      tokenId: 1 as AccessTokenId,
      actions: ['read'],
      conversations: [
        { kind: 'channel', channelId: fixture.channel('private').id, topic: null },
        { kind: 'direct', userIds: [fixture.user('author').id, fixture.user('member').id] },
        { kind: 'direct', userIds: [fixture.user('guest').id] },
        { kind: 'channel', channelId: 999 as ChannelId, topic: null },
      ],
    }) satisfies TokenScope;

  it('contains the messages of its conversations', async () => {
    const fixture = await scene();
    const ids = idsOf(fixture);
    const within = (conversations: TokenScope['conversations']) =>
      as(fixture, 'member', (tx) => filterWithin(tx, fixture.viewer('member'), { conversations }, ids));
    expect([...(await within(scopeOf(fixture).conversations))]).toEqual([ids[1], ids[4]]);
    const { channelId, topic } = fixture.messages[1]!;
    const inTopic = (name: string) => within([{ kind: 'channel', channelId: channelId!, topic: name }]);
    expect([...(await inTopic(topic.toUpperCase()))]).toEqual([ids[1]]);
    expect([...(await inTopic('another'))]).toEqual([]);
  });

  it('refuses messages of other conversations as unknown', async () => {
    const fixture = await scene();
    const ids = idsOf(fixture);
    const require = (...indices: number[]) =>
      new RequireMessagesInScope(fixture.uow).execute(
        fixture.caller('member'),
        scopeOf(fixture),
        indices.map((index) => ids[index]!),
      );
    await require(1, 4);
    await expect(require(1, 0)).rejects.toMatchObject({ code: 'UNKNOWN_MESSAGE' });
  });

  it('admits files of its readable messages, and own files without a message', async () => {
    const fixture = await scene();
    const ids = idsOf(fixture);
    const can = (name: string, owner: string, ...indices: number[]) => {
      const messageIds = indices.map((index) => ids[index]!);
      const file = { ownerId: fixture.user(owner).id, messageIds } as unknown as Parameters<typeof canReadFile>[2];
      return as(fixture, name, (tx, actor) => canReadFile(tx, actor, file, scopeOf(fixture)));
    };
    expect(await can('member', 'author', 1)).toBe(true);
    expect(await can('member', 'author', 0, 1)).toBe(true);
    expect(await can('member', 'author', 0)).toBe(false);
    expect(await can('member', 'member', 0)).toBe(false);
    expect(await can('newcomer', 'author', 1)).toBe(false);
    expect(await can('member', 'member')).toBe(true);
    expect(await can('member', 'author')).toBe(false);
  });
});

describe('ownership', () => {
  it('counts a historical entry only if the viewer took it from history', async () => {
    const fixture = await scene();
    const [first, , , , last] = idsOf(fixture);
    const viewer = fixture.viewer('newcomer');
    await as(fixture, 'newcomer', (tx) => tx.personal.addHistorical(viewer, [first!]));
    const isOwn = await as(fixture, 'newcomer', (tx) =>
      ownership(tx, viewer, [
        { id: first, flags: { historical: true } },
        { id: last, flags: { historical: true } },
      ] as unknown as Parameters<typeof ownership>[2]),
    );
    const entry = (id: MessageId | undefined, historical: boolean) =>
      ({ id, flags: { historical } }) as Parameters<typeof isOwn>[0];
    expect([isOwn(entry(first, true)), isOwn(entry(last, true)), isOwn(entry(last, false))]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
