import {
  aChannel,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  type FixtureStep,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import type { UserId } from '../kernel/ids.js';
import type { EmailVisibility } from '../realms/user-settings.js';
import { isEmailAddress, isHostAddress } from './user.js';
import { GetOwnUser, GetUser, ListUsers } from './users.use-cases.js';

const hiding =
  (name: string, emailAddressVisibility: EmailVisibility): FixtureStep =>
  async (fixture, tx) => {
    const user = fixture.user(name);
    await tx.users.update({ ...user, settings: { ...user.settings, emailAddressVisibility } });
  };
/** Creates a guest who shares a channel with the member and a conversation with the moderator. */
const town = async (...pieces: readonly FixtureStep[]) => {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aUser({ name: 'gone', isActive: false }),
    aUser({ name: 'robot', botOf: 'owner' }),
    aChannel({ name: 'Denmark', subscribers: ['member', 'guest'] }),
    aMessage({ from: 'moderator', to: ['guest'] }),
    ...pieces,
  );
  await anotherRealm(fixture);
  return fixture;
};
const restricted = aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } });

const getting = (fixture: MemoryFixture) => {
  const useCase = new GetUser(fixture.uow, fakeRealmUrls);
  const answer = async (who: string, by: Parameters<GetUser['execute']>[1]) =>
    useCase.execute(fixture.caller(who), by).then(
      ({ user }) => user.fullName,
      (error: Error) => error.message,
    );
  return {
    byId: (who: string, id: UserId) => answer(who, { id }),
    byEmail: (who: string, email: string) => answer(who, { email }),
  };
};

describe('GetUser', () => {
  it('finds deactivated users and bots by id but no system bots or users of other realms', async () => {
    const fixture = await town();
    const { byId } = getting(fixture);
    expect(await byId('guest', fixture.user('gone').id)).toBe('gone');
    expect(await byId('guest', fixture.user('robot').id)).toBe('robot');
    const systemBot = await fixture.uow.read(fixture.realm.id, ({ users }) =>
      users.findSystemBot(fixture.realm.id, 'notification'),
    );
    expect(await byId('owner', systemBot.id)).toBe('No such user');
    const [otherRealmUser] = await fixture.uow.readAcross(async (r) => {
      const realm = (await r.realms.findByStringId('other'))!;
      return r.users.listByEmail(realm.id, ['otherRealmUser@example.com']);
    });
    expect(await byId('owner', otherRealmUser!.id)).toBe('No such user');
    expect(await getting(fixture).byEmail('owner', 'otherRealmUser@example.com')).toBe('No such user');
  });

  it.each`
    visibility          | owner    | moderator | member   | guest
    ${'everyone'}       | ${true}  | ${true}   | ${true}  | ${true}
    ${'members'}        | ${true}  | ${true}   | ${true}  | ${false}
    ${'moderators'}     | ${true}  | ${true}   | ${false} | ${false}
    ${'administrators'} | ${true}  | ${false}  | ${false} | ${false}
    ${'nobody'}         | ${false} | ${false}  | ${false} | ${false}
  `('finds a user by an address with visibility $visibility', async ({ visibility, ...who }) => {
    const fixture = await town(hiding('member', visibility));
    const { byEmail } = getting(fixture);
    // Deliberate: the reference server also applies email visibility when users look up themselves.
    for (const [name, found] of Object.entries(who)) {
      expect([name, await byEmail(name, ' MEMBER@example.com ')]).toEqual([name, found ? 'member' : 'No such user']);
    }
  });

  it('finds all users by dummy email', async () => {
    const fixture = await town(hiding('owner', 'nobody'));
    const { byEmail } = getting(fixture);
    expect(await byEmail('guest', ` USER${fixture.user('owner').id}@Chat.Example `)).toBe('owner');
    expect(await byEmail('guest', `user${fixture.user('member').id}@chat.example`)).toBe('member');
    expect(await byEmail('guest', `user${fixture.user('owner').id}@elsewhere.example`)).toBe('No such user');
    expect(await byEmail('guest', 'user9999@chat.example')).toBe('No such user');
  });

  it('limits a limited guest to users with a shared conversation', async () => {
    const fixture = await town(restricted);
    const { byId, byEmail } = getting(fixture);
    for (const name of ['guest', 'member', 'moderator', 'robot'])
      expect(await byId('guest', fixture.user(name).id)).toBe(name);
    expect(await byId('guest', fixture.user('owner').id)).toBe('Insufficient permission');
    expect(await byEmail('guest', 'owner@example.com')).toBe('Insufficient permission');
    expect(await byId('member', fixture.user('owner').id)).toBe('owner');
  });
});

describe('ListUsers', () => {
  const list = (fixture: MemoryFixture, who: string, ids: readonly UserId[] | null = null) =>
    new ListUsers(fixture.uow).execute(fixture.caller(who), { ids }, async ({ entries }, hydrate) =>
      (await hydrate(entries.map(({ id }) => id))).map(({ fullName }) => fullName),
    );

  it('includes deactivated users and bots', async () => {
    const fixture = await town();
    expect(await list(fixture, 'guest')).toEqual([...fixture.users.keys()]);
  });

  it('returns only requested users and ignores unknown ids', async () => {
    const fixture = await town();
    const ids = [fixture.user('owner').id, 9999 as UserId, fixture.user('gone').id];
    expect(await list(fixture, 'member', ids)).toEqual(['owner', 'gone']);
    expect(await list(fixture, 'member', [])).toEqual([]);
  });

  it('limits a limited guest to visible users', async () => {
    const fixture = await town(restricted);
    expect(await list(fixture, 'guest')).toEqual(['moderator', 'member', 'guest', 'robot']);
    expect(await list(fixture, 'member')).toHaveLength(fixture.users.size);
  });
});

describe('GetOwnUser', () => {
  it('returns the id of the caller’s newest message', async () => {
    const fixture = await town();
    const own = new GetOwnUser(fixture.uow);
    expect(await own.execute(fixture.caller('guest'))).toMatchObject({
      user: { fullName: 'guest' },
      newestMessageId: fixture.messages[0]!.id,
    });
    expect(await own.execute(fixture.caller('owner'))).toMatchObject({ newestMessageId: null });
    await expect(own.execute(fixture.caller('gone'))).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });
});

it.each([
  ['hamlet@example.com', true],
  ["o'hara+tag@mail.example.co.uk", true],
  ['hamlet@localhost', false],
  ['hamlet', false],
  ['ham let@example.com', false],
  ['a@b@example.com', false],
  ['hamlet@-example.com', false],
  ['hamlet@example..com', false],
  [`${'a'.repeat(250)}@b.com`, false],
])('isEmailAddress validates %s as an email address: %s', (text, can) => expect(isEmailAddress(text)).toBe(can));

it.each([
  ['hamlet@example.com', true],
  ['hamlet@localhost', true],
  ['hamlet@mail-1', true],
  ['hamlet@-mail', false],
  ['hamlet@127', false],
  ['hamlet@', false],
  ['hamlet', false],
])('isHostAddress validates %s as an address of a host application: %s', (text, can) =>
  expect(isHostAddress(text)).toBe(can),
);
