import type { RealmUrls, UserId } from '@parley/domain/kernel';
import type { UserSettings } from '@parley/domain/realms';
import { ListUsers, type User, type UserList } from '@parley/domain/users';
import { aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { type UserListForm, UserPagePresenter } from './user-page.js';

const realmUrls: RealmUrls = { urlOf: () => 'https://chat.example', emailDomainOf: () => 'chat.example' };

async function read(
  fixture: MemoryFixture,
  pages: UserPagePresenter,
  who: string,
  form: Partial<UserListForm> = {},
  change: (list: UserList) => UserList = (list) => list,
) {
  const fetched: UserId[] = [];
  const { elements, textOf } = await new ListUsers(fixture.uow).execute(
    fixture.caller(who),
    { ids: null },
    (list, hydrate) =>
      pages.present(
        change(list),
        (ids) => {
          fetched.push(...ids);
          return hydrate(ids);
        },
        { clientGravatar: true, withProfile: false, ...form },
      ),
  );
  return { members: elements.map((element, index) => JSON.parse(textOf(element, index))), fetched };
}

const settings = (user: User, more: Partial<UserSettings>): User => ({
  ...user,
  settings: { ...user.settings, ...more },
});

describe('user list presenter', () => {
  let fixture: MemoryFixture;
  let pages: UserPagePresenter;
  beforeEach(async () => {
    fixture = await createFixture(
      aUser({ name: 'iago', role: 'administrator' }),
      aUser({ name: 'hamlet' }),
      aUser({ name: 'helper', botOf: 'hamlet' }),
    );
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.users.update(settings(fixture.user('hamlet'), { emailAddressVisibility: 'administrators' })),
    );
    pages = new UserPagePresenter(realmUrls);
  });
  const idOf = (name: string) => fixture.user(name).id;

  it('fetches a list once for all viewers with the same access', async () => {
    expect((await read(fixture, pages, 'iago')).fetched).toEqual([idOf('iago'), idOf('hamlet'), idOf('helper')]);
    const { members, fetched } = await read(fixture, pages, 'iago');
    expect(fetched).toEqual([]);
    expect(members.map((one: { full_name: string }) => one.full_name)).toEqual(['iago', 'hamlet', 'helper']);
  });

  it('shows an address only to viewers with access, even from the cache', async () => {
    const addressOf = async (who: string) => {
      const { members } = await read(fixture, pages, who);
      return members.find((one: { user_id: number }) => one.user_id === idOf('hamlet')).delivery_email;
    };
    expect(await addressOf('iago')).toBe('hamlet@example.com');
    expect(await addressOf('helper')).toBeNull();
    expect(await addressOf('hamlet')).toBe('hamlet@example.com');
    expect(await addressOf('helper')).toBeNull();
  });

  it('refetches only changed users', async () => {
    await read(fixture, pages, 'iago');
    const { fullName: _old, ...hamlet } = fixture.user('hamlet');
    await fixture.uow.write(hamlet.realmId, (tx) => tx.users.update({ ...hamlet, fullName: 'Prince Hamlet' }));
    const { members, fetched } = await read(fixture, pages, 'iago');
    expect(fetched).toEqual([idOf('hamlet')]);
    expect(members[1].full_name).toBe('Prince Hamlet');
  });

  it('refetches users after the database is replaced, because versions may repeat', async () => {
    const { fetched } = await read(fixture, pages, 'iago');
    const replaced = await read(fixture, pages, 'iago', {}, (list) => ({ ...list, realm: { ...list.realm } }));
    expect(replaced.fetched).toEqual(fetched);
  });

  it('refetches users for a different form', async () => {
    await read(fixture, pages, 'iago');
    const { members } = await read(fixture, pages, 'iago', { withProfile: true });
    expect(members.map((one: { profile_data?: object }) => one.profile_data)).toEqual([{}, {}, undefined]);
    const lean = await read(fixture, pages, 'iago', { withActivity: false });
    expect(lean.members[0]).not.toHaveProperty('is_active');
    expect((await read(fixture, pages, 'iago')).members[0]).toMatchObject({ is_active: true, avatar_url: null });
    expect((await read(fixture, pages, 'iago', { clientGravatar: false })).members[0].avatar_url).toContain('gravatar');
  });
});
