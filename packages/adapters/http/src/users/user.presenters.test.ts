import type { User } from '@parley/domain/users';
import { aUser, createFixture } from '@parley/testkit';
import { presentOwnUser, presentUser } from './user.presenters.js';

const realm = { id: 2, stringId: 'zulip', url: 'https://chat.example', emailDomain: 'chat.example' };
const form = { seesEmail: true, clientGravatar: true, withProfile: false };

describe('user presenter', () => {
  let hamlet: User;
  let helper: User;
  beforeAll(async () => {
    const fixture = await createFixture(aUser({ name: 'hamlet' }), aUser({ name: 'helper', botOf: 'hamlet' }));
    hamlet = { ...fixture.user('hamlet'), joinedAt: 1_571_557_800 };
    helper = fixture.user('helper');
  });

  it('presents exactly the fields of the contract', () => {
    expect(presentUser(hamlet, realm, form)).toEqual({
      user_id: hamlet.id,
      delivery_email: 'hamlet@example.com',
      email: 'hamlet@example.com',
      full_name: 'hamlet',
      date_joined: '2019-10-20T07:50:00+00:00',
      is_active: true,
      is_owner: false,
      is_admin: false,
      is_guest: false,
      is_bot: false,
      role: 400,
      timezone: '',
      avatar_url: null,
      avatar_version: 1,
      is_imported_stub: false,
    });
  });

  it('shows the owner of a bot and no profile', () => {
    const wire = presentUser(helper, realm, { ...form, withProfile: true });
    expect(wire).toMatchObject({ is_bot: true, bot_type: 1, bot_owner_id: hamlet.id });
    expect(wire).not.toHaveProperty('profile_data');
    expect(wire).not.toHaveProperty('is_system_bot');
    const system = { ...helper, bot: { ...helper.bot!, isSystem: true, ownerId: null } };
    expect(presentUser(system, realm, form)).toMatchObject({ is_system_bot: true, bot_owner_id: null });
  });

  it.each`
    role               | number | isOwner  | isAdmin  | isGuest
    ${'owner'}         | ${100} | ${true}  | ${true}  | ${false}
    ${'administrator'} | ${200} | ${false} | ${true}  | ${false}
    ${'moderator'}     | ${300} | ${false} | ${false} | ${false}
    ${'member'}        | ${400} | ${false} | ${false} | ${false}
    ${'guest'}         | ${600} | ${false} | ${false} | ${true}
  `('presents the role $role as $number', ({ role, number, isOwner, isAdmin, isGuest }) => {
    expect(presentUser({ ...hamlet, role }, realm, form)).toMatchObject({
      role: number,
      is_owner: isOwner,
      is_admin: isAdmin,
      is_guest: isGuest,
    });
  });

  it('shows a dummy address for a hidden one, even to viewers with access', () => {
    const shy = { ...hamlet, settings: { ...hamlet.settings, emailAddressVisibility: 'administrators' as const } };
    const dummy = `user${hamlet.id}@chat.example`;
    expect(presentUser(shy, realm, form)).toMatchObject({
      email: dummy,
      delivery_email: 'hamlet@example.com',
      avatar_url: null,
    });
    const hidden = presentUser(shy, realm, { ...form, seesEmail: false });
    expect(hidden).toMatchObject({ email: dummy, delivery_email: null });
    // A gravatar URL would contain a hash of the hidden address (contract decision 21).
    expect(hidden.avatar_url).toBe(`https://chat.example/user_avatars/2/${hamlet.id}.png?version=1`);
    const seen = presentUser(shy, realm, { ...form, clientGravatar: false });
    expect(seen.avatar_url).toContain('https://secure.gravatar.com/avatar/');
  });

  it('shows users their own account with every field', async () => {
    const fixture = await createFixture(aUser({ name: 'hamlet' }));
    const own = presentOwnUser(
      { user: { ...fixture.user('hamlet'), profile: [] }, realm: fixture.realm, newestMessageId: null },
      { urlOf: () => realm.url, emailDomainOf: () => realm.emailDomain },
    );
    expect(own).toMatchObject({ max_message_id: -1, profile_data: {} });
    expect(own.avatar_url).not.toBeNull();
  });
});
