import {
  aChannel,
  aRealm,
  createFixture,
  expectRefused,
  FixedClock,
  realmChangesOn,
  SeededRandomness,
  systemMessagesOn,
} from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import type { ChannelPrivacy } from '../channels/channel.js';
import type { ServerAddress } from '../realms/realm.js';
import type { RealmConfiguration } from './organization.js';
import { CreateRealm, GetServerSettings } from './organization.use-cases.js';

const SERVER: ServerAddress = { defaultRealm: null, hasSubdomains: true };

/** Creates a fixture with a realm at the server's address. */
const creating = async (server = SERVER) => {
  const fixture = await createFixture();
  const useCase = new CreateRealm(
    fixture.uow,
    fixture.clock,
    new SeededRandomness(5),
    server,
    realmChangesOn(fixture),
    systemMessagesOn(fixture.clock),
  );
  return {
    fixture,
    create: (stringId: string, name = 'Elsinore', configuration?: RealmConfiguration) =>
      useCase.execute({ stringId, name, ...(configuration && { configuration }) }),
    start: (stringId: string) => useCase.execute({ stringId, name: 'Lear', isStarted: true }),
  };
};

describe('CreateRealm', () => {
  it('creates default channels with messages by the welcome bot on request, and none otherwise', async () => {
    const { fixture, create, start } = await creating();
    const plain = await create('elsinore');
    const realm = await start('lear');
    await fixture.uow.readAcross(async ({ channels, users }) => {
      expect(await channels.listAll(plain.id)).toEqual([]);
      const { id: creatorId } = await users.findSystemBot(realm.id, 'welcome');
      const made = await channels.listAll(realm.id);
      expect(made).toMatchObject([
        { name: 'general', privacy: 'public', isDefault: true, creatorId },
        { name: 'sandbox', privacy: 'public', isDefault: true, creatorId },
      ]);
      expect(realm.settings.newChannelAnnouncementsChannelId).toBe(made[0]!.id);
    });
    const sent = fixture.storage.announced.flatMap(({ event }) => (event.type === 'message.sent' ? [event] : []));
    expect(sent).toHaveLength(3);
  });

  it('creates system groups, permissions and system bots', async () => {
    const { fixture, create } = await creating();
    const realm = await create('elsinore');
    expect(realm).toMatchObject({
      stringId: 'elsinore',
      name: 'Elsinore',
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
      isDeactivated: false,
      createdAt: fixture.clock.now(),
    });
    await fixture.uow.read(realm.id, async ({ realms, groups, users, events }) => {
      expect(await realms.findByStringId('elsinore')).toEqual(realm);
      const system = await groups.systemGroupIds(realm.id);
      expect(Object.keys(system)).toEqual([
        ...['nobody', 'owners', 'administrators', 'moderators'],
        ...['fullMembers', 'members', 'everyone', 'internet'],
      ]);
      expect(realm.permissions).toMatchObject({
        canCreateWebPublicChannel: system.owners,
        canMentionManyUsers: system.administrators,
        canSetDeleteMessagePolicy: system.moderators,
        canAddSubscribers: system.members,
        directMessagePermission: system.everyone,
      });
      const views = await groups.listViews(realm.id);
      expect(views.map(({ name, subgroupIds }) => [name, subgroupIds])).toEqual([
        ['role:nobody', []],
        ['role:owners', []],
        ['role:administrators', [system.owners]],
        ['role:moderators', [system.administrators]],
        ['role:fullmembers', [system.moderators]],
        ['role:members', [system.fullMembers]],
        ['role:everyone', [system.members]],
        ['role:internet', [system.everyone]],
      ]);
      for (const { permissions } of views)
        expect(new Set(Object.values(permissions))).toEqual(new Set([system.nobody]));
      expect((await users.listSystemBots(realm.id)).map(({ fullName }) => fullName)).toEqual([
        'Notification Bot',
        'Welcome Bot',
        'Email Gateway',
      ]);
      expect(await users.listEntries(realm.id)).toEqual([]);
      expect(await events.lastSeq(realm.id)).toBeGreaterThan(0);
    });
    expect(new Set(fixture.storage.announced.map(({ audience }) => audience.kind))).toEqual(new Set(['nobody']));
  });

  it('applies a configuration, and creates nothing if it is invalid', async () => {
    const { fixture, create } = await creating();
    const realm = await create('elsinore', 'Elsinore', {
      settings: { inviteRequired: false, description: 'A *castle*' },
      permissions: { canInviteUsers: 'role:moderators' },
      userDefaults: { emailAddressVisibility: 'administrators' },
    });
    const { moderators } = await fixture.uow.read(realm.id, ({ groups }) => groups.systemGroupIds(realm.id));
    expect(realm).toMatchObject({
      settings: { inviteRequired: false, description: 'A *castle*' },
      renderedDescription: expect.stringContaining('castle'),
      permissions: { canInviteUsers: moderators },
      userDefaults: { emailAddressVisibility: 'administrators' },
    });
    await expectRefused(fixture, () => create('other', 'Other', { permissions: { canInviteUsers: 'role:everyone' } }), {
      code: 'GROUP_NOT_ALLOWED',
    });
    await expectRefused(fixture, () => create('other', 'Other', { permissions: { canInviteUsers: 'role:admins' } }), {
      code: 'UNKNOWN_GROUP',
      message: expect.stringContaining(
        "no group 'role:admins'; roles are role:nobody, role:owners, role:administrators, ",
      ),
    });
    await expectRefused(fixture, () => create('other', 'Other', { permissions: { canInviteUsers: 'moderators' } }), {
      code: 'UNKNOWN_GROUP',
      message: "There is no group 'moderators'; did you mean role:moderators?",
    });
  });

  it.each(['a', 'a-1', '42', 'a'.repeat(40)])('accepts the subdomain %j', async (stringId) => {
    const { create } = await creating();
    expect((await create(stringId)).stringId).toBe(stringId);
  });

  it.each([
    ['Elsinore', 'Elsinore', 'INVALID_STRING_ID'],
    ['-a', 'Elsinore', 'INVALID_STRING_ID'],
    ['a-', 'Elsinore', 'INVALID_STRING_ID'],
    ['a.b', 'Elsinore', 'INVALID_STRING_ID'],
    ['zulip', 'taken', 'STRING_ID_TAKEN'],
    ['www', 'reserved', 'STRING_ID_TAKEN'],
    ['a'.repeat(41), 'too long', 'INVALID_STRING_ID'],
    ['elsinore', ' ', 'INVALID_REALM_NAME'],
    ['elsinore', 'é'.repeat(41), 'INVALID_REALM_NAME'],
  ])('rejects %j, %j: %s', async (stringId, name, code) => {
    const { fixture, create } = await creating();
    await expectRefused(fixture, () => create(stringId, name), { code });
  });
});

describe('realm address', () => {
  /** Creates realms in this order. Returns for each whether it is at the server's address, or the error code. */
  async function addressesOf(names: readonly string[], server: Partial<ServerAddress>): Promise<unknown[]> {
    const clock = new FixedClock();
    const { uow } = new MemoryStorage(clock);
    const changes = realmChangesOn({ uow, clock });
    const create = new CreateRealm(
      uow,
      clock,
      new SeededRandomness(5),
      { ...SERVER, ...server },
      changes,
      systemMessagesOn(clock),
    );
    const realmUrls: unknown[] = [];
    for (const stringId of names) {
      await create.execute({ stringId, name: `Realm "${stringId}"` }).then(
        ({ isAtServerAddress }) => realmUrls.push(isAtServerAddress ? 'server' : 'own'),
        ({ code, message }) => realmUrls.push(`${code}: ${message.split(/[;,]/)[0]}`),
      );
    }
    return realmUrls;
  }
  const TAKEN = 'NO_ADDRESS_LEFT: The address of this server is that of "Realm "a""';
  const NO_HOST = 'NO_ADDRESS_LEFT: The address of this server is an IP address';

  it.each`
    realms        | server                                         | addresses
    ${['a']}      | ${{}}                                          | ${['server']}
    ${['']}       | ${{}}                                          | ${['server']}
    ${['a', 'b']} | ${{}}                                          | ${['server', 'own']}
    ${['', 'b']}  | ${{}}                                          | ${['server', 'own']}
    ${['a', '']}  | ${{}}                                          | ${['server', TAKEN]}
    ${['a']}      | ${{ hasSubdomains: false }}                    | ${['server']}
    ${['a', 'b']} | ${{ hasSubdomains: false }}                    | ${['server', NO_HOST]}
    ${['a', '']}  | ${{ hasSubdomains: false }}                    | ${['server', TAKEN]}
    ${['a', 'b']} | ${{ defaultRealm: 'b' }}                       | ${['own', 'server']}
    ${['a', 'b']} | ${{ defaultRealm: 'a' }}                       | ${['server', 'own']}
    ${['a', '']}  | ${{ defaultRealm: 'b' }}                       | ${['own', 'server']}
    ${['a', 'b']} | ${{ defaultRealm: 'b', hasSubdomains: false }} | ${[NO_HOST, 'server']}
  `('assigns the addresses $addresses to $realms on $server', async ({ realms, server, addresses: realmUrls }) => {
    expect(await addressesOf(realms, server)).toEqual(realmUrls);
  });

  it('keeps the address of a deactivated realm reserved', async () => {
    const { fixture, create } = await creating();
    await fixture.uow.write(fixture.realm.id, (tx) => tx.realms.update({ ...fixture.realm, isDeactivated: true }));
    await expectRefused(fixture, () => create('', 'Another one'), { code: 'NO_ADDRESS_LEFT' });
    expect((await create('another')).isAtServerAddress).toBe(false);
  });
});

const realmUrls = {
  urlOf: ({ stringId }: { stringId: string }) => `https://${stringId}.example`,
  emailDomainOf: () => 'x',
};

describe('GetServerSettings', () => {
  const ask = async (webPublicEnabled = true, enableSpectatorAccess = true, privacy: ChannelPrivacy = 'webPublic') => {
    const fixture = await createFixture(
      aRealm({ stringId: 'zulip', name: 'Zulip' }),
      aChannel({ name: 'lobby', privacy }),
    );
    const { realm } = fixture;
    await fixture.uow.write(realm.id, (tx) =>
      tx.realms.update({ ...realm, settings: { ...realm.settings, enableSpectatorAccess } }),
    );
    const settings = new GetServerSettings(fixture.uow, realmUrls, { isOn: false }, { webPublicEnabled }, []);
    return { settings, realm };
  };

  it('returns the realm of the requested host', async () => {
    const { settings, realm } = await ask();
    expect(await settings.execute({ realmId: realm.id }, { isServerAddress: true })).toMatchObject({
      realm: { id: realm.id, name: 'Zulip' },
      url: 'https://zulip.example',
      isDevelopment: false,
    });
  });

  it.each`
    server   | realmSays | channel        | allowed
    ${true}  | ${true}   | ${'webPublic'} | ${true}
    ${true}  | ${true}   | ${'public'}    | ${false}
    ${false} | ${true}   | ${'webPublic'} | ${false}
    ${true}  | ${false}  | ${'webPublic'} | ${false}
  `('allows spectators with server $server, realm $realmSays, a $channel channel: $allowed', async (row) => {
    const { server, realmSays, channel, allowed } = row;
    const { settings, realm } = await ask(server, realmSays, channel);
    const { allowsSpectators } = await settings.execute({ realmId: realm.id }, { isServerAddress: false });
    expect(allowsSpectators).toBe(allowed);
  });

  it('returns no realm at the address of a server with several realms', async () => {
    const { settings } = await ask();
    expect(await settings.execute({ realmId: null }, { isServerAddress: true })).toEqual({
      realm: null,
      url: 'https://.example',
      isDevelopment: false,
      allowsSpectators: false,
      logInMethods: [],
      offersBrowserLogIn: false,
    });
  });

  it('rejects a host without a realm', async () => {
    const { settings } = await ask();
    await expect(settings.execute({ realmId: null }, { isServerAddress: false })).rejects.toMatchObject({
      code: 'UNKNOWN_REALM_ADDRESS',
      message: 'Invalid subdomain',
    });
  });
});
