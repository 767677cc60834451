import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  type MemoryFixture,
  reaches,
  subscribe,
  updating,
} from '@parley/testkit';
import type { ChannelPrivacy } from '../channels/channel.js';
import { type CheckedMove, storeMove } from './move-parts.js';
import type { UpdateMessageInput } from './update-message.use-cases.js';

/**
 * Two messages in a source channel, and one in a direct conversation. The newcomers joined after the first message; the
 * outsider was mentioned in it.
 */
const world = async (source: ChannelPrivacy, target: ChannelPrivacy = 'public') => {
  const fixture = await createFixture(
    aUser({ name: 'mover', role: 'owner' }),
    aUser({ name: 'both' }),
    aUser({ name: 'leaver' }),
    aUser({ name: 'guest', role: 'guest' }),
    aUser({ name: 'newcomer', role: 'guest' }),
    aUser({ name: 'outsider' }),
    aUser({ name: 'joiner', role: 'guest' }),
    aUser({ name: 'stranger' }),
    aChannel({ name: 'source', privacy: source, subscribers: ['mover', 'both', 'leaver', 'guest'] }),
    aChannel({ name: 'target', privacy: target, subscribers: ['mover', 'both', 'joiner'], isRecentlyActive: false }),
    aMessage({ from: 'both', to: 'source', topic: 'Plans', exceptions: { outsider: { mentioned: true } } }),
    ({ channel, user }, tx) => subscribe(tx, channel('source'), [user('newcomer').id]),
    aMessage({ from: 'both', to: 'source', topic: 'plans' }),
    aMessage({ from: 'mover', to: ['both'] }),
  );
  const move = (change: Partial<UpdateMessageInput> = { channelId: fixture.channel('target').id }) =>
    updating(fixture)('mover', fixture.messages[0]!.id, change);
  return { fixture, move };
};

type Told = readonly [messages: string, channel: string | null, receivers: string];

/** Returns the messages by index, the name of their previous channel, and the receivers of such events. */
async function told(
  { uow, realm, storage, users, messages }: MemoryFixture,
  type: 'message.updated' | 'message.deleted',
): Promise<readonly Told[]> {
  return uow.read(realm.id, async (repositories) => {
    const events: Told[] = [];
    for (const stored of storage.announced) {
      const { event } = stored;
      if (event.type !== type) continue;
      const names: string[] = [];
      for (const [name, { id: userId }] of users) {
        if (await reaches(repositories, { realmId: realm.id, userId }, stored)) names.push(name);
      }
      const indices = event.messageIds.map((id) => messages.findIndex((message) => message.id === id));
      events.push([
        indices.join(' '),
        event.type === 'message.updated' ? (event.channel?.name ?? null) : null,
        names.join(' '),
      ]);
    }
    return events;
  });
}

const updatesOf = ({ storage }: MemoryFixture) =>
  storage.announced.flatMap(({ event, quotes }) => (event.type === 'message.updated' ? [{ ...event, quotes }] : []));

describe('events of a move to another channel', () => {
  it.each<[source: ChannelPrivacy, target: ChannelPrivacy, updated: readonly Told[], deleted: readonly Told[]]>([
    [
      'public',
      'public',
      [
        ['0 1', 'source', 'mover both leaver outsider'],
        ['0 1', null, 'joiner'],
      ],
      [['0 1', null, 'guest newcomer']],
    ],
    [
      'public',
      'privateSharedHistory',
      [
        ['0 1', 'source', 'mover both'],
        ['0 1', null, 'joiner'],
      ],
      [['0 1', null, 'leaver guest newcomer outsider']],
    ],
    [
      'privateProtectedHistory',
      'privateProtectedHistory',
      [
        ['0 1', 'source', 'mover both'],
        ['0 1', null, 'joiner'],
      ],
      [
        ['0 1', null, 'leaver guest'],
        ['0', null, ''],
        ['1', null, 'newcomer'],
      ],
    ],
  ])('reach the right users for a move from %s to %s', async (source, target, updated, deleted) => {
    const { fixture, move } = await world(source, target);
    await move();
    expect(await told(fixture, 'message.updated')).toEqual(updated);
    expect(await told(fixture, 'message.deleted')).toEqual(deleted);
    expect(updatesOf(fixture)[0]).toMatchObject({
      move: { previousTopic: 'Plans', topic: null, channelId: fixture.channel('target').id },
      onlyToHolders: target === 'privateProtectedHistory',
    });
  });

  it('include the new activity of the target', async () => {
    const { fixture, move } = await world('public');
    await move();
    expect(fixture.storage.announced.map(({ event }) => event)).toContainEqual(
      expect.objectContaining({ type: 'channel.property_changed', property: 'isRecentlyActive', value: true }),
    );
  });
});

describe('events of a change within a channel', () => {
  it('reach those who can read the message, once', async () => {
    const { fixture, move } = await world('privateSharedHistory');
    await move({ topic: 'later' });
    expect(await told(fixture, 'message.updated')).toEqual([['0 1', 'source', 'mover both leaver guest newcomer']]);
    expect(await told(fixture, 'message.deleted')).toEqual([]);
    expect(updatesOf(fixture)).toMatchObject([
      { move: { topic: { name: 'later' }, channelId: null }, text: null, onlyToHolders: false, quotes: null },
    ]);
  });

  it('add no activity to a quiet channel', async () => {
    const { fixture } = await world('public');
    await fixture.add(aMessage({ from: 'mover', to: 'target' }));
    await updating(fixture)('mover', fixture.messages.at(-1)!.id, { topic: 'later' });
    expect(fixture.storage.announced.map(({ event }) => event.type)).toEqual(['message.updated']);
  });

  it('contain the text of an edited direct message and depend on it', async () => {
    const { fixture } = await world('public');
    const { id } = fixture.messages[2]!;
    await updating(fixture)('mover', id, { content: '/me nods', propagation: 'one' });
    expect(await told(fixture, 'message.updated')).toEqual([['2', null, 'mover both']]);
    const rendered = '<p>/me nods</p>';
    expect(updatesOf(fixture)).toMatchObject([
      {
        ...{ channel: null, move: null, onlyToHolders: false, quotes: id },
        text: { previous: { content: 'hello' }, present: { content: '/me nods', rendered }, isMeMessage: true },
      },
    ]);
  });
});

describe('moved messages', () => {
  it('keep the spelling of their topics in another channel', async () => {
    const { fixture, move } = await world('public');
    await move();
    const { uow, realm, messages } = fixture;
    const ids = messages.slice(0, 2).map(({ id }) => id);
    expect(await uow.read(realm.id, (r) => r.messages.list(realm.id, ids))).toMatchObject([
      { topic: 'Plans', channelId: fixture.channel('target').id },
      { topic: 'plans', channelId: fixture.channel('target').id },
    ]);
  });

  it.each([
    ['later', null, true],
    ['✔ Plans', null, false],
    ['✔ Plans', 'target', true],
  ])('get in topic %s and channel %s the time of the move: %s', async (topic, where, isMoved) => {
    const { fixture, move } = await world('public');
    await move({ topic, channelId: where === null ? null : fixture.channel(where).id });
    const { uow, realm, messages, clock } = fixture;
    expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, messages[0]!.id))).toMatchObject({
      lastMovedAt: isMoved ? clock.now() : null,
    });
  });

  it.each([
    ['source', false],
    ['target', true],
  ])('affect in channel %s users who had them: %s', async (where, isAffecting) => {
    const { fixture } = await world('privateProtectedHistory');
    const { uow, realm, channel, caller, messages, clock } = fixture;
    const isOtherChannel = where !== 'source';
    const move: CheckedMove = {
      ...{ source: channel('source'), channel: channel(where), isOtherChannel, isOtherTopic: !isOtherChannel },
      ...{ previousTopic: 'Plans', topic: 'later', topicLinks: [], toggle: null, propagation: 'one' },
      ...{ ids: [messages[0]!.id], movedAt: clock.now(), targetHadMessages: false },
    };
    const affected = await uow.write(realm.id, async (tx) =>
      storeMove(tx, await tx.actors.get(caller('mover')), move, null),
    );
    expect(affected.outside).toEqual(isAffecting ? [fixture.user('outsider').id] : []);
    expect(affected.holders === null).toBe(!isAffecting);
  });
});
