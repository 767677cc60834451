import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  expectInSync,
  expectRefused,
  FakeRenderer,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import { JobRunner } from '../kernel/jobs.js';
import { SystemMessages } from '../writing/system-messages.js';
import { addClosing, DAY_SECONDS, restartClosing } from './closing.js';
import { CloseChannel, CloseIdleChannels, ReopenChannel } from './closing.use-cases.js';

const order = {
  name: 'order',
  privacy: 'privateSharedHistory',
  creator: 'staff',
  subscribers: ['staff', 'customer'],
} as const;
const staged = () =>
  createFixture(
    aUser({ name: 'staff', role: 'owner' }),
    aUser({ name: 'customer', role: 'guest' }),
    aUser({ name: 'stranger' }),
    aChannel(order),
  );

function actions({ uow, clock, ...fixture }: MemoryFixture) {
  const bot = new SystemMessages(new FakeRenderer(), fakeRealmUrls, clock);
  const { id: channelId } = fixture.channel('order');
  const report = (_: string, { err }: Readonly<Record<string, unknown>>) => {
    throw err;
  };
  return {
    close: (who: string) => new CloseChannel(uow, bot).execute(fixture.caller(who), { channelId }),
    reopen: (who: string) => new ReopenChannel(uow, bot, clock).execute(fixture.caller(who), { channelId }),
    plan: (days: number) =>
      uow.write(fixture.realm.id, (tx) => addClosing(tx, fixture.channel('order'), days, clock.now())),
    async after(days: number) {
      clock.advance(days * DAY_SECONDS);
      const runner = new JobRunner(new CloseIdleChannels(bot, clock), { uow, clock, report });
      await runner.run();
      await runner.settle();
    },
    restart: () => uow.write(fixture.realm.id, (tx) => restartClosing(tx, fixture.channel('order'), clock.now())),
    isArchived: () =>
      uow.read(fixture.realm.id, async (r) => (await r.channels.get(fixture.realm.id, channelId)).isArchived),
    jobs: () =>
      uow.read(fixture.realm.id, ({ jobs }) =>
        jobs.listDue({ kind: 'channels.close', maxFormat: 1 }, clock.now() + 4000 * DAY_SECONDS, 10),
      ),
  };
}

describe('closing of channels', () => {
  it('yields the same state from events as from a fresh fetch', async () => {
    const fixture = await staged();
    const { close, reopen, plan, after, isArchived } = actions(fixture);
    await expectInSync(fixture, () => close('staff'));
    await expectInSync(fixture, async () => expect(await reopen('customer')).toBe(true));
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.channelClosings.remove(fixture.realm.id, fixture.channel('order').id),
    );
    await plan(3);
    await expectInSync(fixture, () => after(3));
    expect(await isArchived()).toBe(true);
  });

  it('lets only people close it who may archive it, and only people reopen it who may post in it', async () => {
    const fixture = await staged();
    const { close, reopen } = actions(fixture);
    await expectRefused(fixture, () => close('customer'), { code: 'CANNOT_ADMINISTER_CHANNEL' });
    await expectRefused(fixture, () => close('stranger'), { code: 'UNKNOWN_CHANNEL' });
    await close('staff');
    await expectRefused(fixture, () => reopen('stranger'), { code: 'UNKNOWN_DESTINATION' });
    expect(await reopen('customer')).toBe(true);
    expect(await reopen('customer')).toBe(false);
  });

  it('keeps a private channel without subscribers closed', async () => {
    const fixture = await createFixture(
      aUser({ name: 'staff', role: 'owner' }),
      aChannel({ ...order, subscribers: [], grantedTo: { canSubscribe: 'everyone' } }),
    );
    const { close, reopen, isArchived } = actions(fixture);
    await close('staff');
    await expectRefused(fixture, () => reopen('staff'), { code: 'CHANNEL_WITHOUT_SUBSCRIBERS' });
    expect(await isArchived()).toBe(true);
  });

  it('does not reopen a channel that is open, or that somebody archived', async () => {
    const fixture = await staged();
    const { close, reopen, restart, isArchived, jobs } = actions(fixture);
    expect(await reopen('staff')).toBe(false);
    await close('staff');
    await restart();
    expect(await jobs()).toEqual([]);
    expect(await reopen('staff')).toBe(false);
    expect(await isArchived()).toBe(true);
  });

  it('begins again when somebody unarchives the channel', async () => {
    const fixture = await staged();
    const { plan, after, reopen, isArchived, jobs } = actions(fixture);
    await plan(3);
    await after(3);
    expect(await jobs()).toEqual([]);
    await reopen('customer');
    expect(await jobs()).toMatchObject([{ dueAt: fixture.clock.now() + 3 * DAY_SECONDS }]);
    await after(3);
    expect(await isArchived()).toBe(true);
  });

  it('reopens a channel that was closed by hand after it had a rule', async () => {
    const fixture = await staged();
    const { plan, close, reopen, after, isArchived } = actions(fixture);
    await plan(3);
    await close('staff');
    await after(3);
    expect(await reopen('customer')).toBe(true);
    expect(await isArchived()).toBe(false);
  });

  it('schedules nothing for an unarchived channel without a rule', async () => {
    const { restart, jobs } = actions(await staged());
    await restart();
    expect(await jobs()).toEqual([]);
  });

  it('ignores the check of an archived channel or of one without a rule', async () => {
    const fixture = await staged();
    const { plan, after, isArchived } = actions(fixture);
    const { realm, uow, storage } = fixture;
    const order = fixture.channel('order');
    await plan(3);
    await uow.write(realm.id, (tx) => tx.channelClosings.remove(realm.id, order.id));
    await after(3);
    expect(await isArchived()).toBe(false);
    await plan(3);
    await uow.write(realm.id, async (tx) =>
      tx.channels.update({ ...(await tx.channels.get(realm.id, order.id)), isArchived: true }),
    );
    storage.announced.length = 0;
    await after(3);
    expect(storage.announced).toEqual([]);
  });

  it('keeps at most one scheduled check per channel', async () => {
    const fixture = await staged();
    const { close, reopen, plan, after, isArchived, jobs } = actions(fixture);
    await plan(10);
    await close('staff');
    await reopen('staff');
    expect(await jobs()).toHaveLength(1);
    await fixture.add(aMessage({ from: 'staff', to: 'order' }));
    await after(9);
    await fixture.add(aMessage({ from: 'staff', to: 'order' }));
    await after(1);
    expect([await isArchived(), (await jobs()).length]).toEqual([false, 1]);
    await after(10);
    expect([await isArchived(), (await jobs()).length]).toEqual([true, 0]);
  });
});
