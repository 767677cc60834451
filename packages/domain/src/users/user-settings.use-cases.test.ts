import {
  aGroup,
  aUser,
  aUserOfEachRole,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  FakeEmailQuota,
  FakeLoginAttempts,
  FakePasswordHasher,
  fakeDisposableDomains,
  fakePasswordStrength,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import { Passwords } from '../access/credentials.js';
import { JobRunner } from '../kernel/jobs.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import {
  ChangeSettingParts,
  ChangeSettings,
  type ChangeSettingsInput,
  EmailChanges,
  MAX_SETTINGS_AT_ONCE,
} from './user-settings.use-cases.js';

const changing = (
  fixture: MemoryFixture,
  hasher = new FakePasswordHasher(),
  attempts = new FakeLoginAttempts(),
  uow: UnitOfWork = fixture.uow,
) => {
  const useCase = new ChangeSettings(
    uow,
    new Passwords(hasher, fakePasswordStrength),
    attempts,
    new EmailChanges(new FakeEmailQuota(), fakeDisposableDomains),
    fixture.clock,
    { limitsToAccessors: false },
  );
  return (who: string, input: Partial<ChangeSettingsInput>) =>
    useCase.execute(fixture.caller(who), { settings: {}, ...input });
};
const passwordOf = (fixture: MemoryFixture, name: string) =>
  fixture.uow.read(fixture.realm.id, (r) => r.users.findPasswordHash(fixture.realm.id, fixture.user(name).id));
const withPassword = async (fixture: MemoryFixture, name: string, password: string) => {
  await fixture.uow.write(fixture.realm.id, (tx) =>
    tx.users.setPasswordHash(fixture.realm.id, fixture.user(name).id, `hash of ${password}`),
  );
  return fixture;
};
const settingsOf = async (fixture: MemoryFixture, name: string) =>
  (await fixture.uow.read(fixture.realm.id, (r) => r.users.find(fixture.realm.id, fixture.user(name).id)))!;

describe('ChangeSettings', () => {
  it('publishes settings to their user, and the name and time zone to users who can see them', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const change = changing(fixture);
    const settings = { timezone: 'Asia/Tokyo', enterSends: true, colorScheme: 'dark' } as const;
    await expectInSync(fixture, () => change('member', { settings, fullName: 'Another name' }));
    const everybody = expect.arrayContaining(['owner', 'guest']);
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['user.name_changed', everybody],
      ['user.setting_changed', ['member']],
      ['user.setting_changed', ['member']],
      ['user.setting_changed', ['member']],
      ['user.time_zone_changed', everybody],
    ]);
  });

  it('records settings that the user changed but not unchanged ones', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const change = changing(fixture);
    await change('member', { settings: { enterSends: true, colorScheme: 'automatic' } });
    await change('member', { settings: { enterSends: false, translateEmoticons: true } });
    expect((await settingsOf(fixture, 'member')).editedSettings).toEqual(['enterSends', 'translateEmoticons']);
    const targets = { userIds: [fixture.user('member').id], groupIds: [], skipsEdited: true };
    await change('owner', { settings: { enterSends: true, colorScheme: 'dark' }, targets });
    expect(await settingsOf(fixture, 'member')).toMatchObject({
      settings: { enterSends: false, colorScheme: 'dark' },
      editedSettings: ['enterSends', 'translateEmoticons'],
    });
  });

  it.each([
    [{ enterSends: 'yes' }, 'enterSends'],
    [{ colorScheme: 2 }, 'colorScheme'],
    [{ emailNotificationsBatchingPeriodSeconds: 0, notificationSound: 'bang' }, 'notificationSound'],
  ])('rejects invalid setting values: %j', async (settings, setting) => {
    const fixture = await createFixture(aUserOfEachRole());
    await expectRefused(fixture, () => changing(fixture)('member', { settings: settings as never, fullName: 'New' }), {
      code: 'BAD_SETTING_VALUE',
      details: expect.objectContaining({ of: 'user', setting }),
    });
  });
});

describe('ChangeSettings with a password', () => {
  const NEW = 'get thee to a';
  const cast = async () => withPassword(await createFixture(aUser({ name: 'hamlet' })), 'hamlet', 'old');

  it('hashes the password outside the unit of work on behalf of the user', async () => {
    const fixture = await cast();
    const hasher = new FakePasswordHasher();
    await changing(fixture, hasher)('hamlet', { oldPassword: 'old', newPassword: NEW });
    expect(await passwordOf(fixture, 'hamlet')).toBe(`hash of ${NEW}`);
    expect(hasher.requests).toEqual([{ client: `user ${fixture.user('hamlet').id}` }]);
  });

  it('rejects the change if the password changed during the request', async () => {
    const fixture = await cast();
    const hasher = new FakePasswordHasher();
    hasher.hash = async (password) => {
      await withPassword(fixture, 'hamlet', 'a third one');
      return `hash of ${password}`;
    };
    const attempt = changing(fixture, hasher)('hamlet', { oldPassword: 'old', newPassword: NEW, fullName: 'New' });
    await expect(attempt).rejects.toMatchObject({ code: 'WRONG_PASSWORD', message: 'Wrong password!' });
    expect(await passwordOf(fixture, 'hamlet')).toBe('hash of a third one');
    expect((await settingsOf(fixture, 'hamlet')).fullName).toBe('hamlet');
  });

  it('counts only wrong passwords that were actually verified', async () => {
    const fixture = await cast();
    const hasher = new FakePasswordHasher();
    const change = changing(fixture, hasher);
    const attempt = (oldPassword: string) => change('hamlet', { oldPassword, newPassword: NEW });
    hasher.isBusy = true;
    for (let i = 0; i < 3; i++) await expect(attempt('x')).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    hasher.isBusy = false;
    await expect(attempt('x')).rejects.toMatchObject({ message: 'Wrong password!' });
    await attempt('old');
    for (let i = 0; i < 2; i++) await expect(attempt('x')).rejects.toMatchObject({ message: 'Wrong password!' });
    await expect(attempt(NEW)).rejects.toMatchObject({
      code: 'TOO_MANY_PASSWORD_ATTEMPTS',
      message: expect.stringMatching(/^You're making too many attempts!/),
    });
  });

  it('rejects a user without a password', async () => {
    const fixture = await createFixture(aUser({ name: 'hamlet' }));
    const attempt = () => changing(fixture)('hamlet', { newPassword: NEW });
    await expectRefused(fixture, attempt, { message: 'Wrong password!' });
  });
});

describe('changing the settings of many others (contract decision 10)', () => {
  const COUNT = MAX_SETTINGS_AT_ONCE + 1;

  async function crowd() {
    const people = Array.from({ length: COUNT }, (_, n) => `member ${n}`);
    const fixture = await createFixture(
      aUser({ name: 'owner', role: 'owner' }),
      ...people.map((name) => aUser({ name })),
      aGroup({ name: 'crowd', members: people }),
    );
    const counter = { count: 0, failsAfter: Number.POSITIVE_INFINITY };
    const uow = intercepting(fixture.uow, {
      write: async (work, run) => {
        if (counter.count++ >= counter.failsAfter) throw new Error('Stopped');
        return run(work);
      },
    });
    const targets = { userIds: [], groupIds: [fixture.group('crowd').id], skipsEdited: false };
    const countChanged = async () => {
      const ids = people.map((name) => fixture.user(name).id);
      const users = await fixture.uow.read(fixture.realm.id, (r) => r.users.list(fixture.realm.id, ids));
      return users.filter(({ settings }) => settings.enterSends).length;
    };
    const change = () =>
      changing(fixture, undefined, undefined, uow)('owner', { settings: { enterSends: true }, targets });
    return { fixture, counter, change, countChanged };
  }

  it('changes members of a group in several units', async () => {
    const { fixture, counter, change, countChanged } = await crowd();
    await change();
    // One unit schedules the parts.
    expect([counter.count, await countChanged()]).toEqual([3, COUNT]);
    expect((await eventsWithReceivers(fixture)).map(([, receivers]) => receivers.length)).toEqual([
      MAX_SETTINGS_AT_ONCE,
      1,
    ]);
  });

  it('is completed by a job after a crash', async () => {
    const { fixture, counter, change, countChanged } = await crowd();
    counter.failsAfter = 2;
    await expect(change()).rejects.toThrow('Stopped');
    expect(await countChanged()).toBe(MAX_SETTINGS_AT_ONCE);
    const { uow, clock } = fixture;
    clock.advance(60);
    const problems: unknown[] = [];
    const report = (...problem: unknown[]) => void problems.push(problem);
    await new JobRunner(new ChangeSettingParts(uow, clock), { uow, clock, report }).run();
    expect([problems, await countChanged()]).toEqual([[], COUNT]);
  });
});
