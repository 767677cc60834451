import { aChannel, aMessage, aUser, createFixture, fakeRealmUrls, type MemoryFixture } from '@parley/testkit';
import { unsubscribeFromChannels } from '../channels/subscribing.js';
import { type Anchor, checkRange, clampRange, NEWEST_ANCHOR, selectPage } from './message-page.js';
import { resolveNarrow } from './narrow.js';
import { PLAIN_TEXTS } from './search.js';

/**
 * Creates ten messages in Denmark, one hour apart, each followed by one in Rome. Message n in Denmark is message 2n −
 * 1 overall.
 */
const tenMessages = async () => {
  const fixture = await createFixture(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'iago' }),
    aChannel({ name: 'Denmark', subscribers: ['hamlet'] }),
    aChannel({ name: 'Rome', subscribers: ['hamlet'] }),
  );
  for (let n = 1; n <= 10; n++) {
    await fixture.add(aMessage({ from: 'iago', to: 'Denmark' }), aMessage({ from: 'iago', to: 'Rome' }));
    fixture.clock.advance(3600);
  }
  return fixture;
};

const idOf = (fixture: MemoryFixture, n: number) => fixture.messages[2 * n - 2]!.id as number;

/** Returns a page of Denmark, with messages identified by their number there. */
const pageOf = (fixture: MemoryFixture, anchor: Anchor, before: number, after: number, includeAnchor = true) =>
  fixture.uow.read(fixture.realm.id, async (repositories) => {
    const actor = await repositories.actors.get(fixture.viewer('hamlet'));
    const denmark = [{ operator: 'channel', operand: 'Denmark', negated: false }];
    const narrow = await resolveNarrow(
      { reads: repositories, actor, realmUrls: fakeRealmUrls, words: PLAIN_TEXTS },
      denmark,
    );
    const page = await selectPage(repositories, actor, narrow, { anchor, before, after, includeAnchor });
    const numbers = page.entries.map(
      (entry) => fixture.messages.findIndex((message) => message.id === entry.id) / 2 + 1,
    );
    const found = (['Anchor', 'Oldest', 'Newest'] as const).filter((end) => page[`found${end}`]).join(' ');
    return { numbers, found, anchor: page.anchor };
  });

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('selectPage around a message', () => {
  /** `at`: number of a message in Denmark; with .5, the message in Rome after it. */
  it.each`
    at      | before | after | anchor   | numbers         | found
    ${6}    | ${5}   | ${4}  | ${true}  | ${range(1, 10)} | ${'Anchor'}
    ${6}    | ${10}  | ${10} | ${true}  | ${range(1, 10)} | ${'Anchor Oldest Newest'}
    ${6}    | ${6}   | ${5}  | ${true}  | ${range(1, 10)} | ${'Anchor Oldest Newest'}
    ${6}    | ${2}   | ${1}  | ${true}  | ${range(4, 7)}  | ${'Anchor'}
    ${6}    | ${0}   | ${0}  | ${true}  | ${[6]}          | ${'Anchor'}
    ${6}    | ${0}   | ${0}  | ${false} | ${[]}           | ${''}
    ${6}    | ${3}   | ${0}  | ${true}  | ${range(3, 6)}  | ${'Anchor'}
    ${6}    | ${3}   | ${0}  | ${false} | ${range(3, 5)}  | ${''}
    ${6}    | ${0}   | ${3}  | ${true}  | ${range(6, 9)}  | ${'Anchor'}
    ${6}    | ${0}   | ${3}  | ${false} | ${range(7, 9)}  | ${''}
    ${1}    | ${3}   | ${0}  | ${true}  | ${[1]}          | ${'Anchor Oldest'}
    ${1}    | ${3}   | ${0}  | ${false} | ${[]}           | ${'Oldest'}
    ${10}   | ${0}   | ${3}  | ${false} | ${[]}           | ${'Newest'}
    ${10}   | ${0}   | ${1}  | ${true}  | ${[10]}         | ${'Anchor Newest'}
    ${6.5}  | ${2}   | ${2}  | ${true}  | ${range(5, 8)}  | ${''}
    ${6.5}  | ${2}   | ${0}  | ${true}  | ${[5, 6]}       | ${''}
    ${6.5}  | ${0}   | ${2}  | ${true}  | ${[7, 8]}       | ${''}
    ${6.5}  | ${0}   | ${0}  | ${true}  | ${[]}           | ${''}
    ${1.5}  | ${1}   | ${0}  | ${true}  | ${[1]}          | ${''}
    ${10.5} | ${1}   | ${1}  | ${true}  | ${[10]}         | ${'Newest'}
  `(
    'returns at $at with $before before and $after after the page including its anchor: $anchor',
    async ({ at, before, after, anchor, numbers, found }) => {
      const fixture = await tenMessages();
      const id = fixture.messages[2 * at - 2]!.id;
      expect(await pageOf(fixture, { kind: 'id', id }, before, after, anchor)).toEqual({ numbers, found, anchor: id });
    },
  );
});

describe('selectPage at an end', () => {
  it.each`
    end         | before | after | include  | numbers         | found              | effective
    ${'newest'} | ${5}   | ${0}  | ${true}  | ${range(6, 10)} | ${'Newest'}        | ${NEWEST_ANCHOR}
    ${'newest'} | ${5}   | ${0}  | ${false} | ${range(6, 10)} | ${'Newest'}        | ${NEWEST_ANCHOR}
    ${'newest'} | ${20}  | ${7}  | ${true}  | ${range(1, 10)} | ${'Oldest Newest'} | ${NEWEST_ANCHOR}
    ${'newest'} | ${10}  | ${0}  | ${true}  | ${range(1, 10)} | ${'Newest'}        | ${NEWEST_ANCHOR}
    ${'newest'} | ${0}   | ${5}  | ${true}  | ${[]}           | ${'Newest'}        | ${NEWEST_ANCHOR}
    ${'oldest'} | ${0}   | ${5}  | ${true}  | ${range(1, 5)}  | ${'Oldest'}        | ${0}
    ${'oldest'} | ${0}   | ${5}  | ${false} | ${range(1, 5)}  | ${'Oldest'}        | ${0}
    ${'oldest'} | ${7}   | ${20} | ${true}  | ${range(1, 10)} | ${'Oldest Newest'} | ${0}
    ${'oldest'} | ${0}   | ${10} | ${true}  | ${range(1, 10)} | ${'Oldest'}        | ${0}
    ${'oldest'} | ${0}   | ${0}  | ${true}  | ${[]}           | ${'Oldest'}        | ${0}
  `(
    'returns from $end the page with $before before and $after after',
    async ({ end, before, after, include, numbers, found, effective }) => {
      const page = await pageOf(await tenMessages(), { kind: end }, before, after, include);
      expect(page).toEqual({ numbers, found, anchor: effective });
    },
  );

  it.each([
    [-1, 0, 'Oldest'],
    [NEWEST_ANCHOR + 1, NEWEST_ANCHOR, 'Newest'],
  ])('treats an anchor beyond the end, %d, as the end', async (id, anchor, found) => {
    const page = await pageOf(await tenMessages(), { kind: 'id', id }, 0, 0);
    expect(page).toEqual({ numbers: [], found, anchor });
  });
});

describe('selectPage at the first unread message', () => {
  const firstUnread = { kind: 'firstUnread' } as const;
  const read = (fixture: MemoryFixture, ...numbers: readonly number[]) =>
    fixture.uow.write(fixture.realm.id, (tx) =>
      tx.personal.setRead(
        fixture.viewer('hamlet'),
        numbers.map((n) => fixture.messages[2 * n - 2]!.id),
        true,
      ),
    );

  it('starts at the first unread message', async () => {
    const fixture = await tenMessages();
    await read(fixture, 1, 2, 4);
    expect(await pageOf(fixture, firstUnread, 1, 1)).toEqual({
      numbers: [2, 3, 4],
      found: 'Anchor',
      anchor: idOf(fixture, 3),
    });
  });

  it('starts at the newest end if everything is read', async () => {
    const fixture = await tenMessages();
    await read(fixture, ...range(1, 10));
    expect(await pageOf(fixture, firstUnread, 2, 2)).toEqual({
      numbers: [9, 10],
      found: 'Newest',
      anchor: NEWEST_ANCHOR,
    });
  });

  const mute = (fixture: MemoryFixture, name: string) =>
    fixture.uow.write(fixture.realm.id, async (tx) => {
      const { realmId, userId } = fixture.viewer('hamlet');
      const row = (await tx.channels.findSubscription(realmId, fixture.channel(name).id, userId))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    });

  it('includes a muted channel named in the narrow', async () => {
    const fixture = await tenMessages();
    await mute(fixture, 'Denmark');
    expect((await pageOf(fixture, firstUnread, 0, 0)).numbers).toEqual([1]);
  });

  it('skips muted channels if the narrow names none', async () => {
    const fixture = await tenMessages();
    await mute(fixture, 'Denmark');
    const anchor = await fixture.uow.read(fixture.realm.id, async (repositories) => {
      const actor = await repositories.actors.get(fixture.viewer('hamlet'));
      const narrow = await resolveNarrow(
        { reads: repositories, actor, realmUrls: fakeRealmUrls, words: PLAIN_TEXTS },
        [],
      );
      const page = await selectPage(repositories, actor, narrow, {
        anchor: firstUnread,
        before: 0,
        after: 0,
        includeAnchor: true,
      });
      return page.anchor;
    });
    expect(anchor).toBe(fixture.messages[1]!.id);
  });

  it('skips muted topics even in the channel named in the narrow', async () => {
    const fixture = await tenMessages();
    const { realmId, userId } = fixture.viewer('hamlet');
    const { channelId, topic } = fixture.messages.find(({ id }) => id === idOf(fixture, 1))!;
    await fixture.uow.write(realmId, (tx) =>
      tx.topicPolicies.put({ realmId, userId, channelId: channelId!, topic, visibility: 'muted', changedAt: 0 }),
    );
    expect((await pageOf(fixture, firstUnread, 0, 0)).anchor).toBe(NEWEST_ANCHOR);
  });

  it('ignores unsubscribed channels', async () => {
    const fixture = await tenMessages();
    await fixture.uow.write(fixture.realm.id, (tx) =>
      unsubscribeFromChannels(tx, [fixture.channel('Denmark')], [fixture.user('hamlet').id]),
    );
    expect((await pageOf(fixture, firstUnread, 1, 0)).anchor).toBe(NEWEST_ANCHOR);
  });
});

describe('selectPage at a date', () => {
  const hour = (fixture: MemoryFixture, n: number) => fixture.messages[0]!.sentAt + n * 3600;

  it.each`
    hours  | numbers | found       | what
    ${-5}  | ${[1]}  | ${'Anchor'} | ${'before everything'}
    ${3}   | ${[4]}  | ${'Anchor'} | ${'when a message was sent'}
    ${3.5} | ${[5]}  | ${'Anchor'} | ${'between two'}
    ${10}  | ${[]}   | ${'Newest'} | ${'after everything'}
  `('anchors the page $what', async ({ hours, numbers, found }) => {
    const fixture = await tenMessages();
    const page = await pageOf(fixture, { kind: 'date', since: hour(fixture, hours) }, 0, 0);
    expect(page).toEqual({ numbers, found, anchor: numbers.length > 0 ? idOf(fixture, numbers[0]) : NEWEST_ANCHOR });
  });

  it('starts at the newest end if only nonmatching messages are newer', async () => {
    const fixture = await tenMessages();
    await fixture.add(aMessage({ from: 'iago', to: 'Rome' }));
    expect((await pageOf(fixture, { kind: 'date', since: hour(fixture, 10) }, 1, 0)).anchor).toBe(NEWEST_ANCHOR);
  });
});

it.each`
  before | after | includeAnchor | possible
  ${1}   | ${1}  | ${false}      | ${false}
  ${1}   | ${1}  | ${true}       | ${true}
  ${1}   | ${0}  | ${false}      | ${true}
  ${0}   | ${1}  | ${false}      | ${true}
`(
  'checkRange accepts a range of -$before +$after including the anchor ($includeAnchor): $possible',
  ({ before, after, includeAnchor, possible }) => {
    const check = () => checkRange({ anchor: { kind: 'newest' }, before, after, includeAnchor });
    if (possible) expect(check).not.toThrow();
    else expect(check).toThrow('The anchor can only be excluded at an end of the range');
  },
);

it.each`
  before  | after   | takenBefore | takenAfter
  ${3000} | ${3000} | ${2500}     | ${2500}
  ${6000} | ${0}    | ${5000}     | ${0}
  ${0}    | ${6000} | ${0}        | ${5000}
  ${4000} | ${2000} | ${3000}     | ${2000}
  ${1000} | ${9000} | ${1000}     | ${4000}
  ${2000} | ${3000} | ${2000}     | ${3000}
`(
  'clampRange limits a range of -$before +$after to -$takenBefore +$takenAfter',
  ({ before, after, takenBefore, takenAfter }) => {
    const range = { anchor: { kind: 'newest' }, includeAnchor: true } as const;
    expect(clampRange({ ...range, before, after })).toEqual({ ...range, before: takenBefore, after: takenAfter });
  },
);
