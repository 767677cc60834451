import { aChannel, aMessage, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import type { TopicVisibility } from '../channels/topic-policies.js';
import { FIRST_POLICY, moveSomePolicies } from './moves.js';

describe('topic policies of a topic that moves to a private channel', () => {
  const TOPIC = 'plans';
  const world = async (...policies: readonly [who: string, where: string, TopicVisibility][]) => {
    const fixture = await createFixture(
      aUser({ name: 'insider' }),
      aUser({ name: 'outsider' }),
      aChannel({ name: 'open', subscribers: ['insider', 'outsider'] }),
      aChannel({ name: 'secret', privacy: 'privateSharedHistory', subscribers: ['insider'] }),
      aMessage({ from: 'insider', to: 'open', topic: TOPIC }),
    );
    const { realm, user, channel } = fixture;
    await fixture.uow.write(realm.id, async (tx) => {
      for (const [who, where, visibility] of policies) {
        const place = { realmId: realm.id, userId: user(who).id, channelId: channel(where).id, topic: TOPIC };
        await tx.topicPolicies.put({ ...place, visibility, changedAt: 0 });
      }
    });
    fixture.storage.announced.length = 0;
    return fixture;
  };
  const move = ({ uow, realm, channel, clock }: MemoryFixture, hadMessages: boolean) => {
    const place = (name: string) => ({ channel: channel(name), topic: TOPIC });
    return uow.write(realm.id, (tx) =>
      moveSomePolicies(tx, place('open'), { ...place('secret'), hadMessages }, clock.now(), FIRST_POLICY),
    );
  };
  const policiesIn = ({ uow, realm, channel, user }: MemoryFixture, where: string) =>
    uow.read(realm.id, async ({ topicPolicies }) => {
      const list = await topicPolicies.listOfTopic(realm.id, channel(where).id, TOPIC, 0, 10);
      const nameOf = (id: number) => ['insider', 'outsider'].find((name) => user(name).id === id);
      return list.map(({ userId, visibility }) => [nameOf(userId), visibility]);
    });

  it.each([[false], [true]])('follow only users who can read it, whether it had messages: %s', async (hadMessages) => {
    const fixture = await world(['insider', 'open', 'followed'], ['outsider', 'open', 'followed']);
    expect(await move(fixture, hadMessages)).toBeNull();
    expect(await policiesIn(fixture, 'open')).toEqual([]);
    expect(await policiesIn(fixture, 'secret')).toEqual([['insider', 'followed']]);
    const outsider = fixture.user('outsider').id;
    const received = fixture.storage.announced.filter(
      ({ audience }) => audience.kind === 'users' && audience.ids.includes(outsider),
    );
    expect(received).toHaveLength(1);
    expect(JSON.stringify(received)).not.toContain(`"channelId":${fixture.channel('secret').id}`);
  });

  it('leave a former subscriber the policy for the target', async () => {
    const fixture = await world(['outsider', 'open', 'followed'], ['outsider', 'secret', 'muted']);
    await move(fixture, true);
    expect(await policiesIn(fixture, 'open')).toEqual([]);
    expect(await policiesIn(fixture, 'secret')).toEqual([['outsider', 'muted']]);
  });
});
