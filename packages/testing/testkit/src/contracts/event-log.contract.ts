import { type Announcement, type DomainEvent, type EventSeq, isReadable, type MessageId } from '@parley/domain/kernel';
import { aChannel, aMessage, anotherRealm, aRealm, aUser, createFixtureOn, type Fixture } from '../builders.js';
import { appendEvent } from '../events-with-receivers.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const eventsWithReceivers = (name: string, quotes?: MessageId): Announcement => ({
  event: {
    type: 'message.flag_changed',
    op: 'add',
    flag: 'read',
    messageIds: [],
    all: name === 'all',
    details: [],
  } satisfies DomainEvent,
  audience: { kind: 'anyOf', of: [{ kind: 'realm' }, { kind: 'queue', id: name }] },
  ...(quotes !== undefined && { quotes }),
});

const append = (fixture: Fixture, announcement: Announcement): Promise<EventSeq> =>
  fixture.uow.write(fixture.realm.id, (tx) => appendEvent(tx, fixture.realm.id, announcement));

/** Lists events since the test began. */
const listed = (fixture: Fixture, after: number, limit = 100, maxBytes?: number) =>
  fixture.uow.read(fixture.realm.id, (r) => r.events.listAfter(fixture.realm.id, after as EventSeq, limit, maxBytes));

const logged = async (fixture: Fixture, after: number, limit?: number) =>
  (await listed(fixture, after, limit)).filter(isReadable);

export function eventLogContract(open: OpenStorage): void {
  describe('event log', () => {
    const stage = stagesOn(open);

    it('stores an event with audience and time', async () => {
      const fixture = await stage();
      const start = await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id));
      fixture.clock.advance(60);
      const seq = await append(fixture, eventsWithReceivers('a'));
      expect(await logged(fixture, start)).toEqual([
        {
          realmId: fixture.realm.id,
          seq,
          event: eventsWithReceivers('a').event,
          audience: eventsWithReceivers('a').audience,
          at: fixture.clock.now(),
          quotes: null,
        },
      ]);
    });

    it('stores which messages an event quotes', async () => {
      const fixture = await stage();
      const seq = await append(fixture, eventsWithReceivers('a', 11 as MessageId));
      expect((await logged(fixture, seq - 1))[0]!.quotes).toBe(11);
    });

    it('numbers events per realm in commit order without gaps', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const start = await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id));
      const otherStart = await fixture.uow.read(other.realm.id, (r) => r.events.lastSeq(other.realm.id));
      const failing = fixture.uow.write(fixture.realm.id, async (tx) => {
        await tx.events.append(fixture.realm.id, eventsWithReceivers('lost'));
        throw new Error('no');
      });
      const seqs = await Promise.allSettled([
        append(fixture, eventsWithReceivers('a')),
        failing,
        append(other, eventsWithReceivers('b')),
        append(fixture, eventsWithReceivers('c')),
      ]);
      expect(seqs.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
        start + 1,
        'failed',
        otherStart + 1,
        start + 2,
      ]);
      expect(await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id))).toBe(start + 2);
      expect((await logged(fixture, start)).map(({ seq }) => seq)).toEqual([start + 1, start + 2]);
      expect((await logged(other, otherStart)).map(({ audience }) => audience)).toEqual([
        eventsWithReceivers('b').audience,
      ]);
    });

    it('contains an event from the creation of the realm', async () => {
      const fixture = await stage();
      expect(await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id))).toBeGreaterThan(0);
    });

    it('lists the newest event of every realm, ascending', async () => {
      const fixture = await stage();
      const other = await createFixtureOn(fixture.uow, fixture.clock, aRealm({ stringId: 'another' }));
      const seq = await append(fixture, eventsWithReceivers('a'));
      const otherSeq = await fixture.uow.read(other.realm.id, (r) => r.events.lastSeq(other.realm.id));
      expect(await fixture.uow.readAcross((r) => r.events.listLastSeqs())).toEqual([
        { realmId: fixture.realm.id, seq, prunedUpTo: 0 },
        { realmId: other.realm.id, seq: otherSeq, prunedUpTo: 0 },
      ]);
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.events.prune(fixture.realm.id, seq, fixture.clock.now() + 1, 1000),
      );
      expect((await fixture.uow.readAcross((r) => r.events.listLastSeqs()))[0]).toEqual({
        realmId: fixture.realm.id,
        seq,
        prunedUpTo: seq,
      });
    });

    it('limits the number of listed events', async () => {
      const fixture = await stage();
      const start = await append(fixture, eventsWithReceivers('0'));
      for (const name of ['1', '2', '3']) await append(fixture, eventsWithReceivers(name));
      expect((await logged(fixture, start, 2)).map(({ seq }) => seq)).toEqual([start + 1, start + 2]);
      expect((await logged(fixture, start + 2, 2)).map(({ seq }) => seq)).toEqual([start + 3]);
      expect(await logged(fixture, start + 3)).toEqual([]);
    });

    it('limits the listed bytes but returns at least one event', async () => {
      const fixture = await stage();
      const start = await append(fixture, eventsWithReceivers('0'));
      for (const name of ['1', '2', '3', '4']) await append(fixture, eventsWithReceivers(name));
      const count = async (maxBytes: number) => (await listed(fixture, start, 100, maxBytes)).length;
      expect([await count(1), await count(250), await count(10_000)]).toEqual([1, 2, 4]);
    });

    it('counts compressed message lists at their uncompressed size', async () => {
      const fixture = await stage();
      const messageIds = Array.from({ length: 1000 }, (_, n) => (1_000_000 + 20 * n) as MessageId);
      const { event, audience } = eventsWithReceivers('0');
      const start = await append(fixture, { event, audience });
      for (let n = 0; n < 3; n++) await append(fixture, { event: { ...event, messageIds } as typeof event, audience });
      const events = await listed(fixture, start, 100, 10_000);
      expect(events.map((each) => isReadable(each) && each.event)).toEqual([
        { ...event, messageIds },
        { ...event, messageIds },
      ]);
    });

    it.each([
      ['with a payload that is not JSON', { payload: '{"type":' }, true],
      ['with a payload that is not an event', { payload: 'null' }, true],
      ['with an unknown type', { payload: '{"type":"made.up"}' }, true, true],
      ['with a type of Object.prototype', { payload: '{"type":"constructor"}' }, true, true],
      ['in a format of a version after the next', { format: 99 }, true, true],
      ['with a damaged list of messages', { payload: '{"type":"message.deleted","messageIds":{"steps":1}}' }, true],
      ['in a format of an earlier version', { payload: '{"type":"message.sent"}', format: 1 }, true],
      ['with an audience that is not JSON', { audience: '' }, false],
      ['with an invalid audience', { audience: '{"kind":"users","ids":["1"]}' }, false],
    ])('reports an event %s as unreadable and lists the others', async (_, parts, hasAudience, isNewer = false) => {
      const fixture = await stage();
      const start = await append(fixture, eventsWithReceivers('0'));
      for (const name of ['1', '2', '3']) await append(fixture, eventsWithReceivers(name));
      await fixture.storage.damage.event(fixture.realm.id, (start + 2) as EventSeq, parts);
      const events = await listed(fixture, start);
      expect(events.map(isReadable)).toEqual([true, false, true]);
      expect(events[1]).toEqual({
        realmId: fixture.realm.id,
        seq: start + 2,
        at: fixture.clock.now(),
        audience: hasAudience ? eventsWithReceivers('2').audience : null,
        reason: expect.any(String),
        ...(isNewer && { isNewer }),
      });
    });

    it('lists events in their stored form, and replaces their payload or makes them blank', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const seqs: EventSeq[] = [];
      for (const name of ['a', 'b', 'c']) seqs.push(await append(fixture, eventsWithReceivers(name)));
      const start = seqs[0]! - 1;
      const rows = await uow.read(realm.id, ({ events }) => events.listRows(realm.id, start, 2));
      expect(rows.map(({ seq }) => seq)).toEqual(seqs.slice(0, 2));
      await uow.write(realm.id, async (tx) => {
        const payload = JSON.stringify({ ...JSON.parse(rows[0]!.payload), flag: 'starred' });
        await tx.events.replace(realm.id, seqs[0]!, payload);
        await tx.events.replace(realm.id, seqs[1]!, null);
      });
      expect((await logged(fixture, start)).map(({ event }) => ('flag' in event ? event.flag : event.type))).toEqual([
        ...['starred', 'blank', 'read'],
      ]);
    });

    it('blanks events that quote a message, keeps their position and logs it', async () => {
      const fixture = await stage();
      const start = await append(fixture, eventsWithReceivers('0'));
      await append(fixture, eventsWithReceivers('1', 11 as MessageId));
      await append(fixture, eventsWithReceivers('2', 12 as MessageId));
      await append(fixture, eventsWithReceivers('3'));
      await append(fixture, eventsWithReceivers('4', 11 as MessageId));
      await fixture.storage.damage.event(fixture.realm.id, (start + 4) as EventSeq, { format: 7 });
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.events.blank(fixture.realm.id, [11 as MessageId, 13 as MessageId]),
      );
      const events = await logged(fixture, start);
      expect(events.map(({ seq }) => seq - start)).toEqual([1, 2, 3, 4, 5]);
      expect(events.map(({ event }) => event.type)).toEqual([
        'blank',
        'message.flag_changed',
        'message.flag_changed',
        'blank',
        'blanked',
      ]);
      expect(events[4]).toMatchObject({ event: { messageIds: [11, 13] }, audience: { kind: 'nobody' } });
      expect(events[0]!.event).toEqual({ type: 'blank' });
    });

    describe('of sent messages', () => {
      const people = [aUser({ name: 'a' }), aUser({ name: 'b' })];
      const town = aChannel({ name: 'town', subscribers: ['a', 'b'] });
      const elsewhere = aChannel({ name: 'elsewhere' });

      /** Appends the event of the fixture's message. */
      const announce = async (fixture: Fixture) => {
        const { uow, realm, messages } = fixture;
        const { id } = messages[0]!;
        const [view] = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [id]));
        const event = {
          type: 'message.sent',
          view: view!,
          isPublic: true,
          exceptions: [[fixture.user('b').id, { mentioned: true }]],
          echo: { queueId: 'q', localId: '1.5' },
        } satisfies DomainEvent;
        return { id, event, seq: await append(fixture, { event, audience: { kind: 'realm' }, quotes: id }) };
      };
      const read = async (fixture: Fixture, seq: EventSeq) => (await logged(fixture, seq - 1, 1))[0]!;

      it.each([
        ['a channel', 'town'],
        ['a direct conversation', ['a', 'b']],
      ])('lists a message to %s as it was sent', async (_, to) => {
        const fixture = await stage(...people, town, aMessage({ from: 'a', to, content: 'See https://example.org' }));
        const { id, event, seq } = await announce(fixture);
        expect(await read(fixture, seq)).toMatchObject({ seq, event, quotes: id, audience: { kind: 'realm' } });
      });

      it('lists a message with submessages as it was sent', async () => {
        const fixture = await stage(...people, town, aMessage({ from: 'a', to: 'town' }));
        const { uow, realm, user, messages } = fixture;
        const add = (content: string) =>
          uow.write(realm.id, (tx) =>
            tx.messages.addSubmessage(realm.id, {
              messageId: messages[0]!.id,
              senderId: user('a').id,
              kind: 'widget',
              content,
            }),
          );
        await add('first');
        const { event, seq } = await announce(fixture);
        await add('second');
        expect((await read(fixture, seq)).event).toEqual(event);
      });

      it('lists a message with its first text and location after edits and a move', async () => {
        const fixture = await stage(...people, town, elsewhere, aMessage({ from: 'a', to: 'town', topic: 'lunch' }));
        const { uow, realm, user, channel, messages } = fixture;
        const { id, event, seq } = await announce(fixture);
        const edit = { userId: user('a').id, editedAt: 5, topic: null, channelId: null };
        for (const content of ['second text', 'third text']) {
          await uow.write(realm.id, async (tx) => {
            await tx.edits.add(realm.id, edit, [id], id);
            await tx.messages.edit(realm.id, id, {
              ...messages[0]!,
              content,
              renderedContent: `<p>${content}</p>`,
              hasLink: true,
              mentionsChannel: true,
              editedAt: 6,
              exceptions: new Map(),
            });
          });
        }
        const { id: channelId, recipientId } = channel('elsewhere');
        await uow.write(realm.id, async (tx) => {
          await tx.edits.add(realm.id, { ...edit, topic: 'dinner', channelId }, [id]);
          await tx.moves.move(realm.id, [id], {
            recipientId,
            channelId,
            topic: 'dinner',
            topicLinks: [],
            movedAt: 7,
            isHistoryProtected: false,
          });
        });
        expect((await read(fixture, seq)).event).toEqual(event);
      });

      it('lists a message by the present name of its sender', async () => {
        const fixture = await stage(...people, town, aMessage({ from: 'a', to: 'town' }));
        const { uow, realm, user } = fixture;
        const { event, seq } = await announce(fixture);
        await uow.write(realm.id, (tx) => tx.users.update({ ...user('a'), fullName: 'Anna' }));
        expect((await read(fixture, seq)).event).toEqual({
          ...event,
          view: { ...event.view, sender: { ...event.view.sender, fullName: 'Anna' } },
        });
      });

      it('lists a message as blank if it is deleted, or if its first text is gone', async () => {
        const fixture = await stage(
          ...people,
          town,
          aMessage({ from: 'a', to: 'town' }),
          aMessage({ from: 'a', to: 'town', content: 'no news' }),
        );
        const { uow, realm, messages } = fixture;
        const [deleted, lost] = messages;
        const { event, seq } = await announce(fixture);
        const [view] = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [lost!.id]));
        await append(fixture, { event: { ...event, view: view! }, audience: { kind: 'realm' }, quotes: lost!.id });
        await uow.write(realm.id, async (tx) => {
          await tx.messages.remove(realm.id, [deleted!.id]);
          await tx.messages.edit(realm.id, lost!.id, {
            ...lost!,
            content: 'good news',
            renderedContent: '<p>good news</p>',
            editedAt: 6,
            exceptions: new Map(),
          });
        });
        expect((await logged(fixture, seq - 1)).map((each) => each.event)).toEqual([
          { type: 'blank' },
          { type: 'blank' },
        ]);
      });

      it('counts their texts when it limits the listed bytes', async () => {
        const content = 'x'.repeat(5000);
        const fixture = await stage(...people, town, aMessage({ from: 'a', to: 'town', content }));
        const { event, seq } = await announce(fixture);
        await append(fixture, { event, audience: { kind: 'realm' }, quotes: event.view.message.id });
        expect([await listed(fixture, seq - 1, 9, 4000), await listed(fixture, seq - 1, 9, 50_000)]).toMatchObject([
          [{ event }],
          [{ event }, { event }],
        ]);
      });
    });

    it('finds the newest event that, together with all later ones, exceeds a number of bytes', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const beyond = (bytes: number) => uow.read(realm.id, (r) => r.events.seqBeyond(realm.id, bytes));
      const [first, second, third] = [
        await append(fixture, eventsWithReceivers('ü'.repeat(2000))),
        await append(fixture, eventsWithReceivers('short')),
        await append(fixture, eventsWithReceivers('ü'.repeat(1000))),
      ];
      expect(await beyond(1999)).toBe(third);
      // Audience and keys count in addition to the text.
      expect(await beyond(2000 + 200)).toBe(second);
      expect(await beyond(4000)).toBe(first);
      expect(await beyond(1_000_000)).toBe(0);
    });

    it('shrinks the log of one realm to the newest events of a total size', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const rows: EventSeq[] = [];
      for (let n = 0; n < 20; n++) rows.push(await append(fixture, eventsWithReceivers('x'.repeat(1000))));
      const shrink = (bytes: number) => uow.write(realm.id, (tx) => tx.events.shrink(realm.id, bytes));
      await shrink(1_000_000);
      expect((await logged(fixture, 0)).map(({ seq }) => seq).slice(-20)).toEqual(rows);
      await shrink(6000);
      const kept = (await logged(fixture, 0)).map(({ seq }) => seq);
      expect(kept).toEqual(rows.slice(-kept.length));
      expect([4, 5]).toContain(kept.length);
      expect(await uow.read(realm.id, (r) => r.events.prunedUpTo(realm.id))).toBe(kept[0]! - 1);
      expect(await uow.read(realm.id, (r) => r.events.seqBeyond(realm.id, 6000))).toBe(0);
      await shrink(0);
      expect(await logged(fixture, 0)).toEqual([]);
      const next = await append(fixture, eventsWithReceivers('x'.repeat(1000)));
      expect([next, await uow.read(realm.id, (r) => r.events.seqBeyond(realm.id, 999))]).toEqual([
        rows.at(-1)! + 1,
        next,
      ]);
    });

    it('prunes sufficiently old events up to a sequence number', async () => {
      const fixture = await stage();
      const { uow, realm, clock } = fixture;
      const prune = (upTo: number, before: number) =>
        uow.write(realm.id, (tx) => tx.events.prune(realm.id, upTo as EventSeq, before, 1000));
      const prunedUpTo = () => uow.read(realm.id, (r) => r.events.prunedUpTo(realm.id));
      expect(await prunedUpTo()).toBe(0);
      const first = await append(fixture, eventsWithReceivers('1'));
      clock.advance(100);
      const middle = clock.now();
      await append(fixture, eventsWithReceivers('2'));
      const last = await append(fixture, eventsWithReceivers('3'));

      await prune(first, clock.now() - 1000);
      expect(await prunedUpTo()).toBe(0);
      await prune(last, middle);
      expect(await prunedUpTo()).toBe(first);
      expect((await logged(fixture, 0)).map(({ seq }) => seq)).toEqual([first + 1, first + 2]);
      await prune(first + 1, middle + 1);
      expect(await prunedUpTo()).toBe(first + 1);
      expect((await logged(fixture, 0)).map(({ seq }) => seq)).toEqual([last]);
    });

    it('prunes in batches and returns their size', async () => {
      const fixture = await stage();
      const { uow, realm, clock } = fixture;
      let entry = await append(fixture, eventsWithReceivers('1'));
      for (const name of ['2', '3', '4']) entry = await append(fixture, eventsWithReceivers(name));
      clock.advance(10);
      await append(fixture, eventsWithReceivers('young'));
      await uow.write(realm.id, (tx) => tx.events.prune(realm.id, (entry - 4) as EventSeq, clock.now(), 1000));
      const prune = (limit: number) =>
        uow.write(realm.id, (tx) => tx.events.prune(realm.id, (entry + 1) as EventSeq, clock.now(), limit));
      expect([await prune(3), await prune(3), await prune(3)]).toEqual([3, 1, 0]);
      expect((await logged(fixture, 0)).map(({ seq }) => seq)).toEqual([entry + 1]);
    });

    it('continues numbering after everything was pruned', async () => {
      const fixture = await stage();
      const { uow, realm, clock } = fixture;
      const entry = await append(fixture, eventsWithReceivers('1'));
      await uow.write(realm.id, (tx) => tx.events.prune(realm.id, entry, clock.now() + 1, 1000));
      expect(await logged(fixture, 0)).toEqual([]);
      expect(await uow.read(realm.id, (r) => r.events.lastSeq(realm.id))).toBe(entry);
      expect(await uow.read(realm.id, (r) => r.events.prunedUpTo(realm.id))).toBe(entry);
      expect(await append(fixture, eventsWithReceivers('2'))).toBe(entry + 1);
    });

    it('isolates realms', async () => {
      const fixture = await stage();
      const seq = await append(fixture, eventsWithReceivers('1', 11 as MessageId));
      const other = await anotherRealm(fixture);
      await fixture.uow.write(other.realm.id, async (tx) => {
        await tx.events.blank(other.realm.id, [11 as MessageId]);
        await tx.events.prune(other.realm.id, seq, fixture.clock.now() + 1, 1000);
      });
      expect((await logged(fixture, seq - 1))[0]!.event.type).toBe('message.flag_changed');
      expect(await fixture.uow.read(fixture.realm.id, (r) => r.events.prunedUpTo(fixture.realm.id))).toBe(0);
    });
  });
}
