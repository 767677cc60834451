import { EXPORT_PARTS } from '@parley/domain/composition';
import type { AppendedCopy } from '@parley/domain/exports';
import type {
  ChannelId,
  IdKind,
  MessageId,
  RealmId,
  RecipientId,
  Transaction,
  UnixSeconds,
} from '@parley/domain/kernel';
import type { Viewer } from '@parley/domain/messages';
import { aChannel, aMessage, anotherRealm, aUser } from '../builders.js';
import { NO_FLAGS } from '../memory/personal-rows.js';
import { idsOf, type OpenStorage, own, stagesOn } from './storage-under-test.js';

const PIECES = [
  aUser({ name: 'iago' }),
  aUser({ name: 'hamlet' }),
  aUser({ name: 'cordelia' }),
  aChannel({ name: 'denmark', subscribers: ['iago'] }),
  ...Array.from({ length: 10 }, () => aMessage({ from: 'iago', to: 'denmark' })),
];

const KINDS: readonly IdKind[] = [
  'realm',
  'user',
  'group',
  'recipient',
  'channel',
  'customEmoji',
  'message',
  'file',
  ...[...EXPORT_PARTS.people, ...EXPORT_PARTS.realm].flatMap(({ idKinds = [] }) => idKinds),
];

export function copyRepositoryContract(open: OpenStorage): void {
  describe('copy repository', () => {
    const stage = stagesOn(open);

    it('lists all messages of the realm in batches', async () => {
      const fixture = await stage(...PIECES);
      await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
      await fixture.add(aMessage({ from: 'iago', to: 'denmark' }));
      const { uow, realm } = fixture;
      const ids = fixture.messages.map(({ id }) => id);
      const pages = await uow.read(realm.id, async ({ copies }) => [
        await copies.listMessageIds(realm.id, 0, 8),
        await copies.listMessageIds(realm.id, ids[7]!, 3),
        await copies.listMessageIds(realm.id, ids[9]! + 1, 3),
      ]);
      expect(pages).toEqual([
        { ids: ids.slice(0, 8), reached: ids[7] },
        { ids: ids.slice(8, 10), reached: ids[9]! + 1 },
        { ids: ids.slice(10), reached: null },
      ]);
    });

    it('counts all messages ever sent to recipients of the realm, including deleted ones', async () => {
      const fixture = await stage(...PIECES);
      const other = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
      const { uow, realm, channel, messages } = fixture;
      const ids = [channel('denmark').recipientId, other.channel('theirs').recipientId];
      const count = () => uow.read(realm.id, ({ copies }) => copies.countSentTo(realm.id, ids));
      expect(await count()).toBe(10);
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [messages[0]!.id]));
      expect(await count()).toBe(10);
      expect(await uow.read(realm.id, ({ copies }) => copies.countSentTo(realm.id, []))).toBe(0);
    });

    it('lists the recipients from which a user ever received messages', async () => {
      const { uow, realm, user, channel, viewer } = await stage(...PIECES);
      const { recipientId } = channel('denmark');
      const received = (name: string) => uow.read(realm.id, (r) => r.copies.listReceivedRecipients(viewer(name)));
      expect([await received('iago'), await received('hamlet')]).toEqual([[recipientId], []]);
      await uow.write(realm.id, (tx) => tx.personal.closeSpans(realm.id, [recipientId], [user('iago').id]));
      expect(await received('iago')).toEqual([recipientId]);
    });

    it('lists at least the users who gained or flagged a message without receiving it', async () => {
      const { uow, realm, messages, user, viewer } = await stage(...PIECES);
      const ids = messages.map(({ id }) => id);
      await uow.write(realm.id, (tx) => tx.personal.setFlag(viewer('iago'), [ids[0]!], 'starred', true));
      await uow.write(realm.id, (tx) => tx.personal.addHistorical(viewer('hamlet'), [ids[1]!]));
      const flagging = await uow.read(realm.id, (r) => r.copies.listFlagging(realm.id, ids));
      expect(flagging.get(ids[0]!)).toContain(user('iago').id);
      expect(flagging.get(ids[1]!)).toContain(user('hamlet').id);
      const fixture = await anotherRealm(await stage(...PIECES));
      expect(await fixture.uow.read(fixture.realm.id, (r) => r.copies.listFlagging(fixture.realm.id, ids))).toEqual(
        new Map(),
      );
    });

    it('assigns ids of recipients from the raised minimum on, which never falls', async () => {
      const { uow, realm, user } = await stage(...PIECES);
      const open = (name: string) => uow.write(realm.id, (tx) => tx.recipients.openDirect(realm.id, [user(name).id]));
      await uow.writeAcross((tx) => tx.copies.raiseIds('recipient', 41));
      expect(await open('iago')).toBe(41);
      await uow.writeAcross((tx) => tx.copies.raiseIds('recipient', 7));
      expect(await open('hamlet')).toBe(42);
      expect(await uow.writeAcross((tx) => tx.copies.lastId('recipient'))).toBe(42);
    });

    it.each(KINDS)('counts the ids of each kind separately: %s', async (kind) => {
      const { uow } = await stage(...PIECES);
      const counted = () =>
        uow.writeAcross(async ({ copies }) => {
          const lasts: number[] = [];
          for (const each of KINDS) lasts.push(await copies.lastId(each));
          return lasts;
        });
      const before = await counted();
      await uow.writeAcross((tx) => tx.copies.raiseIds(kind, 1000));
      expect(await counted()).toEqual(before.map((last, index) => (KINDS[index] === kind ? 999 : last)));
    });

    it('adds channels under reserved ids in any order', async () => {
      const { uow, realm, channel } = await stage(...PIECES);
      const { id: _, recipientId: __, version: ___, ...row } = channel('denmark');
      const added = await uow.write(realm.id, async (tx) => {
        const first = ((await tx.copies.lastId('channel')) + 1) as ChannelId;
        await tx.copies.raiseIds('channel', first + 10);
        const later = await tx.channels.add({ ...row, name: 'later' }, (first + 9) as ChannelId);
        const earlier = await tx.channels.add({ ...row, name: 'earlier' }, first);
        const next = await tx.channels.add({ ...row, name: 'next' });
        expect([later.id, earlier.id, next.id]).toEqual([first + 9, first, first + 10]);
        return [earlier, later, next];
      });
      const ids = added.map(({ id }) => id);
      expect(await uow.read(realm.id, ({ channels }) => channels.list(realm.id, ids))).toEqual(added);
      const all = (await uow.read(realm.id, ({ channels }) => channels.listAll(realm.id))).map(({ id }) => id);
      expect(all.slice(-3)).toEqual(ids);
    });

    it.each<[IdKind, (tx: Transaction, own: Viewer, id?: never) => Promise<{ readonly id: number }>]>([
      ['draft', (tx, own, id) => tx.drafts.add({ ...own, to: { kind: 'nobody' }, content: 'a', editedAt: 5 }, id)],
      [
        'snippet',
        (tx, own, id) => tx.snippets.add({ ...own, title: 'a', content: 'b', createdAt: 5 as UnixSeconds }, id),
      ],
      [
        'scheduled',
        (tx, own, id) =>
          tx.scheduledMessages.add(
            {
              ...{ ...own, to: { kind: 'userIds', ids: [own.userId] }, topic: '', content: 'a', renderedContent: 'a' },
              ...{ dueAt: 5 as UnixSeconds, clientName: 'x', isReadBySender: true, status: 'waiting', failure: null },
            },
            id,
          ),
      ],
      [
        'scheduled',
        (tx, own, id) =>
          tx.reminders.add(
            {
              ...{ ...own, messageId: 1 as MessageId, note: '', content: 'a', renderedContent: 'a' },
              dueAt: 5 as UnixSeconds,
              failure: null,
            },
            id,
          ),
      ],
    ])('adds personal data under reserved ids in any order: %s', async (kind, add) => {
      const { uow, realm, user } = await stage(...PIECES);
      const owner = { realmId: realm.id, userId: user('iago').id };
      const ids = await uow.write(realm.id, async (tx) => {
        await tx.copies.raiseIds(kind, 51);
        const added = [await add(tx, owner, 49 as never), await add(tx, owner, 40 as never), await add(tx, owner)];
        return added.map(({ id }) => id);
      });
      expect(ids).toEqual([49, 40, 51]);
      const stored = await uow.read(realm.id, async ({ drafts, snippets, scheduledMessages, reminders }) => [
        ...(await drafts.list(realm.id, owner.userId, 10)),
        ...(await snippets.list(realm.id, owner.userId, 10)),
        ...(await scheduledMessages.list(realm.id, owner.userId, 10)),
        ...(await reminders.list(realm.id, owner.userId, 10)),
      ]);
      expect(stored.map(({ id }) => id).sort((a, b) => a - b)).toEqual([40, 49, 51]);
    });

    it('appends messages under reserved ids', async () => {
      const { uow, realm, user, channel, messages, viewer } = await stage(...PIECES);
      const { recipientId, id: channelId } = channel('denmark');
      const last = messages.at(-1)!;
      const ordinals = [last.ordinal + 1, 1, last.ordinal + 2];
      const copyOf = (
        id: number,
        topic: string,
        to: Pick<AppendedCopy, 'recipientId' | 'channelId'>,
      ): AppendedCopy => ({
        ...last,
        ...to,
        id: id as MessageId,
        senderId: user('cordelia').id,
        topic,
        content: `text ${id}`,
        renderedContent: `<p>text ${id}</p>`,
        isEdited: true,
        lastEditedAt: 7,
      });
      const added = await uow.write(realm.id, async (tx) => {
        const direct = await tx.recipients.openDirect(realm.id, [user('iago').id, user('cordelia').id]);
        expect(await tx.copies.lastId('message')).toBeGreaterThanOrEqual(last.id);
        await tx.copies.raiseIds('message', last.id + 100);
        expect(await tx.copies.lastId('message')).toBe(last.id + 99);
        const rows = [
          copyOf(last.id + 5, 'a', { recipientId, channelId }),
          copyOf(last.id + 6, '', { recipientId: direct, channelId: null }),
          copyOf(last.id + 9, 'b', { recipientId, channelId }),
        ];
        expect(await tx.copies.appendMessages(rows, rows[0]!.id)).toEqual(ordinals);
        return rows;
      });
      const ids = added.map(({ id }) => id);
      const stored = await uow.read(realm.id, (r) => r.messages.list(realm.id, ids));
      expect(stored).toMatchObject(
        added.map((row, n) => ({ ...row, sentRecipientId: row.recipientId, ordinal: ordinals[n] })),
      );
      const search = own({ kind: 'search', words: [[[String(ids[2])]]], phrases: [] });
      const found = await uow.read(realm.id, ({ pages }) => pages.listEntriesUpTo(viewer('iago'), search, null, 10));
      expect(idsOf(found)).toEqual([ids[2]]);
      // Subscribers receive the messages, and later messages get other ids.
      expect([...(await uow.read(realm.id, (r) => r.personal.listFlags(viewer('iago'), ids))).keys()]).toEqual(ids);
      const next = await uow.write(realm.id, (tx) =>
        tx.messages.append({ ...added[0]!, readBy: [], exceptions: new Map() }),
      );
      expect([next.id, next.ordinal]).toEqual([last.id + 100, last.ordinal + 3]);
    });

    it('appends messages older than existing ones and keeps lookups by time correct', async () => {
      const fixture = await stage(...PIECES);
      const { uow, realm, channel, clock } = fixture;
      const copied = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
      const { recipientId, id: channelId } = copied.channel('theirs');
      const [last] = copied.messages;
      const now = clock.now();
      const [day, days] = [86_400, 10];
      await uow.write(copied.realm.id, (tx) => tx.messages.remove(copied.realm.id, [last!.id]));
      /** Appends messages of the preceding days, one a day, in two pages. */
      const append = (count: number, since: number) =>
        uow.writeAcross(async (tx) => {
          const first = ((await tx.copies.lastId('message')) + 1) as MessageId;
          await tx.copies.raiseIds('message', first + 2 * count);
          for (const half of [0, count]) {
            const rows = Array.from({ length: count }, (_, n) => ({
              ...last!,
              id: (first + half + n) as MessageId,
              recipientId,
              channelId,
              sentAt: (since + (half + n) * day) as UnixSeconds,
            }));
            await tx.copies.appendMessages(rows, first);
          }
        });
      // The newest message is of yesterday.
      await append(days, now - 2 * days * day);
      const since = (seconds: number) =>
        uow.readAcross(async ({ topics, pages, messages }) => {
          const count = async (realmId: RealmId, id: RecipientId) =>
            (await topics.countSince(realmId, [id], (now - seconds) as UnixSeconds)).get(id) ?? 0;
          const copies = await count(copied.realm.id, recipientId);
          const ranges = await pages.listIdsSince(copied.realm.id, (now - seconds) as UnixSeconds);
          const ids = await messages.listOldestIds(copied.realm.id, recipientId, 100);
          const found = ids.filter((id) => ranges.some((range) => range.first <= id && id <= range.last));
          expect(found).toHaveLength(copies);
          return [await count(realm.id, channel('denmark').recipientId), copies];
        });
      expect(await since(0)).toEqual([10, 0]);
      expect(await since(5 * day)).toEqual([10, 5]);
      expect(await since(15 * day)).toEqual([10, 15]);
      expect(await since(50 * day)).toEqual([10, 20]);
      await copied.add(aMessage({ from: 'otherRealmUser', to: 'theirs' }));
      await fixture.add(aMessage({ from: 'iago', to: 'denmark' }));
      expect(await since(0)).toEqual([11, 1]);
      expect(await since(5 * day)).toEqual([11, 6]);
      expect(await since(50 * day)).toEqual([11, 21]);
      // The second import contains older messages than the ones sent since the first.
      await append(2, now - 16 * day);
      expect(await since(0)).toEqual([11, 1]);
      expect(await since(5 * day)).toEqual([11, 6]);
      expect(await since(15 * day)).toEqual([11, 19]);
      expect(await since(50 * day)).toEqual([11, 25]);
      await copied.add(aMessage({ from: 'otherRealmUser', to: 'theirs' }));
      expect(await since(0)).toEqual([11, 2]);
      expect(await since(15 * day)).toEqual([11, 20]);
    });

    it('keeps lookups by time correct when a sent message is older than earlier ones', async () => {
      const fixture = await stage(...PIECES);
      const { uow, realm, channel, clock } = fixture;
      const day = 86_400;
      const { recipientId } = channel('denmark');
      const since = (seconds: number) =>
        uow.read(realm.id, async ({ topics }) => {
          const time = (clock.now() - seconds) as UnixSeconds;
          return (await topics.countSince(realm.id, [recipientId], time)).get(recipientId) ?? 0;
        });
      const before = await since(day);
      const send = async (age: number) => {
        await fixture.add(aMessage({ from: 'iago', to: 'denmark', sentAt: clock.now() - age }));
        return fixture.messages.at(-1)!.id;
      };
      const first = await send(5 * day);
      await uow.write(realm.id, (tx) => tx.copies.noteRange(realm.id, { first, last: first }));
      const last = await send(4 * day);
      await uow.write(realm.id, (tx) => tx.copies.noteRange(realm.id, { first, last }));
      await fixture.add(aMessage({ from: 'iago', to: 'denmark' }));
      expect(await uow.read(realm.id, ({ copies }) => copies.listRanges(realm.id))).toEqual([{ first, last }]);
      expect(await since(day)).toBe(before + 1);
      expect(await since(4 * day)).toBe(before + 2);
      expect(await since(6 * day)).toBe(before + 3);
      const other = await anotherRealm(fixture);
      expect(await uow.read(other.realm.id, ({ copies }) => copies.listRanges(other.realm.id))).toEqual([]);
    });

    it('stores received and read messages by ordinals', async () => {
      const { uow, realm, messages, viewer } = await stage(...PIECES);
      const ids = messages.map(({ id }) => id);
      const { recipientId } = messages[0]!;
      const received = [
        { first: 2, last: 5 },
        { first: 8, last: 9 },
      ];
      await uow.write(realm.id, async (tx) => {
        await tx.copies.putReceived(viewer('hamlet'), recipientId, received, [{ first: 3, last: 4 }]);
        await tx.copies.putFlags(realm.id, [
          {
            userId: viewer('hamlet').userId,
            messageId: ids[1]!,
            flags: { ...NO_FLAGS, starred: true, mentioned: true },
          },
          {
            userId: viewer('hamlet').userId,
            messageId: ids[9]!,
            flags: { ...NO_FLAGS, historical: true, read: true, starred: true },
          },
        ]);
      });
      const flags = await uow.read(realm.id, (r) => r.personal.listFlags(viewer('hamlet'), ids));
      expect([...flags.keys()]).toEqual([2, 3, 4, 5, 8, 9, 10].map((n) => ids[n - 1]));
      expect([...flags.values()].map(({ read }) => read)).toEqual([false, true, true, false, false, false, true]);
      expect(flags.get(ids[1]!)).toEqual({ ...NO_FLAGS, starred: true, mentioned: true });
      expect(flags.get(ids[9]!)).toEqual({ ...NO_FLAGS, historical: true, read: true, starred: true });
      const unread = await uow.read(realm.id, (r) => r.personal.listUnread(viewer('hamlet'), 100, own()));
      expect(unread.map(({ id }) => id)).toEqual([2, 5, 8, 9].map((n) => ids[n - 1]));
      // Users may subscribe from here on.
      await uow.write(realm.id, (tx) => tx.personal.openSpans(realm.id, [recipientId], [viewer('hamlet').userId]));
      expect(await uow.read(realm.id, (r) => r.personal.newestId(viewer('hamlet')))).toBe(ids[9]);
    });

    it('stores the given edit history', async () => {
      const { uow, realm, messages, user } = await stage(...PIECES);
      const { id } = messages[0]!;
      const edits = [
        {
          userId: user('iago').id,
          editedAt: 20,
          previousContent: { content: 'b', rendered: '<p>b</p>' },
          topic: null,
          channel: null,
        },
        { userId: user('iago').id, editedAt: 10, previousContent: null, topic: { from: 'x', to: 'y' }, channel: null },
      ];
      await uow.write(realm.id, (tx) => tx.copies.putEdits(realm.id, id, edits));
      expect(await uow.read(realm.id, (r) => r.edits.list(realm.id, id))).toEqual(edits);
    });
  });
}
