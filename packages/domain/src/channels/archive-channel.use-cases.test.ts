import { aChannel, aMessage, anotherRealm, aUser, createFixture, expectInSync } from '@parley/testkit';
import { MarkIdleChannels } from './archive-channel.use-cases.js';

const DAY = 86_400;

describe('MarkIdleChannels', () => {
  it('marks channels as idle after 180 days and publishes an event to users who can see them', async () => {
    const fixture = await createFixture(
      aUser({ name: 'a' }),
      aUser({ name: 'b' }),
      aUser({ name: 'guest', role: 'guest' }),
      aChannel({ name: 'open', subscribers: ['guest'] }),
      aChannel({ name: 'closed', subscribers: ['a'], privacy: 'privateSharedHistory' }),
      aChannel({ name: 'busy', subscribers: ['a'] }),
    );
    const { uow, realm, clock, storage } = fixture;
    const other = await anotherRealm(fixture);
    const markIdle = new MarkIdleChannels(uow, clock);
    const activity = () =>
      uow.read(realm.id, async ({ channels }) =>
        Object.fromEntries(
          (await channels.listAll(realm.id)).map(({ name, isRecentlyActive }) => [name, isRecentlyActive]),
        ),
      );
    clock.advance(180 * DAY);
    await fixture.add(aMessage({ from: 'a', to: 'busy' }));
    expect(await markIdle.execute()).toBe(0);
    clock.advance(1);
    await expectInSync(fixture, async () => expect(await markIdle.execute()).toBe(3));
    expect(await activity()).toEqual({ open: false, closed: false, busy: true });
    const told = storage.announced.flatMap(({ event }) =>
      event.type === 'channel.property_changed' ? [[event.name, event.value]] : [],
    );
    expect(told).toEqual([
      ['open', false],
      ['closed', false],
      ['theirs', false],
    ]);
    expect(await markIdle.execute()).toBe(0);
    expect(other.channel('theirs').isRecentlyActive).toBe(true);
  });

  it('searches channels in slices', async () => {
    const names = Array.from({ length: 450 }, (_, n) => `channel ${n}`);
    const fixture = await createFixture(...names.map((name) => aChannel({ name })));
    fixture.clock.advance(181 * DAY);
    expect(await new MarkIdleChannels(fixture.uow, fixture.clock).execute()).toBe(450);
  });
});
