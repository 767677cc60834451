import type { TopicPolicy, TopicVisibility } from '@parley/domain';
import { aChannel, aRealm, aUser, givenOn, type Scene } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const place = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aUser({ name: 'c' }),
  aChannel({ name: 'general' }),
  aChannel({ name: 'random' }),
];

function aPolicy(scene: Scene, user: string, channel: string, topic: string, visibility: TopicVisibility): TopicPolicy {
  return {
    realmId: scene.realm.id,
    userId: scene.user(user).id,
    channelId: scene.channel(channel).id,
    topic,
    visibility,
    changedAt: scene.clock.now(),
  };
}

const put = (scene: Scene, ...policies: readonly TopicPolicy[]): Promise<void> =>
  scene.uow.write(async (tx) => {
    for (const policy of policies) await tx.topicPolicies.put(policy);
  });

const list = (scene: Scene, user: string): Promise<readonly TopicPolicy[]> =>
  scene.uow.read((r) => r.topicPolicies.list(scene.realm.id, scene.user(user).id));

export function topicPolicyRepositoryContract(open: OpenStorage): void {
  describe('topic policy repository', () => {
    const stage = stagesOn(open);

    it('lists everything a user has chosen, ascending by channel, then by key of the topic', async () => {
      const scene = await stage(...place);
      const policies = [
        aPolicy(scene, 'a', 'general', '', 'muted'),
        aPolicy(scene, 'a', 'general', 'Beer', 'unmuted'),
        aPolicy(scene, 'a', 'general', 'lunch', 'followed'),
        // In UTF-16 the emoji would come before the fullwidth tilde.
        aPolicy(scene, 'a', 'general', '\uff5e', 'muted'),
        aPolicy(scene, 'a', 'general', '🎉', 'muted'),
        aPolicy(scene, 'a', 'random', 'ale', 'muted'),
      ];
      await put(scene, ...policies.toReversed(), aPolicy(scene, 'b', 'general', 'lunch', 'muted'));
      expect(await list(scene, 'a')).toEqual(policies);
      expect(await list(scene, 'c')).toEqual([]);
    });

    it('replaces a choice for the topic in another letter case, as it was first spelt', async () => {
      const scene = await stage(...place);
      const first = aPolicy(scene, 'a', 'general', 'Ärger', 'muted');
      await put(scene, first);
      scene.clock.advance(60);
      const second = aPolicy(scene, 'a', 'general', 'äRGER', 'followed');
      await put(scene, second);
      expect(await list(scene, 'a')).toEqual([{ ...second, topic: 'Ärger' }]);
    });

    it('takes a choice away, again without effect', async () => {
      const scene = await stage(...place);
      const kept = aPolicy(scene, 'a', 'random', 'lunch', 'muted');
      await put(scene, aPolicy(scene, 'a', 'general', 'Lunch', 'muted'), kept);
      await put(scene, aPolicy(scene, 'a', 'general', 'lunch', 'inherit'));
      await put(scene, aPolicy(scene, 'a', 'general', 'lunch', 'inherit'));
      expect(await list(scene, 'a')).toEqual([kept]);
      const again = aPolicy(scene, 'a', 'general', 'LUNCH', 'unmuted');
      await put(scene, again);
      expect(await list(scene, 'a')).toEqual([again, kept]);
    });

    it('tells who of some users has chosen what for a topic', async () => {
      const scene = await stage(...place);
      await put(
        scene,
        aPolicy(scene, 'a', 'general', 'Lunch', 'muted'),
        aPolicy(scene, 'b', 'general', 'lunch', 'followed'),
        aPolicy(scene, 'c', 'general', 'beer', 'followed'),
        aPolicy(scene, 'c', 'random', 'lunch', 'followed'),
      );
      const [a, b, c] = ['a', 'b', 'c'].map((name) => scene.user(name).id);
      const { id } = scene.channel('general');
      await scene.uow.read(async (r) => {
        const all = await r.topicPolicies.listOf(scene.realm.id, id, 'lunch', [c!, b!, a!]);
        expect(new Map(all)).toEqual(
          new Map([
            [a, 'muted'],
            [b, 'followed'],
          ]),
        );
        const some = await r.topicPolicies.listOf(scene.realm.id, id, 'lunch', [b!]);
        expect([...some]).toEqual([[b, 'followed']]);
        expect((await r.topicPolicies.listOf(scene.realm.id, id, 'lunch', [])).size).toBe(0);
      });
    });

    it('finds nothing of another realm', async () => {
      const scene = await stage(...place);
      await put(scene, aPolicy(scene, 'a', 'general', 'lunch', 'muted'));
      const other = (await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }))).realm.id;
      const a = scene.user('a').id;
      await scene.uow.read(async (r) => {
        expect(await r.topicPolicies.list(other, a)).toEqual([]);
        expect((await r.topicPolicies.listOf(other, scene.channel('general').id, 'lunch', [a])).size).toBe(0);
      });
    });
  });
}
