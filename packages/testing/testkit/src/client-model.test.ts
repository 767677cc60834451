import {
  changeTopicPolicy,
  subscribeToChannels,
  type TopicVisibility,
  unsubscribeFromChannels,
} from '@parley/domain/channels';
import type { Transaction } from '@parley/domain/kernel';
import { ChangeMessageFlags, MarkRead } from '@parley/domain/messages';
import {
  aChannel,
  aMessage,
  aUser,
  aUserOfEachRole,
  createFixture,
  type FixtureStep,
  type MemoryFixture,
} from './builders.js';
import { expectInSync } from './client-model.js';

const cast: readonly FixtureStep[] = [
  aUserOfEachRole(),
  aUser({ name: 'loner', role: 'guest' }),
  aChannel({ name: 'public', subscribers: ['member', 'guest'] }),
  aChannel({ name: 'private', privacy: 'privateSharedHistory', creator: 'member', subscribers: ['member', 'guest'] }),
  aMessage({ from: 'owner', to: 'public' }),
  aMessage({ from: 'member', to: 'private' }),
  aMessage({ from: 'member', to: 'public' }),
];

const subscribe = (fixture: MemoryFixture, channel: string, ...names: readonly string[]) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    subscribeToChannels(tx, {
      channels: [fixture.channel(channel)],
      userIds: names.map((name) => fixture.user(name).id),
      requestedColors: new Map(),
    }),
  );

const leave = (fixture: MemoryFixture, channel: string, ...names: readonly string[]) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    unsubscribeFromChannels(
      tx,
      [fixture.channel(channel)],
      names.map((name) => fixture.user(name).id),
    ),
  );

describe('ClientState', () => {
  it('keeps all clients in sync when users subscribe and unsubscribe', async () => {
    const fixture = await createFixture(...cast);
    await expectInSync(fixture, () => subscribe(fixture, 'public', 'loner', 'owner', 'member'));
    await expectInSync(fixture, () => subscribe(fixture, 'private', 'loner', 'moderator'));
    await expectInSync(fixture, () => leave(fixture, 'public', 'guest', 'member', 'moderator'));
    await expectInSync(fixture, () => leave(fixture, 'private', 'loner', 'member'));
  });

  it('keeps the clients of a reader in sync', async () => {
    const fixture = await createFixture(...cast);
    const ids = fixture.messages.map(({ id }) => id);
    const flags = new ChangeMessageFlags(fixture.uow, fixture.clock);
    const markRead = new MarkRead(fixture.uow, fixture.clock);
    await expectInSync(fixture, () =>
      flags.execute(fixture.caller('member'), { op: 'add', flag: 'starred', ids: [ids[0]!, ids[1]!] }),
    );
    await expectInSync(fixture, () =>
      flags.execute(fixture.caller('owner'), { op: 'add', flag: 'starred', ids: [ids[2]!] }),
    );
    await expectInSync(fixture, () => markRead.execute(fixture.caller('guest'), { scope: { kind: 'everything' } }));
  });

  it('keeps topic policies in sync', async () => {
    const fixture = await createFixture(...cast);
    const choose = (topic: string, visibility: TopicVisibility) => {
      const { realmId, userId } = fixture.viewer('member');
      const channelId = fixture.channel('public').id;
      const policy = { realmId, userId, channelId, topic, visibility, changedAt: fixture.clock.now() };
      return fixture.uow.write(policy.realmId, (tx) => changeTopicPolicy(tx, policy));
    };
    await expectInSync(fixture, () => choose('Lunch', 'muted'));
    await expectInSync(fixture, () => choose('lunch', 'followed'));
    await expectInSync(fixture, () => choose('LUNCH', 'inherit'));
  });

  it.each<[string, string, (tx: Transaction) => Promise<unknown>]>([
    ['an unpublished change', 'owner', () => Promise.resolve()],
    [
      'a change published to the wrong users',
      'moderator',
      async (tx) => {
        const [realm] = await tx.realms.list();
        const user = (await tx.users.findByEmail(realm!.id, 'loner@example.com'))!;
        await tx.events.append(realm!.id, {
          event: { type: 'user.role_changed', userId: user.id, role: 'member' },
          audience: { kind: 'role', atLeast: 'administrator' },
        });
      },
    ],
  ])('detects %s', async (_, uninformed, announce) => {
    const fixture = await createFixture(...cast);
    const promote = () =>
      fixture.uow.write(fixture.realm.id, async (tx) => {
        await tx.users.update({ ...fixture.user('loner'), role: 'member' });
        await announce(tx);
      });
    await expect(expectInSync(fixture, promote)).rejects.toThrow(`${uninformed}'s client is out of sync`);
  });
});
