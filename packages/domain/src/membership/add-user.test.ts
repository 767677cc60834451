import {
  aChannel,
  anotherRealm,
  aRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  createFixtureOn,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  FakeApiKeyMint,
  FakeChannelQuota,
  FakePasswordHasher,
  FakeRenderer,
  type FixtureStep,
  fakeDisposableDomains,
  fakePasswordStrength,
  fakeRealmUrls,
  type MemoryFixture,
  OverwhelmedRenderer,
  systemMessagesOn,
} from '@parley/testkit';
import { Passwords } from '../access/credentials.js';
import { ChannelCreator } from '../channels/create-channels.use-cases.js';
import { ChangeSubscriptionParts } from '../channels/subscription-parts.js';
import type { RealmId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import type { User } from '../users/user.js';
import { GrantSpecialPermission } from '../users/users.use-cases.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import {
  CreateUser,
  type CreateUserInput,
  MAX_CHANNELS_OF_NEW_USER_AT_ONCE,
  RegisterUser,
  type RegisterUserInput,
} from './add-user.js';
import { startErasure } from './erasures.use-cases.js';

const mint = new FakeApiKeyMint();
const newcomer: CreateUserInput = { email: 'Ophelia@example.com', password: 'get thee to a', fullName: ' Ophelia ' };

const creating = (fixture: MemoryFixture, hasher = new FakePasswordHasher(), renderer = new FakeRenderer()) => {
  const systemMessages = new SystemMessages(renderer, fakeRealmUrls, fixture.clock);
  const useCase = new CreateUser(
    fixture.uow,
    new Passwords(hasher, fakePasswordStrength),
    fakeDisposableDomains,
    mint,
    systemMessages,
    fixture.clock,
  );
  return (who: string, input: Partial<CreateUserInput> = {}) =>
    useCase.execute(fixture.caller(who), { ...newcomer, ...input });
};
const registering = (fixture: MemoryFixture) => {
  const useCase = new RegisterUser(
    fixture.uow,
    new Passwords(new FakePasswordHasher(), fakePasswordStrength),
    mint,
    fixture.clock,
    systemMessagesOn(fixture.clock),
  );
  return (input: Partial<RegisterUserInput> = {}) =>
    useCase.execute({ realmId: fixture.realm.id, role: 'member', ...newcomer, ...input });
};
/** Runs the jobs that subscribe new users to further channels. */
async function runSubscriptionJobs(fixture: MemoryFixture): Promise<void> {
  const renderer = new FakeRenderer();
  const creator = new ChannelCreator(
    new MarkdownTextRenderer(fixture.uow, renderer, fakeRealmUrls),
    new SystemMessages(renderer, fakeRealmUrls, fixture.clock),
    new FakeChannelQuota(),
    { webPublicEnabled: true },
  );
  const parts = new ChangeSubscriptionParts(fixture.uow, creator, fixture.clock);
  await new JobRunner(parts, {
    uow: fixture.uow,
    clock: fixture.clock,
    report: (problem) => expect(problem).toBeNull(),
  }).run();
}
/** Cast in which iago may create users. */
const cast = (...pieces: readonly FixtureStep[]) =>
  createFixture(
    aUserOfEachRole(),
    aUser({ name: 'iago', role: 'administrator', specialPermissions: ['canCreateUsers'] }),
    ...pieces,
  );
const created = (fixture: MemoryFixture, id: User['id']) =>
  fixture.uow.read(fixture.realm.id, async (r) => ({
    user: await r.users.find(fixture.realm.id, id),
    passwordHash: await r.users.findPasswordHash(fixture.realm.id, id),
    record: await r.apiKeys.find(fixture.realm.id, id),
    actor: await r.actors.get({ realmId: fixture.realm.id, userId: id }),
    system: await r.groups.systemGroupIds(fixture.realm.id),
  }));

describe('CreateUser', () => {
  it('creates a member with an API key, the member groups and the default channels', async () => {
    const fixture = await cast(
      aChannel({ name: 'town', isDefault: true, subscribers: ['member'] }),
      aChannel({ name: 'old', isDefault: true, isArchived: true }),
      aChannel({ name: 'other' }),
    );
    await fixture.add(
      aRealmWith({ settings: { signupAnnouncementsChannelId: fixture.channel('town').id, defaultLanguage: 'cs' } }),
    );
    const id = await creating(fixture)('iago');

    const { user, passwordHash, record, actor, system } = await created(fixture, id);
    expect(user).toMatchObject({
      email: 'Ophelia@example.com',
      fullName: 'Ophelia',
      role: 'member',
      isActive: true,
      joinedAt: fixture.clock.now(),
      bot: null,
      settings: { ...fixture.realm.userDefaults, defaultLanguage: 'cs' },
    });
    expect(passwordHash).toBe('hash of get thee to a');
    expect(record).toEqual({ realmId: fixture.realm.id, userId: id, generation: 1, seed: mint.newSeed() });
    expect([actor.groups.has(system.fullMembers), actor.groups.has(system.moderators)]).toEqual([true, false]);
    const everybody = [...fixture.users.keys()];
    const subscribed = await fixture.uow.read(fixture.realm.id, (r) =>
      r.channels.listSubscribedIds(fixture.realm.id, id),
    );
    expect(subscribed).toEqual([fixture.channel('town').id]);
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['user.created', everybody],
      ['group.members_changed', everybody],
      ['group.members_changed', everybody],
      ['subscription.added', []],
      ['channel.subscribers_changed', everybody.filter((name) => name !== 'guest')],
      ['user.export_consent_changed', ['owner', 'administrator', 'iago']],
      ['message.sent', ['member']],
      ['message.sent', []],
    ]);
    const { event } = fixture.storage.announced.at(-2)!;
    expect(event).toMatchObject({
      view: { message: { topic: 'signups', content: `@_**Ophelia|${id}** joined this organization.` } },
    });
  });

  it('subscribes a new user to many default channels in several units of work continued by jobs', async () => {
    const count = 2 * MAX_CHANNELS_OF_NEW_USER_AT_ONCE + 1;
    const names = Array.from({ length: count }, (_, n) => `default ${n}`);
    const fixture = await cast(...names.map((name) => aChannel({ name, isDefault: true })));
    const id = await creating(fixture)('iago');
    const subscribedIds = () =>
      fixture.uow.read(fixture.realm.id, ({ channels }) => channels.listSubscribedIds(fixture.realm.id, id));
    expect(await subscribedIds()).toHaveLength(MAX_CHANNELS_OF_NEW_USER_AT_ONCE);
    await expectInSync(fixture, () => runSubscriptionJobs(fixture));
    expect(await subscribedIds()).toEqual(names.map((name) => fixture.channel(name).id));
  });

  it('subscribes a new user who is deactivated or erased before the jobs to no further channels', async () => {
    const names = Array.from({ length: MAX_CHANNELS_OF_NEW_USER_AT_ONCE + 1 }, (_, n) => `default ${n}`);
    const fixture = await cast(...names.map((name) => aChannel({ name, isDefault: true })));
    const { uow, realm } = fixture;
    const id = await creating(fixture)('iago');
    await uow.write(realm.id, async (tx) => {
      const user = await tx.users.get(realm.id, id);
      await startErasure(tx, user, { requestedAt: fixture.clock.now(), everythingWritten: false });
    });
    await runSubscriptionJobs(fixture);
    const last = fixture.channel(names.at(-1)!).id;
    const rows = await uow.read(realm.id, ({ channels }) => channels.listSubscriptionsOf(realm.id, [id], [last]));
    expect(rows.get(id)).toEqual([]);
  });

  it('sends a starred welcome message and the organization’s own message if one is set', async () => {
    const fixture = await cast(aRealmWith({ settings: { welcomeMessageCustomText: 'Lunch is at **noon**.' } }));
    const id = await creating(fixture)('iago');
    const sent = fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
    const bot = await fixture.uow.read(fixture.realm.id, ({ users }) =>
      users.findSystemBot(fixture.realm.id, 'welcome'),
    );
    expect(sent.map(({ message }) => [message.senderId, message.channelId, message.content])).toEqual([
      [bot.id, null, expect.stringContaining(`Hello @_**Ophelia|${id}**, and welcome to **${fixture.realm.name}**!`)],
      [bot.id, null, 'Lunch is at **noon**.'],
    ]);
    const ids = sent.map(({ message }) => message.id);
    const flags = await fixture.uow.read(fixture.realm.id, ({ personal }) =>
      personal.listFlags({ realmId: fixture.realm.id, userId: id }, ids),
    );
    expect(ids.map((each) => flags.get(each))).toEqual([
      expect.objectContaining({ starred: true, read: false }),
      expect.objectContaining({ starred: true, read: false }),
    ]);
  });

  it('parses the welcome message before the transaction', async () => {
    const fixture = await cast(aRealmWith({ settings: { welcomeMessageCustomText: '$$x$$' } }));
    const parse = jest.spyOn(FakeRenderer.prototype, 'parse');
    const parseNow = jest.spyOn(FakeRenderer.prototype, 'parseNow');
    await creating(fixture)('iago');
    const ahead = await parse.mock.results[0]!.value;
    expect(parseNow).toHaveBeenLastCalledWith('$$x$$', expect.anything(), ahead);
    jest.restoreAllMocks();
  });

  it('skips a welcome message that cannot be rendered', async () => {
    const fixture = await cast(aRealmWith({ settings: { welcomeMessageCustomText: 'Lunch is at **noon**.' } }));
    await creating(fixture, new FakePasswordHasher(), new OverwhelmedRenderer())('iago');
    const sent = fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event.view] : []));
    expect(sent.map(({ message }) => message.content)).toEqual([expect.stringContaining('Hello @_**Ophelia|')]);
  });

  it('accepts a disposable email address if the organization allows it', async () => {
    const fixture = await cast(aRealmWith({ settings: { disallowDisposableEmailAddresses: false } }));
    const id = await creating(fixture)('iago', { email: 'ophelia@disposable.test' });
    expect((await created(fixture, id)).user).toMatchObject({ email: 'ophelia@disposable.test' });
  });

  it('rejects every address if the organization restricts domains but lists none (organization §5)', async () => {
    const fixture = await cast(aRealmWith({ settings: { emailsRestrictedToDomains: true } }));
    await expectRefused(fixture, () => creating(fixture)('iago'), {
      code: 'EMAIL_NOT_ALLOWED',
      message: "Email 'Ophelia@example.com' not allowed in this organization",
    });
  });

  it('keeps new users out of the full members group during the waiting period', async () => {
    const fixture = await cast(aRealmWith({ settings: { waitingPeriodThreshold: 3 } }));
    const { actor, system } = await created(fixture, await creating(fixture)('iago'));
    expect([actor.groups.has(system.members), actor.groups.has(system.fullMembers)]).toEqual([true, false]);
  });

  it('yields the same state from events as from a fresh fetch, for every user', async () => {
    const fixture = await cast(aChannel({ name: 'town', isDefault: true, subscribers: ['guest'] }));
    await expectInSync(fixture, () => creating(fixture)('iago'));
  });

  const taken = { email: 'MEMBER@example.com' };
  const weak = { password: 'weakling' };

  /** Each row also violates the rules tested by later rows. */
  it.each<[string, string, Partial<CreateUserInput>, object]>([
    ['members', 'moderator', { fullName: 'x' }, { code: 'MUST_BE_ADMINISTRATOR' }],
    [
      'administrators without special permission',
      'owner',
      { fullName: 'x' },
      { code: 'SPECIAL_PERMISSION_REQUIRED', message: 'User not authorized to create users' },
    ],
    ['a long name', 'iago', { fullName: '*'.repeat(101), email: 'x' }, { message: 'Name too long!' }],
    ['a short name', 'iago', { fullName: ' * ', email: 'x' }, { message: 'Name too short!' }],
    [
      'an invalid name',
      'iago',
      { fullName: 'a*|7', email: 'x' },
      { message: 'Invalid characters in name!', details: { character: '*' } },
    ],
    ['a name like a mention', 'iago', { fullName: 'ab|7', email: 'x' }, { message: 'Invalid format!' }],
    [
      'a taken name',
      'iago',
      { fullName: 'MEMＢER', email: 'x' },
      { message: 'Unique names required in this organization.' },
    ],
    ['no address', 'iago', { email: 'x@y', ...weak }, { message: 'Bad name or username' }],
    [
      'a disposable address',
      'iago',
      { email: 'x@DISPOSABLE.test', ...weak },
      { message: 'Disposable email addresses are not allowed in this organization' },
    ],
    ['a taken address', 'iago', { ...taken, ...weak }, { message: 'Email is already in use.' }],
    ['a weak password', 'iago', weak, { message: 'The password is too weak.' }],
    ['a password derived from the name', 'iago', { password: ' Ophelia 7' }, { message: 'The password is too weak.' }],
    ['a short password', 'iago', { password: 'é'.repeat(7) }, { message: 'The password is too weak.' }],
    ['a long password', 'iago', { password: 'é'.repeat(101) }, { message: 'The password is too weak.' }],
  ])('validates the input in order: %s', async (_, who, input, refusal) => {
    const fixture = await cast(aRealmWith({ settings: { requireUniqueNames: true } }));
    await expectRefused(fixture, () => creating(fixture)(who, input), refusal);
  });

  it('allows duplicate names if uniqueness is not required, and an address used in another realm', async () => {
    const fixture = await cast();
    await anotherRealm(fixture, aUser({ name: 'ophelia' }));
    const create = creating(fixture);
    await create('iago', { email: 'one@example.com' });
    await create('iago', { email: 'ophelia@example.com' });
    await expectRefused(fixture, () => create('iago', { email: 'OPHELIA@example.com' }), {
      message: 'Email is already in use.',
    });
  });

  it('repeats its checks after hashing the password', async () => {
    const fixture = await cast();
    const hasher = new FakePasswordHasher();
    let meanwhile = async () => {};
    hasher.hash = async () => {
      await meanwhile();
      return 'hash';
    };
    const create = creating(fixture, hasher);
    const users = (change: Partial<User>) => async () => {
      await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('iago'), ...change }));
    };
    meanwhile = async () => void (await registering(fixture)());
    await expect(create('iago')).rejects.toMatchObject({ message: 'Email is already in use.' });
    meanwhile = users({ specialPermissions: [] });
    await expect(create('iago', { email: 'x@example.com' })).rejects.toMatchObject({
      code: 'SPECIAL_PERMISSION_REQUIRED',
    });
    meanwhile = users({ isActive: false });
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update(fixture.user('iago')));
    await expect(create('iago', { email: 'x@example.com' })).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });
});

describe('RegisterUser', () => {
  it('accepts every role and requires no password', async () => {
    const fixture = await cast();
    const register = registering(fixture);
    const owner = await register({ role: 'owner', password: null, specialPermissions: ['canChangeUserEmails'] });
    const { user, passwordHash, actor, system } = await created(fixture, owner.id);
    expect(user).toEqual(owner);
    expect(user).toMatchObject({ role: 'owner', specialPermissions: ['canChangeUserEmails'] });
    expect(passwordHash).toBeNull();
    expect(actor.groups.has(system.owners)).toBe(true);
  });

  it('creates bots with a public address and no subscriptions', async () => {
    const fixture = await cast(aChannel({ name: 'town', isDefault: true }));
    const bot = {
      kind: 'generic',
      ownerId: fixture.user('member').id,
      isSystem: false,
      defaultSendingChannelId: null,
    } as const;
    const user = await registering(fixture)({
      bot,
      password: null,
      settings: { emailAddressVisibility: 'nobody', enterSends: true },
    });
    expect(user).toMatchObject({ bot, settings: { emailAddressVisibility: 'everyone', enterSends: true } });
    expect(
      await fixture.uow.read(fixture.realm.id, (r) => r.channels.listSubscribedIds(fixture.realm.id, user.id)),
    ).toEqual([]);
  });

  it.each<[Partial<RegisterUserInput>, object]>([
    [{ realmId: 99 as RealmId }, { code: 'UNKNOWN_REALM' }],
    [{ email: 'nobody' }, { message: 'Enter a valid email address.' }],
    [{ fullName: ' ' }, { message: 'Name too short!' }],
    [{ email: 'member@EXAMPLE.com' }, { message: 'Email is already in use.' }],
  ])('rejects %j', async (input, refusal) => {
    const fixture = await cast();
    await expectRefused(fixture, () => registering(fixture)(input), refusal);
  });
});

describe('GrantSpecialPermission', () => {
  it('grants a permission only once', async () => {
    const fixture = await cast();
    const grant = new GrantSpecialPermission(fixture.uow);
    const input = { realmId: fixture.realm.id, email: 'OWNER@example.com', permission: 'canCreateUsers' } as const;
    await grant.execute(input);
    expect((await grant.execute(input)).specialPermissions).toEqual(['canCreateUsers']);
    await creating(fixture)('owner');
  });

  it('rejects users of another realm', async () => {
    const fixture = await cast();
    const elsewhere = await createFixtureOn(fixture.uow, fixture.clock, aRealm({ stringId: 'other' }));
    const input = { realmId: elsewhere.realm.id, email: 'owner@example.com', permission: 'canCreateUsers' } as const;
    await expectRefused(fixture, () => new GrantSpecialPermission(fixture.uow).execute(input), {
      message: 'No such user',
    });
  });
});
