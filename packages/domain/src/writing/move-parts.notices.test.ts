import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
  updating,
} from '@parley/testkit';
import { resolveToggle } from '../messages/message-permissions.js';
import { type CheckedMove, leaveNotices, type MoveEnding } from './move-parts.js';
import { MoveNotices } from './moves.js';
import { SystemMessages } from './system-messages.js';

const OPEN = aChannel({ name: 'open', subscribers: ['mover'] });

/** Returns the notices that still exist, with mentions and links shortened. */
async function noticesIn({ uow, realm, storage }: MemoryFixture) {
  const sent = storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view.message.id] : []));
  const messages = await uow.read(realm.id, (r) => r.messages.list(realm.id, sent));
  return messages.map(({ topic, content }) => {
    const text = content.replace(/@_\*\*mover\|\d+\*\*/, '@mover').replace(/\(http\S+\/near\/\d+\)/, '(link)');
    return [topic, text];
  });
}

describe('notices of a move', () => {
  type Place = readonly [channel: string, topic: string];
  type Circumstances = Partial<MoveEnding & Pick<CheckedMove, 'targetHadMessages'>>;
  const noticesOf = async (from: Place, to: Place, circumstances: Circumstances) => {
    const fixture = await createFixture(aUser({ name: 'mover' }), OPEN, aChannel({ name: 'other' }));
    const { uow, realm, channel, clock, caller } = fixture;
    const notices = new MoveNotices(new SystemMessages(new FakeRenderer(), fakeRealmUrls, clock), fakeRealmUrls, clock);
    const [source, target] = [channel(from[0]), channel(to[0])];
    const move: CheckedMove = {
      ...{ source, channel: target, isOtherChannel: source.id !== target.id, isOtherTopic: from[1] !== to[1] },
      ...{ previousTopic: from[1], topic: to[1], topicLinks: [], toggle: resolveToggle(from[1], to[1]) },
      ...{ ids: [], propagation: 'one', movedAt: clock.now(), targetHadMessages: false, ...circumstances },
    };
    const ending: MoveEnding = {
      ...{ messageId: 7 as never, count: 1, hasText: false, isWholeTopic: false, policies: null },
      ...{ notifiesOldThread: false, notifiesNewThread: false, ...circumstances },
    };
    await uow.write(realm.id, async (tx) =>
      leaveNotices(tx, notices, await tx.actors.get(caller('mover')), move, ending),
    );
    return noticesIn(fixture);
  };
  const PLANS: Place = ['open', 'plans'];
  const LATER: Place = ['open', 'later'];
  const RESOLVED: Place = ['open', '✔ plans'];
  const old = { notifiesOldThread: true };
  const fresh = { notifiesNewThread: true };
  const resolved = ['✔ plans', '@mover has marked this topic as resolved.'];

  it.each<[from: Place, to: Place, Circumstances, readonly (readonly string[])[]]>([
    [PLANS, LATER, {}, []],
    [PLANS, LATER, old, [['plans', 'A message was moved from this topic to #**open>later** by @mover.']]],
    [
      PLANS,
      LATER,
      { ...old, count: 3 },
      [['plans', '3 messages were moved from this topic to #**open>later** by @mover.']],
    ],
    [
      PLANS,
      LATER,
      { ...old, count: 3, isWholeTopic: true },
      [['plans', 'This topic was moved to #**open>later** by @mover.']],
    ],
    [PLANS, LATER, fresh, [['later', '[A message](link) was moved here from #**open>plans** by @mover.']]],
    [PLANS, LATER, { ...fresh, count: 3 }, [['later', '3 messages were moved here from #**open>plans** by @mover.']]],
    [
      PLANS,
      LATER,
      { ...fresh, count: 3, isWholeTopic: true },
      [['later', 'This topic was moved here from #**open>plans** by @mover.']],
    ],
    [
      PLANS,
      LATER,
      { ...fresh, count: 3, isWholeTopic: true, targetHadMessages: true },
      [['later', '3 messages were moved here from #**open>plans** by @mover.']],
    ],
    [PLANS, RESOLVED, fresh, [resolved]],
    [RESOLVED, PLANS, {}, [['plans', '@mover has marked this topic as unresolved.']]],
    [
      PLANS,
      RESOLVED,
      old,
      [resolved, ['plans', 'A message was moved from this topic to #**open>✔ plans** by @mover.']],
    ],
    [PLANS, RESOLVED, { hasText: true }, []],
    [
      PLANS,
      ['open', '✔ later'],
      fresh,
      [
        ['✔ later', '@mover has marked this topic as resolved.'],
        ['✔ later', '[A message](link) was moved here from #**open>plans** by @mover.'],
      ],
    ],
    [
      PLANS,
      ['other', '✔ plans'],
      fresh,
      [['✔ plans', '[A message](link) was moved here from #**open>plans** by @mover.']],
    ],
  ])('post for a move from %j to %j with %j the texts %j', async (from, to, circumstances, expected) => {
    expect(await noticesOf(from, to, circumstances)).toEqual(expected);
  });
});

describe('notice of a resolved topic', () => {
  const RESOLVED = '@mover has marked this topic as resolved.';
  const UNRESOLVED = '@mover has marked this topic as unresolved.';
  const world = () =>
    createFixture(
      aUser({ name: 'mover', role: 'owner' }),
      OPEN,
      aMessage({ from: 'mover', to: 'open', topic: 'plans' }),
    );

  it.each([
    [60, []],
    [
      61,
      [
        ['plans', RESOLVED],
        ['plans', UNRESOLVED],
      ],
    ],
  ] as const)('leaves with its opposite after %s seconds the notices %j', async (seconds, expected) => {
    const fixture = await world();
    const update = updating(fixture);
    const [{ id } = { id: 0 as never }] = fixture.messages;
    await update('mover', id, { topic: '✔ plans' });
    fixture.clock.advance(seconds);
    await update('mover', id, { topic: 'plans' });
    expect(await noticesIn(fixture)).toEqual(expected);
  });

  it('stays if a newer message follows, even with the same words', async () => {
    const fixture = await world();
    const update = updating(fixture);
    await update('mover', fixture.messages[0]!.id, { topic: '✔ plans' });
    const content = 'somebody has marked this topic as resolved.';
    await fixture.add(aMessage({ from: 'mover', to: 'open', topic: '✔ plans', content }));
    await update('mover', fixture.messages[0]!.id, { topic: 'plans' });
    expect(await noticesIn(fixture)).toEqual([
      ['plans', RESOLVED],
      ['plans', UNRESOLVED],
    ]);
    const { uow, realm, messages } = fixture;
    expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, messages[1]!.id))).not.toBeNull();
  });

  it('retracts no other notice', async () => {
    const fixture = await world();
    const update = updating(fixture);
    await update('mover', fixture.messages[0]!.id, { topic: 'later', notifiesNewThread: true });
    await update('mover', fixture.messages[0]!.id, { topic: '✔ later' });
    expect(await noticesIn(fixture)).toEqual([
      ['✔ later', 'This topic was moved here from #**open>plans** by @mover.'],
      ['✔ later', RESOLVED],
    ]);
  });

  it('is unread only for other subscribed people who want to read it', async () => {
    const people = [
      ['mover', 'followed', 'never'],
      ['reader of all', null, 'never'],
      ['follower', 'followed', 'exceptFollowed'],
      ['reader of none', 'followed', 'always'],
      ['former subscriber', 'followed', 'exceptFollowed'],
      ['unfollowing', 'unmuted', 'exceptFollowed'],
      ...Array.from({ length: 101 }, (_, n) => [`follower ${n}`, 'followed', 'exceptFollowed'] as const),
    ] as const;
    const fixture = await createFixture(
      ...people.map(([name]) => aUser({ name, role: name === 'mover' ? 'owner' : 'member' })),
      aUser({ name: 'bot', botOf: 'mover' }),
      aChannel({
        name: 'open',
        subscribers: [...people.map(([name]) => name).filter((name) => name !== 'former subscriber'), 'bot'],
      }),
      aMessage({ from: 'mover', to: 'open', topic: 'plans' }),
    );
    const { uow, realm, user, channel, messages, storage } = fixture;
    await uow.write(realm.id, async (tx) => {
      for (const [name, visibility, resolvedTopicNoticeAutoReadPolicy] of [
        ...people,
        ['bot', 'followed', 'exceptFollowed'] as const,
      ]) {
        const { settings, ...account } = user(name);
        await tx.users.update({ ...account, settings: { ...settings, resolvedTopicNoticeAutoReadPolicy } });
        const policy = { realmId: realm.id, userId: account.id, channelId: channel('open').id, changedAt: 0 };
        // The policies move along with the topic before the notice.
        if (visibility) await tx.topicPolicies.put({ ...policy, topic: 'plans', visibility });
      }
    });
    await updating(fixture)('mover', messages[0]!.id, { topic: '✔ plans' });
    const notice = storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event] : []));
    const exceptions = new Map(notice[0]?.exceptions);
    const nameOf = (id: number) => [...fixture.users.keys()].find((name) => user(name).id === id);
    const unread = [...exceptions].flatMap(([id, flags]) => (flags.unread ? [nameOf(id)] : []));
    expect(unread.sort()).toEqual(
      ['follower', 'reader of all', ...people.map(([name]) => name).filter((name) => /follower \d/.test(name))].sort(),
    );
    expect(exceptions.get(user('mover').id)).toEqual({ read: true });
  });
});
