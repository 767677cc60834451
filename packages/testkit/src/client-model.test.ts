import {
  ChangeMessageFlags,
  changeTopicPolicy,
  followChannels,
  leaveChannels,
  MarkRead,
  type TopicVisibility,
  type Transaction,
} from '@parley/domain';
import { aChannel, aMessage, aUser, aUserOfEachRole, given, type MemoryScene, type Piece } from './builders.js';
import { expectInSync } from './client-model.js';

const cast: readonly Piece[] = [
  aUserOfEachRole(),
  aUser({ name: 'loner', role: 'guest' }),
  aChannel({ name: 'public', subscribers: ['member', 'guest'] }),
  aChannel({ name: 'private', privacy: 'privateSharedHistory', creator: 'member', subscribers: ['member', 'guest'] }),
  aMessage({ from: 'owner', to: 'public' }),
  aMessage({ from: 'member', to: 'private' }),
  aMessage({ from: 'member', to: 'public' }),
];

const follow = (scene: MemoryScene, channel: string, ...names: readonly string[]) =>
  scene.uow.write((tx) =>
    followChannels(tx, {
      channels: [scene.channel(channel)],
      userIds: names.map((name) => scene.user(name).id),
      requestedColors: new Map(),
    }),
  );

const leave = (scene: MemoryScene, channel: string, ...names: readonly string[]) =>
  scene.uow.write((tx) =>
    leaveChannels(
      tx,
      [scene.channel(channel)],
      names.map((name) => scene.user(name).id),
    ),
  );

describe('client model', () => {
  it('keeps everybody in sync when people follow and leave channels', async () => {
    const scene = await given(...cast);
    await expectInSync(scene, () => follow(scene, 'public', 'loner', 'owner', 'member'));
    await expectInSync(scene, () => follow(scene, 'private', 'loner', 'moderator'));
    await expectInSync(scene, () => leave(scene, 'public', 'guest', 'member', 'moderator'));
    await expectInSync(scene, () => leave(scene, 'private', 'loner', 'member'));
  });

  it('keeps a reader’s clients in sync', async () => {
    const scene = await given(...cast);
    const ids = scene.messages.map(({ id }) => id);
    const flags = new ChangeMessageFlags(scene.uow);
    const markRead = new MarkRead(scene.uow);
    await expectInSync(scene, () =>
      flags.execute(scene.caller('member'), { op: 'add', flag: 'starred', ids: [ids[0]!, ids[1]!] }),
    );
    await expectInSync(scene, () =>
      flags.execute(scene.caller('owner'), { op: 'add', flag: 'starred', ids: [ids[2]!] }),
    );
    await expectInSync(scene, () => markRead.execute(scene.caller('guest'), { scope: { kind: 'everything' } }));
  });

  it('keeps what one wants to see of topics in sync', async () => {
    const scene = await given(...cast);
    const choose = (topic: string, visibility: TopicVisibility) => {
      const { realmId, userId } = scene.viewer('member');
      const channelId = scene.channel('public').id;
      const policy = { realmId, userId, channelId, topic, visibility, changedAt: scene.clock.now() };
      return scene.uow.write((tx) => changeTopicPolicy(tx, policy));
    };
    await expectInSync(scene, () => choose('Lunch', 'muted'));
    await expectInSync(scene, () => choose('lunch', 'followed'));
    await expectInSync(scene, () => choose('LUNCH', 'inherit'));
  });

  it.each<[string, string, (tx: Transaction) => Promise<unknown>]>([
    ['a change nobody is told of', 'owner', () => Promise.resolve()],
    [
      'a change the wrong people are told of',
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
  ])('notices %s', async (_, uninformed, announce) => {
    const scene = await given(...cast);
    const promote = () =>
      scene.uow.write(async (tx) => {
        await tx.users.update({ ...scene.user('loner'), role: 'member' });
        await announce(tx);
      });
    await expect(expectInSync(scene, promote)).rejects.toThrow(`${uninformed}'s client is out of sync`);
  });
});
