import {
  aChannel,
  aMessage,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectInSync,
  FakeRenderer,
  fakeRealmUrls,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import { JobRunner } from '../kernel/jobs.js';
import { MoveParts } from './move-parts.js';
import { MoveNotices } from './moves.js';
import { UserTextParser } from './render-message.js';
import { SystemMessages } from './system-messages.js';
import { UpdateMessage, type UpdateMessageInput } from './update-message.use-cases.js';

const COUNT = 600;
const FOLLOWERS = Array.from({ length: 120 }, (_, n) => `person ${n}`);

/** Creates a topic with many messages and many topic policies. */
async function moving() {
  const fixture: MemoryFixture = await createFixture(
    aUserOfEachRole(),
    ...FOLLOWERS.map((name) => aUser({ name })),
    aChannel({ name: 'general', subscribers: ['member', 'guest', 'owner'] }),
    aChannel({ name: 'other', subscribers: ['owner'] }),
  );
  await fixture.add(...Array.from({ length: COUNT }, () => aMessage({ from: 'member', to: 'general', topic: 'long' })));
  const ids = fixture.messages.map(({ id }) => id);
  const { realm, clock } = fixture;
  const channelId = async (name: string) =>
    (await fixture.uow.read(realm.id, ({ channels }) => channels.findByName(realm.id, name)))!.id;
  const general = await channelId('general');
  await fixture.uow.write(realm.id, async (tx) => {
    for (const name of FOLLOWERS) {
      const userId = fixture.user(name).id;
      await tx.topicPolicies.put({
        ...{ realmId: realm.id, userId, channelId: general, topic: 'long' },
        ...{ visibility: 'followed', changedAt: clock.now() },
      });
    }
  });
  let failsAfter = Number.POSITIVE_INFINITY;
  let count = 0;
  const uow = intercepting(fixture.uow, {
    write: async (work, run) => {
      if (count >= failsAfter) throw new Error('Stopped');
      count++;
      return run(work);
    },
  });
  const renderer = new FakeRenderer();
  const notices = new MoveNotices(new SystemMessages(renderer, fakeRealmUrls, clock), fakeRealmUrls, clock);
  const parser = new UserTextParser(uow, renderer, fakeRealmUrls);
  const useCase = new UpdateMessage(uow, parser, clock, (text) => text, notices);
  return {
    ...{ fixture, ids, channelId },
    units: () => count,
    failAfter: (units: number) => {
      failsAfter = count + units;
    },
    move: (more: Partial<UpdateMessageInput>) =>
      useCase.execute(fixture.caller('owner'), {
        ...{ messageId: ids[300]!, content: null, topic: null, channelId: null, propagation: 'all' },
        ...{ notifiesOldThread: false, notifiesNewThread: false, previousDigest: null, ...more },
      }),
    /** Runs the jobs left by a crash, whose first attempts fail. */
    recover: async (failures: readonly Error[] = []) => {
      failsAfter = Number.POSITIVE_INFINITY;
      clock.advance(60);
      const problems: unknown[] = [];
      const handler = new MoveParts(fixture.uow, clock, notices);
      const prepare = jest.spyOn(handler, 'prepare');
      for (const failure of failures) prepare.mockRejectedValueOnce(failure);
      const runner = new JobRunner(handler, { uow: fixture.uow, clock, report: (...it) => void problems.push(it) });
      for (let next = await runner.run(); next !== null; next = await runner.run()) clock.advance(next - clock.now());
      return problems.length;
    },
    /** Returns the number of messages by channel and topic, including notices, and of policies by topic. */
    state: async () => {
      const messages = await fixture.uow.read(realm.id, (r) => r.messages.list(realm.id, ids));
      const locations = new Map<string, number>();
      for (const { channelId: id, topic } of messages) {
        const location = `${id === general ? 'general' : 'other'}>${topic}`;
        locations.set(location, (locations.get(location) ?? 0) + 1);
      }
      const policies = await fixture.uow.write(realm.id, (tx) =>
        tx.topicPolicies.listOfTopic(realm.id, general, 'long', 0, 500),
      );
      return { locations: Object.fromEntries(locations), policiesLeft: policies.length };
    },
    /**
     * Returns the lengths of the events for users who know the previous channel; other users receive events without its
     * name.
     */
    lengthsOfEvents: () =>
      fixture.storage.announced.flatMap(({ event }) =>
        event.type === 'message.updated' && event.move && event.channel?.name ? [event.messageIds.length] : [],
      ),
  };
}

describe('move of many messages (contract decision 10)', () => {
  it('is split into bounded units that publish their messages', async () => {
    const { fixture, move, state, units, lengthsOfEvents } = await moving();
    await expectInSync(fixture, () => move({ topic: 'renamed', notifiesNewThread: true }));
    expect(await state()).toEqual({ locations: { 'general>renamed': COUNT }, policiesLeft: 0 });
    expect(lengthsOfEvents()).toEqual([250, 250, 100]);
    // Three parts with messages and two with policies; the last one posts the notice.
    expect(units()).toBe(5);
    const notice = fixture.storage.announced.flatMap(({ event }) =>
      event.type === 'message.sent' ? [event.view.message.content] : [],
    );
    expect(notice.at(-1)).toMatch(/^This topic was moved here from /);
  });

  it.each([1, 2, 4])('is completed by a job after a crash that follows unit %s', async (count) => {
    const { failAfter, move, recover, state, channelId, lengthsOfEvents } = await moving();
    failAfter(count);
    const other = await channelId('other');
    await expect(move({ channelId: other, topic: 'there' })).rejects.toThrow('Stopped');
    expect(await recover()).toBe(0);
    expect(await state()).toEqual({ locations: { 'other>there': COUNT }, policiesLeft: 0 });
    expect(lengthsOfEvents()).toEqual([250, 250, 100]);
  });

  it.each([
    ['is deactivated', { isActive: false }],
    ['becomes a guest', { role: 'guest' }],
  ] as const)('is completed by a job after a crash if its author %s in between', async (_, change) => {
    const { fixture, failAfter, move, recover, state, channelId, lengthsOfEvents } = await moving();
    failAfter(1);
    const other = await channelId('other');
    const moved = move({ channelId: other, topic: 'there', propagation: 'later', messageId: fixture.messages[0]!.id });
    await expect(moved).rejects.toThrow('Stopped');
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('owner'), ...change }));
    expect(await recover()).toBe(0);
    expect(await state()).toEqual({ locations: { 'other>there': COUNT }, policiesLeft: 0 });
    expect(lengthsOfEvents()).toEqual([250, 250, 100]);
  });

  it.each([
    ['retried', new DomainError('SERVER_BUSY', 'later', { retryAfter: 1 }), { 'general>renamed': COUNT }, 0],
    ['given up', new DomainError('UNKNOWN_CHANNEL', 'no'), { 'general>renamed': 350, 'general>long': 250 }, 120],
  ] as const)('ends after a part that is %s, with policies where the topic is', async (_, error, locations, left) => {
    const { ids, failAfter, move, recover, state } = await moving();
    failAfter(1);
    await expect(move({ messageId: ids[0]!, propagation: 'later', topic: 'renamed' })).rejects.toThrow('Stopped');
    await recover([error]);
    expect(await state()).toEqual({ locations, policiesLeft: left });
  });

  it('skips messages that another user moved in between', async () => {
    const { failAfter, ids, move, recover, state } = await moving();
    failAfter(1);
    await expect(move({ topic: 'renamed' })).rejects.toThrow('Stopped');
    failAfter(1);
    await move({ messageId: ids.at(-1)!, topic: 'elsewhere', propagation: 'one' });
    expect(await recover()).toBe(0);
    expect((await state()).locations).toEqual({ 'general>renamed': COUNT - 1, 'general>elsewhere': 1 });
  });

  it('skips a part of which another user moved all messages to another channel', async () => {
    const { fixture, failAfter, ids, move, recover, state } = await moving();
    failAfter(1);
    await expect(move({ topic: 'renamed', messageId: ids[0]!, propagation: 'later' })).rejects.toThrow('Stopped');
    const { id: channelId, recipientId } = fixture.channel('other');
    await fixture.add((_, tx) =>
      tx.moves.move(fixture.realm.id, ids.slice(250, 500), {
        ...{ channelId, recipientId, topic: null, movedAt: 0, isHistoryProtected: false },
      }),
    );
    expect(await recover()).toBe(0);
    expect((await state()).locations).toEqual({ 'general>renamed': 350, 'other>long': 250 });
  });

  it('moves the policies of a whole topic even if new messages arrived there', async () => {
    const { fixture, failAfter, move, recover, state } = await moving();
    failAfter(1);
    await expect(move({ topic: 'renamed' })).rejects.toThrow('Stopped');
    await fixture.add(aMessage({ from: 'member', to: 'general', topic: 'long' }));
    await recover();
    expect((await state()).policiesLeft).toBe(0);
  });
});
