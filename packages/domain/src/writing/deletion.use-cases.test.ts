import { aChannel, aMessage, aUser, createFixture, expectInSync, expectRefused, intercepting } from '@parley/testkit';
import { topicKey } from '../channels/channel.js';
import { subscribeToChannels } from '../channels/subscribing.js';
import type { Clock } from '../kernel/ports.js';
import { DeleteTopic } from './deletion.use-cases.js';

const messages = (count: number) =>
  Array.from({ length: count }, () => aMessage({ from: 'admin', to: 'general', topic: 'Plans' }));
const scene = [
  aUser({ name: 'admin', role: 'administrator' }),
  aUser({ name: 'member' }),
  aChannel({ name: 'general', subscribers: ['admin', 'member'] }),
];

describe('DeleteTopic', () => {
  it('stops at the time budget, reports incompleteness and keeps older messages', async () => {
    const fixture = await createFixture(...scene, ...messages(250));
    const { uow, caller, channel, clock } = fixture;
    let elapsed = 0;
    // The clock advances 20 s per call, which leaves time for two units of work.
    const slow: Clock = { now: () => clock.now(), nowMs: () => (elapsed += 20_000) };
    const input = { channelId: channel('general').id, topic: 'plans' };
    const left = async () =>
      (
        await uow.read(fixture.realm.id, (r) =>
          r.messages.listOldestIds(fixture.realm.id, channel('general').recipientId, 1000),
        )
      ).length;
    expect(await new DeleteTopic(uow, slow).execute(caller('admin'), input)).toBe(false);
    expect(await left()).toBe(50);
    expect(
      await uow.read(fixture.realm.id, (r) => r.messages.find(fixture.realm.id, fixture.messages[0]!.id)),
    ).not.toBeNull();
    expect(await new DeleteTopic(uow, clock).execute(caller('admin'), input)).toBe(true);
    expect(await left()).toBe(0);
  });

  it('deletes nothing once the time budget is used up', async () => {
    const { uow, caller, channel, realm } = await createFixture(...scene, ...messages(1));
    const { id: channelId, recipientId } = channel('general');
    const times = [0, 50_000];
    const late: Clock = { now: () => 0, nowMs: () => times.shift()! };
    expect(await new DeleteTopic(uow, late).execute(caller('admin'), { channelId, topic: 'plans' })).toBe(false);
    expect(await uow.read(realm.id, (r) => r.messages.listOldestIds(realm.id, recipientId, 9))).toHaveLength(1);
  });

  it.each([
    ['public', []],
    ['privateSharedHistory', [{ code: 'UNKNOWN_CHANNEL' }]],
  ] as const)(
    'lets administrators delete a topic without a subscription only if they can read it: %s',
    async (privacy, errors) => {
      const fixture = await createFixture(
        aUser({ name: 'admin', role: 'administrator' }),
        aUser({ name: 'member' }),
        aChannel({ name: 'general', privacy, subscribers: ['member'] }),
        aMessage({ from: 'member', to: 'general', topic: 'Plans' }),
      );
      const { uow, caller, channel, clock, realm } = fixture;
      const { id: channelId, recipientId } = channel('general');
      const failures: unknown[] = [];
      await new DeleteTopic(uow, clock)
        .execute(caller('admin'), { channelId, topic: 'plans' })
        .catch((error) => failures.push(error));
      expect(failures).toMatchObject(errors);
      const left = await uow.read(realm.id, (r) => r.messages.listOldestIds(realm.id, recipientId, 9));
      expect(left).toHaveLength(errors.length);
    },
  );

  it('removes the topic policies of all users without remaining messages', async () => {
    const others = Array.from({ length: 150 }, (_, n) => `person ${n}`);
    const fixture = await createFixture(...scene, ...others.map((name) => aUser({ name })), ...messages(1));
    const { uow, caller, channel, clock, realm, user } = fixture;
    const channelId = channel('general').id;
    const key = topicKey('Plans');
    const follow = { realmId: realm.id, channelId, topic: 'Plans', visibility: 'followed', changedAt: 1 } as const;
    await uow.write(follow.realmId, async (tx) => {
      for (const name of others) await tx.topicPolicies.put({ ...follow, userId: user(name).id });
      await tx.topicPolicies.put({ ...follow, topic: 'Other', userId: user('member').id });
    });
    await new DeleteTopic(uow, clock).execute(caller('admin'), { channelId, topic: 'plans' });
    const left = (topic: string) =>
      uow.read(realm.id, (r) => r.topicPolicies.listOfTopic(realm.id, channelId, topic, 0, 1000));
    expect(await left(key)).toEqual([]);
    expect(await left(topicKey('Other'))).toHaveLength(1);
  });

  it('keeps the policies of users with messages hidden from the caller', async () => {
    const fixture = await createFixture(
      aUser({ name: 'admin', role: 'administrator' }),
      aUser({ name: 'member' }),
      aUser({ name: 'newcomer' }),
      aChannel({ name: 'general', privacy: 'privateProtectedHistory', subscribers: ['member'] }),
      aMessage({ from: 'member', to: 'general', topic: 'Plans' }),
      async (fixture, tx) => {
        const userIds = [fixture.user('admin').id, fixture.user('newcomer').id];
        await subscribeToChannels(tx, { channels: [fixture.channel('general')], userIds, requestedColors: new Map() });
      },
      aMessage({ from: 'admin', to: 'general', topic: 'Plans' }),
    );
    const { uow, caller, channel, clock, realm, user } = fixture;
    const channelId = channel('general').id;
    const follow = { realmId: realm.id, channelId, topic: 'Plans', visibility: 'followed', changedAt: 1 } as const;
    await uow.write(follow.realmId, async (tx) => {
      for (const name of ['member', 'newcomer']) await tx.topicPolicies.put({ ...follow, userId: user(name).id });
    });
    await new DeleteTopic(uow, clock).execute(caller('admin'), { channelId, topic: 'plans' });
    const left = await uow.read(realm.id, (r) =>
      r.topicPolicies.listOfTopic(realm.id, channelId, topicKey('Plans'), 0, 10),
    );
    expect(left.map(({ userId }) => userId)).toEqual([user('member').id]);
  });

  it('rejects continuing if the channel disappears between units of work', async () => {
    const fixture = await createFixture(...scene, ...messages(1));
    const { uow, caller, channel, clock } = fixture;
    let units = 0;
    const vanishing = intercepting(uow, {
      write: (work, run) =>
        run((tx) => {
          const find = () => Promise.resolve(null);
          return work(units++ === 0 ? tx : { ...tx, channels: Object.assign(Object.create(tx.channels), { find }) });
        }),
    });
    const input = { channelId: channel('general').id, topic: 'plans' };
    await expect(new DeleteTopic(vanishing, clock).execute(caller('admin'), input)).rejects.toMatchObject({
      code: 'UNKNOWN_CHANNEL',
    });
  });

  it.each([
    ['privateSharedHistory', false],
    ['privateProtectedHistory', true],
  ] as const)(
    'restricts the event to users who had received the messages only in a protected history: %s',
    async (privacy, onlyToHolders) => {
      const fixture = await createFixture(
        aUser({ name: 'admin', role: 'administrator' }),
        aChannel({ name: 'general', privacy, subscribers: ['admin'] }),
        ...messages(1),
      );
      const { storage, uow, caller, channel, clock } = fixture;
      await new DeleteTopic(uow, clock).execute(caller('admin'), { channelId: channel('general').id, topic: 'plans' });
      const deleted = storage.announced.filter(({ event }) => event.type === 'message.deleted');
      expect(deleted).toMatchObject([{ event: { messageIds: [fixture.messages[0]!.id], onlyToHolders } }]);
    },
  );

  it('publishes events that keep clients in sync', async () => {
    const fixture = await createFixture(...scene, ...messages(3));
    const { uow, caller, channel, clock } = fixture;
    const input = { channelId: channel('general').id, topic: 'plans' };
    await expectInSync(fixture, () => new DeleteTopic(uow, clock).execute(caller('admin'), input));
  });

  it('rejects non-administrators without changing anything', async () => {
    const fixture = await createFixture(...scene, ...messages(1));
    const { uow, caller, channel, clock } = fixture;
    const input = { channelId: channel('general').id, topic: 'plans' };
    await expectRefused(fixture, () => new DeleteTopic(uow, clock).execute(caller('member'), input), {
      code: 'MUST_BE_ADMINISTRATOR',
    });
  });
});
