import {
  aChannel,
  anotherRealm,
  aRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  givenOn,
  type MemoryScene,
  type Piece,
  PlainApiKeyMint,
  PlainPasswordHasher,
  PlainRenderer,
  plainAddresses,
  plainDisposableDomains,
  plainPasswordStrength,
  told,
} from '@parley/testkit';
import { NoticeBoard } from '../../messages/notice-board.js';
import type { RealmId } from '../../shared/ids.js';
import type { User } from '../user.js';
import { CreateUser, type CreateUserInput } from './create-user.js';
import { GrantPermission } from './grant-permission.js';
import { RegisterUser, type RegisterUserInput } from './register-user.js';

const mint = new PlainApiKeyMint();
const newcomer: CreateUserInput = { email: 'Ophelia@example.com', password: 'get thee to a', fullName: ' Ophelia ' };

const creating = (scene: MemoryScene, hasher = new PlainPasswordHasher()) => {
  const notices = new NoticeBoard(new PlainRenderer(), plainAddresses, scene.clock);
  const useCase = new CreateUser(
    scene.uow,
    hasher,
    plainPasswordStrength,
    plainDisposableDomains,
    mint,
    notices,
    scene.clock,
  );
  return (who: string, input: Partial<CreateUserInput> = {}) =>
    useCase.execute(scene.caller(who), { ...newcomer, ...input });
};
const registering = (scene: MemoryScene) => {
  const useCase = new RegisterUser(scene.uow, new PlainPasswordHasher(), mint, scene.clock);
  return (input: Partial<RegisterUserInput> = {}) =>
    useCase.execute({ realmId: scene.realm.id, role: 'member', ...newcomer, ...input });
};
/** Iago may create users. */
const cast = (...pieces: readonly Piece[]) =>
  given(
    aUserOfEachRole(),
    aUser({ name: 'iago', role: 'administrator', specialPermissions: ['canCreateUsers'] }),
    ...pieces,
  );
const founded = (scene: MemoryScene, id: User['id']) =>
  scene.uow.read(async (r) => ({
    user: await r.users.find(scene.realm.id, id),
    passwordHash: await r.users.findPasswordHash(scene.realm.id, id),
    record: await r.apiKeys.find(scene.realm.id, id),
    actor: await r.actors.get({ realmId: scene.realm.id, userId: id }),
    system: await r.groups.systemGroupIds(scene.realm.id),
  }));

describe('creating a user', () => {
  it('makes a member with a key, in the groups of members and the channels of newcomers', async () => {
    const scene = await cast(
      aChannel({ name: 'town', isDefault: true, subscribers: ['member'] }),
      aChannel({ name: 'old', isDefault: true, isArchived: true }),
      aChannel({ name: 'other' }),
    );
    await scene.add(aRealmWith({ settings: { signupAnnouncementsChannelId: scene.channel('town').id } }));
    const id = await creating(scene)('iago');

    const { user, passwordHash, record, actor, system } = await founded(scene, id);
    expect(user).toMatchObject({
      email: 'Ophelia@example.com',
      fullName: 'Ophelia',
      role: 'member',
      isActive: true,
      joinedAt: scene.clock.now(),
      bot: null,
      settings: scene.realm.userDefaults,
    });
    expect(passwordHash).toBe('hash of get thee to a');
    expect(record).toEqual({ realmId: scene.realm.id, userId: id, generation: 1 });
    expect([actor.groups.has(system.fullMembers), actor.groups.has(system.moderators)]).toEqual([true, false]);
    const everybody = [...scene.users.keys()];
    const followed = await scene.uow.read((r) => r.channels.listSubscribedIds(scene.realm.id, id));
    expect(followed).toEqual([scene.channel('town').id]);
    expect(await told(scene)).toEqual([
      ['user.created', everybody],
      ['group.members_changed', everybody],
      ['group.members_changed', everybody],
      ['subscription.added', []],
      ['channel.subscribers_changed', everybody.filter((name) => name !== 'guest')],
      ['message.sent', ['member']],
      ['message.sent', []],
    ]);
    const { event } = scene.storage.announced.at(-2)!;
    expect(event).toMatchObject({
      view: { message: { topic: 'signups', content: `@_**Ophelia|${id}** joined this organization.` } },
    });
  });

  it('is welcomed by a starred message, and by another one where the organization has something to say', async () => {
    const scene = await cast(aRealmWith({ settings: { welcomeMessageCustomText: 'Lunch is at **noon**.' } }));
    const id = await creating(scene)('iago');
    const sent = scene.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
    const bot = await scene.uow.read(({ users }) => users.findSystemBot(scene.realm.id, 'welcome'));
    expect(sent.map(({ message }) => [message.senderId, message.channelId, message.content])).toEqual([
      [bot.id, null, expect.stringContaining(`Hello @_**Ophelia|${id}**, and welcome to **${scene.realm.name}**!`)],
      [bot.id, null, 'Lunch is at **noon**.'],
    ]);
    const ids = sent.map(({ message }) => message.id);
    const flags = await scene.uow.read(({ personal }) =>
      personal.listFlags({ realmId: scene.realm.id, userId: id }, ids),
    );
    expect(ids.map((each) => flags.get(each))).toEqual([
      expect.objectContaining({ starred: true, read: false }),
      expect.objectContaining({ starred: true, read: false }),
    ]);
  });

  it('is welcomed in words that were parsed before the unit', async () => {
    const scene = await cast(aRealmWith({ settings: { welcomeMessageCustomText: '$$x$$' } }));
    const parse = jest.spyOn(PlainRenderer.prototype, 'parse');
    const parseNow = jest.spyOn(PlainRenderer.prototype, 'parseNow');
    await creating(scene)('iago');
    const ahead = await parse.mock.results[0]!.value;
    expect(parseNow).toHaveBeenLastCalledWith('$$x$$', expect.anything(), ahead);
    jest.restoreAllMocks();
  });

  it('may have an address to throw away where the organization does not mind', async () => {
    const scene = await cast(aRealmWith({ settings: { disallowDisposableEmailAddresses: false } }));
    const id = await creating(scene)('iago', { email: 'ophelia@disposable.test' });
    expect((await founded(scene, id)).user).toMatchObject({ email: 'ophelia@disposable.test' });
  });

  it('is refused by an organization that is restricted to domains and lists none (organization §5)', async () => {
    const scene = await cast(aRealmWith({ settings: { emailsRestrictedToDomains: true } }));
    await expectRefused(scene, () => creating(scene)('iago'), {
      code: 'INVALID_INPUT',
      message: "Email 'Ophelia@example.com' not allowed in this organization",
    });
  });

  it('makes no full member where newcomers wait', async () => {
    const scene = await cast(aRealmWith({ settings: { waitingPeriodThreshold: 3 } }));
    const { actor, system } = await founded(scene, await creating(scene)('iago'));
    expect([actor.groups.has(system.members), actor.groups.has(system.fullMembers)]).toEqual([true, false]);
  });

  it('keeps everybody in sync', async () => {
    const scene = await cast(aChannel({ name: 'town', isDefault: true, subscribers: ['guest'] }));
    await expectInSync(scene, () => creating(scene)('iago'));
  });

  const taken = { email: 'MEMBER@example.com' };
  const weak = { password: 'weakling' };

  /** Each row is also wrong in what later rows are about. */
  it.each<[string, string, Partial<CreateUserInput>, object]>([
    ['members', 'moderator', { fullName: 'x' }, { code: 'MUST_BE_ADMINISTRATOR' }],
    [
      'administrators without leave',
      'owner',
      { fullName: 'x' },
      { code: 'NOT_PERMITTED', message: 'User not authorized to create users' },
    ],
    ['a long name', 'iago', { fullName: '*'.repeat(101), email: 'x' }, { message: 'Name too long!' }],
    ['a short name', 'iago', { fullName: ' * ', email: 'x' }, { message: 'Name too short!' }],
    ['an odd name', 'iago', { fullName: 'a*|7', email: 'x' }, { message: 'Invalid characters in name!' }],
    ['a name like a mention', 'iago', { fullName: 'ab|7', email: 'x' }, { message: 'Invalid format!' }],
    [
      'a taken name',
      'iago',
      { fullName: 'MEMＢER', email: 'x' },
      { message: 'Unique names required in this organization.' },
    ],
    ['no address', 'iago', { email: 'x@y', ...weak }, { message: 'Bad name or username' }],
    [
      'an address to throw away',
      'iago',
      { email: 'x@DISPOSABLE.test', ...weak },
      { message: 'Disposable email addresses are not allowed in this organization' },
    ],
    ['a taken address', 'iago', { ...taken, ...weak }, { message: "Email 'MEMBER@example.com' already in use" }],
    ['a weak password', 'iago', weak, { message: 'The password is too weak.' }],
    ['a password of his name', 'iago', { password: ' Ophelia 7' }, { message: 'The password is too weak.' }],
    ['a short password', 'iago', { password: 'é'.repeat(7) }, { message: 'The password is too weak.' }],
    ['a long password', 'iago', { password: 'é'.repeat(101) }, { message: 'The password is too weak.' }],
  ])('is refused in order: %s', async (_, who, input, refusal) => {
    const scene = await cast(aRealmWith({ settings: { requireUniqueNames: true } }));
    await expectRefused(scene, () => creating(scene)(who, input), refusal);
  });

  it('takes the same name twice where names need not be unique, and the address another realm has', async () => {
    const scene = await cast();
    await anotherRealm(scene, aUser({ name: 'ophelia' }));
    const create = creating(scene);
    await create('iago', { email: 'one@example.com' });
    await create('iago', { email: 'ophelia@example.com' });
    await expectRefused(scene, () => create('iago', { email: 'OPHELIA@example.com' }), {
      message: "Email 'OPHELIA@example.com' already in use",
    });
  });

  it('asks again for what may have changed while the password was hashed', async () => {
    const scene = await cast();
    const hasher = new PlainPasswordHasher();
    let meanwhile = async () => {};
    hasher.hash = async () => {
      await meanwhile();
      return 'hash';
    };
    const create = creating(scene, hasher);
    const users = (change: Partial<User>) => async () => {
      await scene.uow.write((tx) => tx.users.update({ ...scene.user('iago'), ...change }));
    };
    meanwhile = async () => void (await registering(scene)());
    await expect(create('iago')).rejects.toMatchObject({ message: "Email 'Ophelia@example.com' already in use" });
    meanwhile = users({ specialPermissions: [] });
    await expect(create('iago', { email: 'x@example.com' })).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    meanwhile = users({ isActive: false });
    await scene.uow.write((tx) => tx.users.update(scene.user('iago')));
    await expect(create('iago', { email: 'x@example.com' })).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });
});

describe('registering a user, as the operator does', () => {
  it('knows no role too high, and needs no password', async () => {
    const scene = await cast();
    const register = registering(scene);
    const owner = await register({ role: 'owner', password: null, specialPermissions: ['canChangeUserEmails'] });
    const { user, passwordHash, actor, system } = await founded(scene, owner.id);
    expect(user).toEqual(owner);
    expect(user).toMatchObject({ role: 'owner', specialPermissions: ['canChangeUserEmails'] });
    expect(passwordHash).toBeNull();
    expect(actor.groups.has(system.owners)).toBe(true);
  });

  it('makes bots, whose address everybody sees and who follow nothing', async () => {
    const scene = await cast(aChannel({ name: 'town', isDefault: true }));
    const bot = {
      kind: 'generic',
      ownerId: scene.user('member').id,
      isSystem: false,
      defaultSendingChannelId: null,
    } as const;
    const user = await registering(scene)({
      bot,
      password: null,
      settings: { emailAddressVisibility: 'nobody', enterSends: true },
    });
    expect(user).toMatchObject({ bot, settings: { emailAddressVisibility: 'everyone', enterSends: true } });
    expect(await scene.uow.read((r) => r.channels.listSubscribedIds(scene.realm.id, user.id))).toEqual([]);
  });

  it.each<[Partial<RegisterUserInput>, object]>([
    [{ realmId: 99 as RealmId }, { code: 'UNKNOWN_REALM' }],
    [{ email: 'nobody' }, { message: 'Enter a valid email address.' }],
    [{ fullName: 'x' }, { message: 'Name too short!' }],
    [{ email: 'member@EXAMPLE.com' }, { message: "Email 'member@EXAMPLE.com' already in use" }],
  ])('refuses %j', async (input, refusal) => {
    const scene = await cast();
    await expectRefused(scene, () => registering(scene)(input), refusal);
  });
});

describe('granting what no role carries', () => {
  it('does it once', async () => {
    const scene = await cast();
    const grant = new GrantPermission(scene.uow);
    const input = { realmId: scene.realm.id, email: 'OWNER@example.com', permission: 'canCreateUsers' } as const;
    await grant.execute(input);
    expect((await grant.execute(input)).specialPermissions).toEqual(['canCreateUsers']);
    await creating(scene)('owner');
  });

  it('knows nobody of another realm', async () => {
    const scene = await cast();
    const elsewhere = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
    const input = { realmId: elsewhere.realm.id, email: 'owner@example.com', permission: 'canCreateUsers' } as const;
    await expectRefused(scene, () => new GrantPermission(scene.uow).execute(input), { message: 'No such user' });
  });
});
