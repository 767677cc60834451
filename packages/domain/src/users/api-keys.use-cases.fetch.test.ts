import {
  aRealm,
  aUser,
  createFixture,
  createFixtureOn,
  FakeApiKeyMint,
  FakeEmailQuota,
  FakeLoginAttempts,
  FakePasswordHasher,
  type FixtureStep,
  fakeRealmUrls,
  type MemoryFixture,
  noDirectoryPasswords,
} from '@parley/testkit';
import { FetchApiKey, FetchDevelopmentApiKey, ListDevelopmentUsers } from './api-keys.use-cases.js';
import { LoginEmails, PasswordCheck } from './authentication.js';

const mint = new FakeApiKeyMint();
const passwordHash = 'hash of pw-hamlet';
/** Gives every user an API key of the second generation. */
const keys: FixtureStep = async (fixture, tx) => {
  for (const { id: userId, realmId } of fixture.users.values()) {
    const record = { realmId, userId, generation: 2, seed: null };
    await tx.apiKeys.put(record, mint.fingerprint(mint.derive(record)));
  }
};
const town = (...pieces: readonly FixtureStep[]) =>
  createFixture(
    aUser({ name: 'iago', role: 'administrator' }),
    aUser({ name: 'hamlet', passwordHash }),
    aUser({ name: 'gone', passwordHash, isActive: false }),
    aUser({ name: 'open' }),
    aUser({ name: 'robot', botOf: 'hamlet', passwordHash }),
    keys,
    ...pieces,
  );
const loginEmails = ({ uow, clock }: MemoryFixture) => new LoginEmails(uow, new FakeEmailQuota(), clock);
const fetching = (fixture: MemoryFixture, hasher = new FakePasswordHasher(), attempts = new FakeLoginAttempts()) => {
  const check = new PasswordCheck(fixture.uow, hasher, attempts, noDirectoryPasswords, fixture.clock);
  const useCase = new FetchApiKey(check, mint, loginEmails(fixture));
  return (
    username: string,
    password = 'pw-hamlet',
    { realmId = fixture.realm.id as typeof fixture.realm.id | null, ip = undefined as string | undefined } = {},
  ) => useCase.execute({ realmId, ip }, { username, password });
};
const keyOf = (fixture: MemoryFixture, name: string) =>
  mint.derive({ realmId: fixture.realm.id, userId: fixture.user(name).id, generation: 2, seed: null });
const WRONG = { code: 'AUTHENTICATION_FAILED', message: 'Your username or password is incorrect' };

describe('API key for a password', () => {
  it('returns the current key regardless of the letter case of the address', async () => {
    const fixture = await town();
    expect(await fetching(fixture)('HAMLET@example.com')).toEqual({
      apiKey: keyOf(fixture, 'hamlet'),
      user: fixture.user('hamlet'),
    });
  });

  it.each([
    ['the wrong password', 'hamlet@example.com', 'wrong'],
    ['no password', 'hamlet@example.com', ''],
    ['nobody', 'nobody@example.com', 'pw-hamlet'],
    ['a user without a password', 'open@example.com', ''],
    ['bots, even with a stored password', 'robot@example.com', 'pw-hamlet'],
    ['the realm’s own bots', 'notification-bot@parley.invalid', 'pw-hamlet'],
    ['addresses of another realm', 'otherRealmUser@example.com', 'pw-hamlet'],
  ])('issues no key for %s and takes the same time', async (_, username, password) => {
    const fixture = await town();
    await createFixtureOn(
      fixture.uow,
      fixture.clock,
      aRealm({ stringId: 'other' }),
      aUser({ name: 'otherRealmUser', passwordHash }),
    );
    const hasher = new FakePasswordHasher();
    await expect(fetching(fixture, hasher)(username, password)).rejects.toMatchObject(WRONG);
    expect(hasher.verified).toHaveLength(1);
  });

  it('rejects in contract order, with the wrong password last', async () => {
    const fixture = await town();
    const attempts = new FakeLoginAttempts();
    const fetch = fetching(fixture, new FakePasswordHasher(), attempts);
    await expect(fetch('nobody', 'wrong', { realmId: null })).rejects.toMatchObject({
      code: 'UNKNOWN_REALM',
      message: 'Invalid subdomain',
    });
    await expect(fetch('nobody', 'wrong')).rejects.toMatchObject({ message: 'Enter a valid email address.' });
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(fetch('gone@example.com', 'wrong')).rejects.toMatchObject({
        code: 'USER_DEACTIVATED',
        message: 'Account is deactivated',
      });
    }
    await expect(fetch('GONE@example.com')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await fixture.uow.write(fixture.realm.id, (tx) => tx.realms.update({ ...fixture.realm, isDeactivated: true }));
    await expect(fetch('hamlet@example.com', 'wrong')).rejects.toMatchObject({
      code: 'REALM_DEACTIVATED',
      message: 'This organization has been deactivated',
    });
  });

  it('passes the client IP to the password hasher and the attempt limiter', async () => {
    const fixture = await town();
    const hasher = new FakePasswordHasher();
    const attempts = new FakeLoginAttempts();
    const fetch = fetching(fixture, hasher, attempts);
    await fetch('hamlet@example.com', 'pw-hamlet', { ip: '10.0.0.1' });
    expect(hasher.requests).toMatchObject([{ client: '10.0.0.1', isKnown: false, cancellation: undefined }]);
    expect(attempts.sources).toEqual([{ ip: '10.0.0.1', isKnown: false }]);
  });

  it("treats networks of the user's earlier successful logins as known", async () => {
    const fixture = await town();
    const hasher = new FakePasswordHasher();
    const attempts = new FakeLoginAttempts();
    const fetch = fetching(fixture, hasher, attempts);
    await expect(fetch('hamlet@example.com', 'wrong', { ip: '10.0.0.1' })).rejects.toMatchObject(WRONG);
    await fetch('hamlet@example.com', 'pw-hamlet', { ip: '10.0.0.1' });
    await fetch('hamlet@example.com', 'pw-hamlet', { ip: '10.0.0.1' });
    await expect(fetch('nobody@example.com', 'wrong', { ip: '10.0.0.1' })).rejects.toMatchObject(WRONG);
    expect(attempts.sources.map(({ isKnown }) => isKnown)).toEqual([false, false, true, false]);
    expect(hasher.requests.map(({ isKnown }) => isKnown)).toEqual([false, false, true, false]);
  });

  it('counts no attempt while the server is too busy to verify the password', async () => {
    const fixture = await town();
    const hasher = new FakePasswordHasher();
    const fetch = fetching(fixture, hasher);
    hasher.isBusy = true;
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(fetch('hamlet@example.com', 'wrong')).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    }
    hasher.isBusy = false;
    await expect(fetch('hamlet@example.com')).resolves.toMatchObject({ user: fixture.user('hamlet') });
  });

  it('resets failed attempts after a successful login', async () => {
    const fixture = await town();
    const fetch = fetching(fixture);
    for (let round = 0; round < 3; round++) {
      await expect(fetch('hamlet@example.com', 'wrong')).rejects.toMatchObject(WRONG);
      await fetch('hamlet@example.com');
    }
  });
});

describe('development login', () => {
  const asking = (fixture: MemoryFixture, isOn = true) => {
    const useCase = new FetchDevelopmentApiKey(fixture.uow, mint, { isOn }, fixture.clock);
    return (username: string, realmId: typeof fixture.realm.id | null = fixture.realm.id) =>
      useCase.execute({ realmId }, { username });
  };
  const notInProduction = { code: 'NOT_IN_PRODUCTION', message: 'Endpoint not available in production.' };

  it('issues a key without a password', async () => {
    const fixture = await town();
    expect((await asking(fixture)('HAMLET@example.com')).apiKey).toBe(keyOf(fixture, 'hamlet'));
  });

  it('rejects key requests in contract order', async () => {
    const fixture = await town();
    await expect(asking(fixture, false)('nobody', null)).rejects.toMatchObject(notInProduction);
    const ask = asking(fixture);
    await expect(ask('nobody', null)).rejects.toMatchObject({ code: 'UNKNOWN_REALM' });
    await expect(ask('nobody')).rejects.toMatchObject({ message: 'Enter a valid email address.' });
    await expect(ask('gone@example.com')).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
    await expect(ask('nobody@example.com')).rejects.toMatchObject(WRONG);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.realms.update({ ...fixture.realm, isDeactivated: true }));
    await expect(ask('hamlet@example.com')).rejects.toMatchObject({ code: 'REALM_DEACTIVATED' });
  });

  it('lists active users for login, with administrators separately', async () => {
    const fixture = await town();
    const list = (isOn: boolean, realmId: typeof fixture.realm.id | null = fixture.realm.id) =>
      new ListDevelopmentUsers(fixture.uow, fakeRealmUrls, { isOn }).execute({ realmId });
    expect(await list(true)).toEqual({
      administrators: ['iago@example.com'],
      others: ['hamlet@example.com', 'open@example.com'],
      realmUrl: 'https://zulip.chat.example',
    });
    await expect(list(false, null)).rejects.toMatchObject(notInProduction);
    await expect(list(true, null)).rejects.toMatchObject({ code: 'UNKNOWN_REALM' });
  });

  it('rejects key requests and user lists if the organization has disabled development login', async () => {
    const fixture = await town();
    const settings = { ...fixture.realm.settings, devAuthentication: false };
    await fixture.uow.write(fixture.realm.id, (tx) => tx.realms.update({ ...fixture.realm, settings }));
    const disabled = { code: 'DEVELOPMENT_AUTH_DISABLED', message: 'DevAuthBackend not enabled.' };
    await expect(asking(fixture)('hamlet@example.com')).rejects.toMatchObject(disabled);
    await expect(asking(fixture)('nobody')).rejects.toMatchObject(disabled);
    const list = new ListDevelopmentUsers(fixture.uow, fakeRealmUrls, { isOn: true });
    await expect(list.execute({ realmId: fixture.realm.id })).rejects.toMatchObject(disabled);
  });
});
