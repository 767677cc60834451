import {
  aChannel,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  given,
  type MemoryScene,
  type Piece,
  plainAddresses,
} from '@parley/testkit';
import type { UserId } from '../../shared/ids.js';
import { isEmailAddress } from '../email-address.js';
import type { EmailVisibility } from '../user-settings.js';
import { GetOwnUser } from './get-own-user.js';
import { GetUser } from './get-user.js';
import { ListUsers } from './list-users.js';

const hiding =
  (name: string, emailAddressVisibility: EmailVisibility): Piece =>
  async (scene, tx) => {
    const user = scene.user(name);
    await tx.users.update({ ...user, settings: { ...user.settings, emailAddressVisibility } });
  };
/** The guest shares a channel with the member and a conversation with the moderator, nothing with the others. */
const town = async (...pieces: readonly Piece[]) => {
  const scene = await given(
    aUserOfEachRole(),
    aUser({ name: 'gone', isActive: false }),
    aUser({ name: 'robot', botOf: 'owner' }),
    aChannel({ name: 'Denmark', subscribers: ['member', 'guest'] }),
    aMessage({ from: 'moderator', to: ['guest'] }),
    ...pieces,
  );
  await anotherRealm(scene);
  return scene;
};
const restricted = aRealmWith({ grants: { canAccessAllUsers: 'members' } });

const getting = (scene: MemoryScene) => {
  const useCase = new GetUser(scene.uow, plainAddresses);
  const answer = async (who: string, by: Parameters<GetUser['execute']>[1]) =>
    useCase.execute(scene.caller(who), by).then(
      ({ user }) => user.fullName,
      (error: Error) => error.message,
    );
  return {
    byId: (who: string, id: UserId) => answer(who, { id }),
    byEmail: (who: string, email: string) => answer(who, { email }),
  };
};

describe('looking up a user', () => {
  it('finds deactivated users and bots by number, but no system bots and nobody of another realm', async () => {
    const scene = await town();
    const { byId } = getting(scene);
    expect(await byId('guest', scene.user('gone').id)).toBe('gone');
    expect(await byId('guest', scene.user('robot').id)).toBe('robot');
    const systemBot = await scene.uow.read(({ users }) => users.findSystemBot(scene.realm.id, 'notification'));
    expect(await byId('owner', systemBot.id)).toBe('No such user');
    const [stranger] = await scene.uow.read(async (r) => {
      const realm = (await r.realms.findByStringId('other'))!;
      return r.users.listByEmail(realm.id, ['stranger@example.com']);
    });
    expect(await byId('owner', stranger!.id)).toBe('No such user');
    expect(await getting(scene).byEmail('owner', 'stranger@example.com')).toBe('No such user');
  });

  it.each`
    visibility          | owner    | moderator | member   | guest
    ${'everyone'}       | ${true}  | ${true}   | ${true}  | ${true}
    ${'members'}        | ${true}  | ${true}   | ${true}  | ${false}
    ${'moderators'}     | ${true}  | ${true}   | ${false} | ${false}
    ${'administrators'} | ${true}  | ${false}  | ${false} | ${false}
    ${'nobody'}         | ${false} | ${false}  | ${false} | ${false}
  `('by an address with visibility $visibility', async ({ visibility, ...who }) => {
    const scene = await town(hiding('member', visibility));
    const { byEmail } = getting(scene);
    // Sic: he himself counts as a member like any other.
    for (const [name, found] of Object.entries(who)) {
      expect([name, await byEmail(name, ' MEMBER@example.com ')]).toEqual([name, found ? 'member' : 'No such user']);
    }
  });

  it('finds everybody by dummy address', async () => {
    const scene = await town(hiding('owner', 'nobody'));
    const { byEmail } = getting(scene);
    expect(await byEmail('guest', ` USER${scene.user('owner').id}@Chat.Example `)).toBe('owner');
    expect(await byEmail('guest', `user${scene.user('member').id}@chat.example`)).toBe('member');
    expect(await byEmail('guest', `user${scene.user('owner').id}@elsewhere.example`)).toBe('No such user');
    expect(await byEmail('guest', 'user9999@chat.example')).toBe('No such user');
  });

  it('is for restricted guests where they are acquainted', async () => {
    const scene = await town(restricted);
    const { byId, byEmail } = getting(scene);
    for (const name of ['guest', 'member', 'moderator', 'robot'])
      expect(await byId('guest', scene.user(name).id)).toBe(name);
    expect(await byId('guest', scene.user('owner').id)).toBe('Insufficient permission');
    expect(await byEmail('guest', 'owner@example.com')).toBe('Insufficient permission');
    expect(await byId('member', scene.user('owner').id)).toBe('owner');
  });
});

describe('listing users', () => {
  const list = (scene: MemoryScene, who: string, ids: readonly UserId[] | null = null) =>
    new ListUsers(scene.uow).execute(scene.caller(who), { ids }, async ({ heads }, hydrate) =>
      (await hydrate(heads.map(({ id }) => id))).map(({ fullName }) => fullName),
    );

  it('names everybody, deactivated or not, and bots', async () => {
    const scene = await town();
    expect(await list(scene, 'guest')).toEqual([...scene.users.keys()]);
  });

  it('leaves out whom one did not ask for, and whom nobody knows', async () => {
    const scene = await town();
    const ids = [scene.user('owner').id, 9999 as UserId, scene.user('gone').id];
    expect(await list(scene, 'member', ids)).toEqual(['owner', 'gone']);
    expect(await list(scene, 'member', [])).toEqual([]);
  });

  it('names to restricted guests whom they know', async () => {
    const scene = await town(restricted);
    expect(await list(scene, 'guest')).toEqual(['moderator', 'member', 'guest', 'robot']);
    expect(await list(scene, 'member')).toHaveLength(scene.users.size);
  });
});

describe('oneself', () => {
  it('comes with the newest message one has', async () => {
    const scene = await town();
    const own = new GetOwnUser(scene.uow);
    expect(await own.execute(scene.caller('guest'))).toMatchObject({
      user: { fullName: 'guest' },
      newestMessageId: scene.messages[0]!.id,
    });
    expect(await own.execute(scene.caller('owner'))).toMatchObject({ newestMessageId: null });
    await expect(own.execute(scene.caller('gone'))).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
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
])('%s can be an address: %s', (text, can) => expect(isEmailAddress(text)).toBe(can));
