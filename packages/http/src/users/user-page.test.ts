import { ListUsers, type RealmAddresses, type User, type UserId, type UserSettings } from '@parley/domain';
import { aUser, given, type MemoryScene } from '@parley/testkit';
import { type UserListForm, UserPagePresenter } from './user-page.js';

const addresses: RealmAddresses = { urlOf: () => 'https://chat.example', mailHostOf: () => 'chat.example' };

async function read(scene: MemoryScene, pages: UserPagePresenter, who: string, form: Partial<UserListForm> = {}) {
  const fetched: UserId[] = [];
  const text = await new ListUsers(scene.uow).execute(scene.caller(who), { ids: null }, (list, hydrate) =>
    pages.present(
      list,
      (ids) => {
        fetched.push(...ids);
        return hydrate(ids);
      },
      { clientGravatar: true, withProfile: false, ...form },
    ),
  );
  return { members: JSON.parse(text), fetched };
}

const settings = (user: User, more: Partial<UserSettings>): User => ({
  ...user,
  settings: { ...user.settings, ...more },
});

describe('a list of users', () => {
  let scene: MemoryScene;
  let pages: UserPagePresenter;
  beforeEach(async () => {
    scene = await given(
      aUser({ name: 'iago', role: 'administrator' }),
      aUser({ name: 'hamlet' }),
      aUser({ name: 'helper', botOf: 'hamlet' }),
    );
    await scene.uow.write((tx) =>
      tx.users.update(settings(scene.user('hamlet'), { emailAddressVisibility: 'administrators' })),
    );
    pages = new UserPagePresenter(addresses);
  });
  const idOf = (name: string) => scene.user(name).id;

  it('is fetched once for all who see the same of it', async () => {
    expect((await read(scene, pages, 'iago')).fetched).toEqual([idOf('iago'), idOf('hamlet'), idOf('helper')]);
    const { members, fetched } = await read(scene, pages, 'iago');
    expect(fetched).toEqual([]);
    expect(members.map((one: { full_name: string }) => one.full_name)).toEqual(['iago', 'hamlet', 'helper']);
  });

  it('gives an address only to those who may see it, whoever looked before', async () => {
    const addressOf = async (who: string) => {
      const { members } = await read(scene, pages, who);
      return members.find((one: { user_id: number }) => one.user_id === idOf('hamlet')).delivery_email;
    };
    expect(await addressOf('iago')).toBe('hamlet@example.com');
    expect(await addressOf('helper')).toBeNull();
    expect(await addressOf('hamlet')).toBe('hamlet@example.com');
    expect(await addressOf('helper')).toBeNull();
  });

  it('is fetched anew for those who changed', async () => {
    await read(scene, pages, 'iago');
    const { fullName: _old, ...hamlet } = scene.user('hamlet');
    await scene.uow.write((tx) => tx.users.update({ ...hamlet, fullName: 'Prince Hamlet' }));
    const { members, fetched } = await read(scene, pages, 'iago');
    expect(fetched).toEqual([idOf('hamlet')]);
    expect(members[1].full_name).toBe('Prince Hamlet');
  });

  it('is fetched anew in another form', async () => {
    await read(scene, pages, 'iago');
    const { members } = await read(scene, pages, 'iago', { withProfile: true });
    expect(members.map((one: { profile_data?: object }) => one.profile_data)).toEqual([{}, {}, undefined]);
    const lean = await read(scene, pages, 'iago', { withActivity: false });
    expect(lean.members[0]).not.toHaveProperty('is_active');
    expect((await read(scene, pages, 'iago')).members[0]).toMatchObject({ is_active: true, avatar_url: null });
    expect((await read(scene, pages, 'iago', { clientGravatar: false })).members[0].avatar_url).toContain('gravatar');
  });
});
