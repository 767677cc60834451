import {
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  PlainLoginAttempts,
  PlainPasswordHasher,
  plainDisposableDomains,
  plainPasswordStrength,
  told,
} from '@parley/testkit';
import { ChangeSettings, type ChangeSettingsInput } from './change-settings.js';

const changing = (scene: MemoryScene, hasher = new PlainPasswordHasher(), attempts = new PlainLoginAttempts()) => {
  const useCase = new ChangeSettings(scene.uow, hasher, plainPasswordStrength, attempts, plainDisposableDomains);
  return (who: string, input: Partial<ChangeSettingsInput>) =>
    useCase.execute(scene.caller(who), { settings: {}, ...input });
};
const passwordOf = (scene: MemoryScene, name: string) =>
  scene.uow.read((r) => r.users.findPasswordHash(scene.realm.id, scene.user(name).id));
const withPassword = async (scene: MemoryScene, name: string, password: string) => {
  await scene.uow.write((tx) => tx.users.setPasswordHash(scene.realm.id, scene.user(name).id, `hash of ${password}`));
  return scene;
};
const settingsOf = async (scene: MemoryScene, name: string) =>
  (await scene.uow.read((r) => r.users.find(scene.realm.id, scene.user(name).id)))!;

describe('changing settings', () => {
  it('tells oneself of preferences, and those who know one of the name and the time zone', async () => {
    const scene = await given(aUserOfEachRole());
    const change = changing(scene);
    const settings = { timezone: 'Asia/Tokyo', enterSends: true, colorScheme: 'dark' };
    await expectInSync(scene, () => change('member', { settings, fullName: 'Another name' }));
    const everybody = expect.arrayContaining(['owner', 'guest']);
    expect(await told(scene)).toEqual([
      ['user.name_changed', everybody],
      ['user.setting_changed', ['member']],
      ['user.setting_changed', ['member']],
      ['user.setting_changed', ['member']],
      ['user.time_zone_changed', everybody],
    ]);
  });

  it('remembers which settings somebody has changed themselves, and not those that stayed', async () => {
    const scene = await given(aUserOfEachRole());
    const change = changing(scene);
    await change('member', { settings: { enterSends: true, colorScheme: 'automatic' } });
    await change('member', { settings: { enterSends: false, translateEmoticons: true } });
    expect((await settingsOf(scene, 'member')).editedSettings).toEqual(['enterSends', 'translateEmoticons']);
    const targets = { userIds: [scene.user('member').id], groupIds: [], skipsEdited: true };
    await change('owner', { settings: { enterSends: true, colorScheme: 'dark' }, targets });
    expect(await settingsOf(scene, 'member')).toMatchObject({
      settings: { enterSends: false, colorScheme: 'dark' },
      editedSettings: ['enterSends', 'translateEmoticons'],
    });
  });

  it.each([
    [{ enterSends: 'yes' }, 'enterSends'],
    [{ colorScheme: 2 }, 'colorScheme'],
    [{ emailNotificationsBatchingPeriodSeconds: 0, notificationSound: 'bang' }, 'notificationSound'],
  ])('refuses values that the settings cannot have: %j', async (settings, setting) => {
    const scene = await given(aUserOfEachRole());
    await expectRefused(scene, () => changing(scene)('member', { settings, fullName: 'New' }), {
      code: 'BAD_SETTING_VALUE',
      details: expect.objectContaining({ of: 'user', setting }),
    });
  });
});

describe('changing the password', () => {
  const NEW = 'get thee to a';
  const cast = async () => withPassword(await given(aUser({ name: 'hamlet' })), 'hamlet', 'old');

  it('hashes on behalf of the user, outside the unit', async () => {
    const scene = await cast();
    const hasher = new PlainPasswordHasher();
    await changing(scene, hasher)('hamlet', { oldPassword: 'old', newPassword: NEW });
    expect(await passwordOf(scene, 'hamlet')).toBe(`hash of ${NEW}`);
    expect(hasher.requests).toEqual([{ client: `user ${scene.user('hamlet').id}` }]);
  });

  it('is refused when it was changed meanwhile', async () => {
    const scene = await cast();
    const hasher = new PlainPasswordHasher();
    hasher.hash = async (password) => {
      await withPassword(scene, 'hamlet', 'a third one');
      return `hash of ${password}`;
    };
    const attempt = changing(scene, hasher)('hamlet', { oldPassword: 'old', newPassword: NEW, fullName: 'New' });
    await expect(attempt).rejects.toMatchObject({ code: 'INVALID_INPUT', message: 'Wrong password!' });
    expect(await passwordOf(scene, 'hamlet')).toBe('hash of a third one');
    expect((await settingsOf(scene, 'hamlet')).fullName).toBe('hamlet');
  });

  it('counts wrong ones, and neither right ones nor those that nobody looked at', async () => {
    const scene = await cast();
    const hasher = new PlainPasswordHasher();
    const change = changing(scene, hasher);
    const attempt = (oldPassword: string) => change('hamlet', { oldPassword, newPassword: NEW });
    hasher.isBusy = true;
    for (let i = 0; i < 3; i++) await expect(attempt('x')).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    hasher.isBusy = false;
    await expect(attempt('x')).rejects.toMatchObject({ message: 'Wrong password!' });
    await attempt('old');
    for (let i = 0; i < 2; i++) await expect(attempt('x')).rejects.toMatchObject({ message: 'Wrong password!' });
    await expect(attempt(NEW)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^You're making too many attempts!/),
    });
  });

  it('of somebody who has none cannot be proved', async () => {
    const scene = await given(aUser({ name: 'hamlet' }));
    const attempt = () => changing(scene)('hamlet', { newPassword: NEW });
    await expectRefused(scene, attempt, { message: 'Wrong password!' });
  });
});
