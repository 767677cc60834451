import {
  aMessage,
  createFixture,
  fakeEventLoop,
  type MemoryFixture,
  receiverRequest,
  withLimitedGuests,
} from '@parley/testkit';
import { subscribeToChannels, unsubscribeFromChannels } from '../channels/subscribing.js';
import { DELIVERY_FEATURES } from '../composition/features.js';
import { ReceiverLoader, type ReceiverRequest } from './delivery.js';
import type { EventNeeds } from './feature-types.js';
import type { EventSeq } from './ids.js';

function aLoader(fixture: MemoryFixture) {
  const loader = new ReceiverLoader(fixture.uow, fakeEventLoop, DELIVERY_FEATURES);
  return { load: (...[each]: [ReceiverRequest]) => loader.load(fixture.realm.id, each), loader };
}

describe('receiver of an event', () => {
  it('includes the inaccessible users of a limited guest', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    const { load } = aLoader(fixture);
    const userIds = ['iago', 'hamlet', 'polonius'].map((name) => fixture.user(name).id);
    const receivers = await Promise.all(
      ['hamlet', 'polonius', 'osric'].map((name) => load(receiverRequest(fixture, name, { userIds }))),
    );
    const [iago, hamlet, polonius] = userIds;
    expect(receivers.map(({ inaccessible }) => [...inaccessible])).toEqual([[], [iago], [iago, hamlet, polonius]]);
    expect(receivers.map(({ role }) => role)).toEqual(['member', 'guest', 'guest']);
  });

  it('includes current flags of received messages', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    await fixture.add(aMessage({ from: 'hamlet', to: 'court' }), aMessage({ from: 'polonius', to: 'court' }));
    const messageIds = fixture.messages.map(({ id }) => id);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.personal.setRead({ realmId: fixture.realm.id, userId: fixture.user('polonius').id }, messageIds, true),
    );
    const { load } = aLoader(fixture);
    const [hamlet, polonius, iago] = await Promise.all(
      ['hamlet', 'polonius', 'iago'].map((name) => load(receiverRequest(fixture, name, { messageIds }))),
    );
    expect([hamlet!.flags.size, polonius!.flags.size, iago!.flags.size]).toEqual([2, 2, 0]);
    expect(messageIds.map((id) => [hamlet!.flags.get(id)?.read, polonius!.flags.get(id)?.read])).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  it('includes users who become accessible or inaccessible to a guest with the event', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    const court = fixture.channel('court');
    const lastSeq = () => fixture.uow.read(fixture.realm.id, ({ events }) => events.lastSeq(fixture.realm.id));
    const userIds = [fixture.user('iago').id];
    const before = await lastSeq();
    await fixture.uow.write(court.realmId, (tx) =>
      subscribeToChannels(tx, { channels: [court], userIds, requestedColors: new Map() }),
    );
    const between = await lastSeq();
    await fixture.uow.write(court.realmId, (tx) => unsubscribeFromChannels(tx, [court], userIds));
    const after = await lastSeq();
    const { load } = aLoader(fixture);
    const access = (since: EventSeq): EventNeeds => ({ access: { userIds, before: since } });
    const [joined, left, never, promoted, unlogged] = await Promise.all([
      load(receiverRequest(fixture, 'polonius', access(before), between)),
      load(receiverRequest(fixture, 'polonius', access(between), after)),
      load(receiverRequest(fixture, 'osric', access(before), between)),
      load(receiverRequest(fixture, 'hamlet', access(before), between)),
      load(receiverRequest(fixture, 'polonius', access(before))),
    ]);
    for (const each of [joined, promoted])
      expect(each).toMatchObject({ gained: [{ id: userIds[0], fullName: 'iago' }], lost: [] });
    expect(left).toMatchObject({ gained: [], lost: userIds });
    for (const nobody of [never, unlogged]) expect(nobody).toMatchObject({ gained: [], lost: [] });
  });
});

describe('ReceiverLoader', () => {
  it('runs once per realm for all requests of an event loop turn', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    await fixture.add(aMessage({ from: 'hamlet', to: 'court' }));
    let looks = 0;
    const { read } = fixture.uow;
    fixture.uow.read = (realmId, work) => {
      looks++;
      return read(realmId, work);
    };
    const { load } = aLoader(fixture);
    const needs = { userIds: [fixture.user('iago').id], messageIds: [fixture.messages[0]!.id] };
    const all = Array.from({ length: 50 }, (_, n) =>
      load(receiverRequest(fixture, n % 2 === 0 ? 'polonius' : 'hamlet', needs)),
    );
    await Promise.all(all);
    expect(looks).toBe(1);
    await load(receiverRequest(fixture, 'polonius', needs));
    expect(looks).toBe(2);
  });

  it('fails for all requests of the same turn but not for later ones', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    const { load } = aLoader(fixture);
    const { read } = fixture.uow;
    fixture.uow.read = () => Promise.reject(new Error('disk gone'));
    const needs = { userIds: [fixture.user('iago').id] };
    const refused = await Promise.allSettled([
      load(receiverRequest(fixture, 'polonius', needs)),
      load(receiverRequest(fixture, 'osric', needs)),
    ]);
    expect(refused).toMatchObject([{ reason: new Error('disk gone') }, { reason: new Error('disk gone') }]);
    fixture.uow.read = read;
    expect((await load(receiverRequest(fixture, 'osric', needs))).inaccessible.size).toBe(1);
  });
});
