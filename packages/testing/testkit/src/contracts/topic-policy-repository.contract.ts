import type { TopicPolicy, TopicVisibility } from '@parley/domain/channels';
import { aChannel, anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const scene = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aUser({ name: 'c' }),
  aChannel({ name: 'general' }),
  aChannel({ name: 'random' }),
];

function aPolicy(
  fixture: Fixture,
  user: string,
  channel: string,
  topic: string,
  visibility: TopicVisibility,
): TopicPolicy {
  return {
    realmId: fixture.realm.id,
    userId: fixture.user(user).id,
    channelId: fixture.channel(channel).id,
    topic,
    visibility,
    changedAt: fixture.clock.now(),
  };
}

const put = (fixture: Fixture, ...policies: readonly TopicPolicy[]): Promise<void> =>
  fixture.uow.write(fixture.realm.id, async (tx) => {
    for (const policy of policies) await tx.topicPolicies.put(policy);
  });

const list = (fixture: Fixture, user: string): Promise<readonly TopicPolicy[]> =>
  fixture.uow.read(fixture.realm.id, (r) => r.topicPolicies.list(fixture.realm.id, fixture.user(user).id));

export function topicPolicyRepositoryContract(open: OpenStorage): void {
  describe('topic policy repository', () => {
    const stage = stagesOn(open);

    it("lists a user's policies ascending by channel, then by topic key", async () => {
      const fixture = await stage(...scene);
      const policies = [
        aPolicy(fixture, 'a', 'general', '', 'muted'),
        aPolicy(fixture, 'a', 'general', 'Beer', 'unmuted'),
        aPolicy(fixture, 'a', 'general', 'lunch', 'followed'),
        // UTF-16 order would put the emoji before the fullwidth tilde.
        aPolicy(fixture, 'a', 'general', '\uff5e', 'muted'),
        aPolicy(fixture, 'a', 'general', '🎉', 'muted'),
        aPolicy(fixture, 'a', 'random', 'ale', 'muted'),
      ];
      await put(fixture, ...policies.toReversed(), aPolicy(fixture, 'b', 'general', 'lunch', 'muted'));
      expect(await list(fixture, 'a')).toEqual(policies);
      expect(await list(fixture, 'c')).toEqual([]);
    });

    it('lists all policies of a topic in pages, ascending by user', async () => {
      const fixture = await stage(...scene);
      const { uow, realm, channel } = fixture;
      const policies = [
        aPolicy(fixture, 'a', 'general', 'Lunch', 'muted'),
        aPolicy(fixture, 'b', 'general', 'LUNCH', 'followed'),
        aPolicy(fixture, 'c', 'general', 'lunch', 'unmuted'),
      ];
      await put(
        fixture,
        ...policies.toReversed(),
        aPolicy(fixture, 'a', 'general', 'beer', 'muted'),
        aPolicy(fixture, 'a', 'random', 'lunch', 'muted'),
      );
      const { id } = channel('general');
      const ofTopic = (realmId: typeof realm.id, key: string, after: number, limit: number) =>
        uow.read(realmId, (r) => r.topicPolicies.listOfTopic(realmId, id, key, after, limit));
      expect(await ofTopic(realm.id, 'lunch', 0, 10)).toEqual(policies);
      expect(await ofTopic(realm.id, 'lunch', policies[0]!.userId, 1)).toEqual([policies[1]]);
      expect(await ofTopic(realm.id, 'Lunch', 0, 10)).toEqual([]);
      const other = await anotherRealm(fixture);
      expect(await ofTopic(other.realm.id, 'lunch', 0, 10)).toEqual([]);
    });

    it('replaces a policy under another case and keeps the first spelling', async () => {
      const fixture = await stage(...scene);
      const first = aPolicy(fixture, 'a', 'general', 'Ärger', 'muted');
      await put(fixture, first);
      fixture.clock.advance(60);
      const second = aPolicy(fixture, 'a', 'general', 'äRGER', 'followed');
      await put(fixture, second);
      expect(await list(fixture, 'a')).toEqual([{ ...second, topic: 'Ärger' }]);
    });

    it('finds the policy of one topic, counts all and lists muted topics', async () => {
      const fixture = await stage(...scene);
      const policies = [
        aPolicy(fixture, 'a', 'general', 'Beer', 'muted'),
        aPolicy(fixture, 'a', 'general', 'lunch', 'followed'),
        aPolicy(fixture, 'a', 'random', 'ale', 'muted'),
      ];
      await put(fixture, ...policies.toReversed(), aPolicy(fixture, 'b', 'general', 'lunch', 'muted'));
      const { uow, realm } = fixture;
      const [a, c] = ['a', 'c'].map((name) => fixture.user(name).id);
      const { id } = fixture.channel('general');
      const other = await anotherRealm(fixture);
      await uow.readAcross(async ({ topicPolicies }) => {
        expect(await topicPolicies.find(realm.id, a!, id, 'beer')).toEqual(policies[0]);
        expect(await topicPolicies.find(realm.id, a!, id, 'ale')).toBeNull();
        expect(await topicPolicies.find(other.realm.id, a!, id, 'beer')).toBeNull();
        expect(await topicPolicies.count(realm.id, a!)).toBe(3);
        expect(await topicPolicies.count(realm.id, c!)).toBe(0);
        expect(await topicPolicies.count(other.realm.id, a!)).toBe(0);
        expect(await topicPolicies.listMuted(realm.id, a!)).toEqual([policies[0], policies[2]]);
        expect(await topicPolicies.listMuted(realm.id, a!, 1)).toEqual([policies[0]]);
        expect(await topicPolicies.listMuted(other.realm.id, a!)).toEqual([]);
      });
    });

    it('removes a policy idempotently', async () => {
      const fixture = await stage(...scene);
      const kept = aPolicy(fixture, 'a', 'random', 'lunch', 'muted');
      await put(fixture, aPolicy(fixture, 'a', 'general', 'Lunch', 'muted'), kept);
      await put(fixture, aPolicy(fixture, 'a', 'general', 'lunch', 'inherit'));
      await put(fixture, aPolicy(fixture, 'a', 'general', 'lunch', 'inherit'));
      expect(await list(fixture, 'a')).toEqual([kept]);
      const again = aPolicy(fixture, 'a', 'general', 'LUNCH', 'unmuted');
      await put(fixture, again);
      expect(await list(fixture, 'a')).toEqual([again, kept]);
    });

    it('lists the policies of given users for a topic', async () => {
      const fixture = await stage(...scene);
      await put(
        fixture,
        aPolicy(fixture, 'a', 'general', 'Lunch', 'muted'),
        aPolicy(fixture, 'b', 'general', 'lunch', 'followed'),
        aPolicy(fixture, 'c', 'general', 'beer', 'followed'),
        aPolicy(fixture, 'c', 'random', 'lunch', 'followed'),
      );
      const [a, b, c] = ['a', 'b', 'c'].map((name) => fixture.user(name).id);
      const { id } = fixture.channel('general');
      await fixture.uow.read(fixture.realm.id, async (r) => {
        const all = await r.topicPolicies.listOf(fixture.realm.id, id, 'lunch', [c!, b!, a!]);
        expect(new Map(all)).toEqual(
          new Map([
            [a, 'muted'],
            [b, 'followed'],
          ]),
        );
        const some = await r.topicPolicies.listOf(fixture.realm.id, id, 'lunch', [b!]);
        expect([...some]).toEqual([[b, 'followed']]);
        expect((await r.topicPolicies.listOf(fixture.realm.id, id, 'lunch', [])).size).toBe(0);
      });
    });

    it('isolates realms', async () => {
      const fixture = await stage(...scene);
      await put(fixture, aPolicy(fixture, 'a', 'general', 'lunch', 'muted'));
      const other = (await anotherRealm(fixture)).realm.id;
      const a = fixture.user('a').id;
      await fixture.uow.read(other, async (r) => {
        expect(await r.topicPolicies.list(other, a)).toEqual([]);
        expect((await r.topicPolicies.listOf(other, fixture.channel('general').id, 'lunch', [a])).size).toBe(0);
      });
    });
  });
}
