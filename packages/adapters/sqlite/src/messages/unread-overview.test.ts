import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { topicKey } from '@parley/domain/channels';
import type { MessageId, Repositories } from '@parley/domain/kernel';
import type { UnreadConversation, Viewer } from '@parley/domain/messages';
import {
  aChannel,
  aMessage,
  aUser,
  createFixtureOn,
  FixedClock,
  type Fixture,
  type MessageSpec,
} from '@parley/testkit';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-overview-'));
const opened: SqliteStorage[] = [];
let statements: string[] = [];

afterAll(async () => {
  for (const storage of opened) await storage.close();
  rmSync(directory, { recursive: true });
});

/** Creates a world in which `reader` subscribes to `red` and `blue` and has read no messages of `writer`. */
async function worldOf(messages: readonly Partial<MessageSpec>[]): Promise<Fixture> {
  const clock = new FixedClock();
  const path = join(directory, `${opened.length}.db`);
  const storage = openSqliteStorage({ path, clock, trace: (sql) => statements.push(sql) });
  opened.push(storage);
  const participants = ['reader', 'writer', 'other'];
  return createFixtureOn(
    storage.uow,
    clock,
    ...participants.map((name) => aUser({ name })),
    ...['red', 'blue'].map((name) => aChannel({ name, subscribers: participants })),
    ...messages.map((message) => aMessage({ from: 'writer', to: 'red', ...message })),
  );
}

const many = <T>(count: number, each: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => each(n));

/** Computes the same result message by message. */
async function expected({ personal }: Repositories, viewer: Viewer, limit: number): Promise<unknown> {
  const everything = await personal.listUnread(viewer, 1_000_000);
  const newest = everything.slice(-limit);
  const conversations = new Map<string, UnreadConversation & { ids: MessageId[] }>();
  for (const { id, recipientId, channelId, topic } of newest) {
    const key = `${recipientId}/${topicKey(topic)}`;
    const known = conversations.get(key);
    if (known) known.ids.push(id);
    else conversations.set(key, { recipientId, channelId, topic, ids: [id] });
  }
  return {
    conversations: [...conversations.values()],
    mentionedIds: newest.filter(({ isMentioned }) => isMentioned).map(({ id }) => id),
    wildcardMentionedIds: newest.filter(({ isWildcardMentioned }) => isWildcardMentioned).map(({ id }) => id),
    oldOnesAreMissing: everything.length > newest.length,
  };
}

async function check(fixture: Fixture): Promise<void> {
  const viewer = fixture.viewer('reader');
  await fixture.uow.read(viewer.realmId, async (r) => {
    const all = (await r.personal.listUnread(viewer, 1_000_000)).length;
    for (const limit of [1, 2, 7, Math.ceil(all / 3), Math.ceil(all / 2), all - 1, all, all + 1, 50_000]) {
      if (limit < 1) continue;
      expect(await r.personal.overviewUnread(viewer, limit)).toEqual(await expected(r, viewer, limit));
    }
  });
}

const idsWhere = (fixture: Fixture, isWanted: (n: number) => boolean): MessageId[] =>
  fixture.messages.filter((_, n) => isWanted(n)).map(({ id }) => id);

const interleaved = (count: number, topics: number) =>
  many(
    count,
    (n): Partial<MessageSpec> => ({
      ...(n % 3 === 0 || n % 10 < 8
        ? { to: n % 3 === 0 ? 'blue' : 'red', topic: `${n % 2 ? 'T' : 't'}opic ${n % topics}` }
        : { to: n % 10 === 9 ? ['reader'] : ['reader', 'other'], topic: '' }),
      from: n % 4 === 0 ? 'other' : 'writer',
      mentionsChannel: n % 11 === 0,
      ...(n % 13 === 0 && { exceptions: { reader: { mentioned: true } } }),
    }),
  );

describe('unread overview by conversation', () => {
  it.each<[string, (fixture: Fixture) => Promise<unknown>]>([
    ['nothing is read', async () => {}],
    [
      'the first half is read',
      (s) =>
        s.uow.write(s.realm.id, (tx) =>
          tx.personal.setRead(
            s.viewer('reader'),
            idsWhere(s, (n) => n < 200),
            true,
          ),
        ),
    ],
    [
      'every other message is read',
      (s) =>
        s.uow.write(s.realm.id, (tx) =>
          tx.personal.setRead(
            s.viewer('reader'),
            idsWhere(s, (n) => n % 2 === 0),
            true,
          ),
        ),
    ],
    [
      'nearly everything is read',
      (s) =>
        s.uow.write(s.realm.id, (tx) =>
          tx.personal.setRead(
            s.viewer('reader'),
            idsWhere(s, (n) => n % 40 !== 7),
            true,
          ),
        ),
    ],
    ['everything is read', (s) => s.uow.write(s.realm.id, (tx) => tx.personal.markAllRead(s.viewer('reader')))],
    [
      'some messages are marked unread again',
      (s) =>
        s.uow.write(s.realm.id, async (tx) => {
          await tx.personal.markAllRead(s.viewer('reader'));
          await tx.personal.setRead(
            s.viewer('reader'),
            idsWhere(s, (n) => n % 5 === 0),
            false,
          );
        }),
    ],
    [
      'a sender was muted and some of their messages marked unread',
      (s) =>
        s.uow.write(s.realm.id, async (tx) => {
          await tx.personal.muteSender(s.viewer('reader'), s.user('other').id, 5);
          for (const message of interleaved(100, 7)) await aMessage(message as MessageSpec)(s, tx);
          await tx.personal.setRead(
            s.viewer('reader'),
            idsWhere(s, (n) => n > 400 && n % 8 === 0),
            false,
          );
        }),
    ],
    [
      'some messages were moved to other channels and topics',
      (s) =>
        s.uow.write(s.realm.id, async (tx) => {
          const { id: channelId, recipientId } = s.channel('blue');
          const moved = idsWhere(s, (n) => n % 30 === 1);
          await tx.moves.move(s.realm.id, moved, {
            channelId,
            recipientId,
            topic: 'Topic 1',
            isHistoryProtected: false,
          });
          await tx.personal.setRead(s.viewer('reader'), moved.slice(0, 9), true);
        }),
    ],
    [
      'some messages were deleted',
      (s) =>
        s.uow.write(s.realm.id, (tx) =>
          tx.messages.remove(
            s.realm.id,
            idsWhere(s, (n) => n % 7 < 3),
          ),
        ),
    ],
    [
      'a channel was left',
      (s) =>
        s.uow.write(s.realm.id, (tx) =>
          tx.personal.closeSpans(s.realm.id, [s.channel('red').recipientId], [s.user('reader').id]),
        ),
    ],
  ])('returns correct counts when %s', async (_, change) => {
    const fixture = await worldOf(interleaved(400, 7));
    await change(fixture);
    await check(fixture);
  });

  it('returns correct counts when many messages were moved', async () => {
    const fixture = await worldOf(many(600, (n) => ({ to: 'red', topic: `topic ${n % 3}` })));
    const { id: channelId, recipientId } = fixture.channel('blue');
    const moved = idsWhere(fixture, (n) => n % 2 === 0);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.moves.move(fixture.realm.id, moved, { channelId, recipientId, topic: 'moved', isHistoryProtected: false }),
    );
    await check(fixture);
  });

  it('returns correct counts above the topic limit', async () => {
    const fixture = await worldOf(many(300, (n) => ({ topic: `topic ${n}` })));
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.personal.setRead(
        fixture.viewer('reader'),
        idsWhere(fixture, (n) => n < 280),
        true,
      ),
    );
    await check(fixture);
  });
});

it('takes the same number of statements for any number of topics and messages', async () => {
  const counts: number[] = [];
  for (const fixture of [await worldOf(interleaved(90, 3)), await worldOf(interleaved(900, 40))]) {
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.personal.setRead(
        fixture.viewer('reader'),
        idsWhere(fixture, (n) => n % 2 === 0),
        true,
      ),
    );
    const read = () =>
      fixture.uow.read(fixture.realm.id, (r) => r.personal.overviewUnread(fixture.viewer('reader'), 50_000));
    await read();
    statements = [];
    await read();
    counts.push(statements.length);
  }
  expect(counts[1]).toBe(counts[0]);
});

it('takes no statement per channel with older unread messages', async () => {
  const counts: number[] = [];
  for (const channels of [30, 60]) {
    const fixture = await worldOf([]);
    const names = many(channels, (n) => `order ${n}`);
    await fixture.add(
      ...names.map((name) => aChannel({ name, subscribers: ['reader', 'writer'] })),
      ...names.map((name) => aMessage({ from: 'writer', to: name })),
    );
    const viewer = fixture.viewer('reader');
    const read = () =>
      fixture.uow.read(fixture.realm.id, async ({ personal }) => {
        await personal.overviewUnread(viewer, 10);
        await personal.listUnread(viewer, 10);
        await personal.findFirstUnread(viewer, { conditions: [], scope: 'own' });
      });
    await read();
    statements = [];
    await read();
    counts.push(statements.length);
    await check(fixture);
  }
  // The bisection takes a step more.
  expect(counts[1]! - counts[0]!).toBeLessThan(5);
});
