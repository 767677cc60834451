import { aChannel, aMessage, aUser, createFixture, expectInSync, expectRefused } from '@parley/testkit';
import type { Clock } from '../../shared/clock.js';
import { DeleteTopic } from './delete-topic.js';

const messages = (count: number) =>
  Array.from({ length: count }, () => aMessage({ from: 'admin', to: 'general', topic: 'Plans' }));
const place = [
  aUser({ name: 'admin', role: 'administrator' }),
  aUser({ name: 'member' }),
  aChannel({ name: 'general', subscribers: ['admin', 'member'] }),
];

describe('deleting a topic', () => {
  it('comes back when its time is over, and leaves the older messages', async () => {
    const fixture = await createFixture(...place, ...messages(250));
    const { uow, caller, channel, clock } = fixture;
    let elapsed = 0;
    // Each look at the clock is 20 s after the one before: there is time for two units.
    const slow: Clock = { now: () => clock.now(), nowMs: () => (elapsed += 20_000) };
    const input = { channelId: channel('general').id, topic: 'plans' };
    const left = async () =>
      (await uow.read((r) => r.messages.listOldestIds(fixture.realm.id, channel('general').recipientId, 1000))).length;
    expect(await new DeleteTopic(uow, slow).execute(caller('admin'), input)).toBe(false);
    expect(await left()).toBe(50);
    expect(await uow.read((r) => r.messages.find(fixture.realm.id, fixture.messages[0]!.id))).not.toBeNull();
    expect(await new DeleteTopic(uow, clock).execute(caller('admin'), input)).toBe(true);
    expect(await left()).toBe(0);
  });

  it('keeps every client in step', async () => {
    const fixture = await createFixture(...place, ...messages(3));
    const { uow, caller, channel, clock } = fixture;
    const input = { channelId: channel('general').id, topic: 'plans' };
    await expectInSync(fixture, () => new DeleteTopic(uow, clock).execute(caller('admin'), input));
  });

  it('is for administrators, and changes nothing otherwise', async () => {
    const fixture = await createFixture(...place, ...messages(1));
    const { uow, caller, channel, clock } = fixture;
    const input = { channelId: channel('general').id, topic: 'plans' };
    await expectRefused(fixture, () => new DeleteTopic(uow, clock).execute(caller('member'), input), {
      code: 'MUST_BE_ADMINISTRATOR',
    });
  });
});
