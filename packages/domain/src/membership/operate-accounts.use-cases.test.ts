import {
  aChannel,
  anotherRealm,
  aUserOfEachRole,
  createFixture,
  expectInSync,
  expectRefused,
  FakePasswordHasher,
  fakePasswordStrength,
  fakeRealmUrls,
  type MemoryFixture,
  systemMessagesOn,
} from '@parley/testkit';
import {
  CONFIRMATION_EMAIL,
  type ConfirmationPurpose,
  type LinkKeys,
  requestConfirmation,
} from '../access/confirmations.js';
import { type ApiKeyMint, Passwords } from '../access/credentials.js';
import type { Role } from '../access/roles.js';
import { RegisterUser } from './add-user.js';
import {
  IssuePasswordLink,
  IssueUserKey,
  SetUserActive,
  SetUserEmail,
  SetUserName,
  SetUserPassword,
  SetUserRole,
} from './operate-accounts.use-cases.js';

const mint: ApiKeyMint = {
  newSeed: () => '',
  derive: ({ userId, generation }) => `key ${generation} of ${userId}`,
  fingerprint: (key) => `of ${key}`,
  secretFingerprint: 'secret',
};

const links: LinkKeys = { derive: ({ id }) => `link-of-${id}`, find: async () => null };

const by = (fixture: MemoryFixture) => {
  const { uow, clock } = fixture;
  const account = (name: string) => ({ realmId: fixture.realm.id, userId: fixture.user(name).id });
  return {
    setRole: (name: string, role: Role) => new SetUserRole(uow, clock).execute({ ...account(name), role }),
    rename: (name: string, fullName: string) => new SetUserName(uow).execute({ ...account(name), fullName }),
    setEmail: (name: string, email: string) => new SetUserEmail(uow).execute({ ...account(name), email }),
    setActive: (name: string, isActive: boolean) =>
      new SetUserActive(uow, clock).execute({ ...account(name), isActive }),
    setPassword: (name: string, password: string | null) =>
      new SetUserPassword(uow, new Passwords(new FakePasswordHasher(), fakePasswordStrength), clock).execute({
        ...account(name),
        password,
      }),
    issueLink: (name: string) => new IssuePasswordLink(uow, links, fakeRealmUrls, clock).execute(account(name)),
    issueKey: (name: string, rotates: boolean) =>
      new IssueUserKey(uow, mint, clock).execute({ ...account(name), rotates }),
  };
};

const cast = () => createFixture(aUserOfEachRole(), aChannel({ name: 'open', subscribers: ['member'] }));

const found = (fixture: MemoryFixture, name: string) =>
  fixture.uow.read(fixture.realm.id, ({ users }) => users.find(fixture.realm.id, fixture.user(name).id));

describe('operator account command', () => {
  it('assigns any role and keeps every client in sync', async () => {
    const fixture = await cast();
    await expectInSync(fixture, () => by(fixture).setRole('member', 'owner'));
    await expectInSync(fixture, () => by(fixture).setRole('owner', 'guest'));
    expect(await found(fixture, 'owner')).toMatchObject({ role: 'guest' });
  });

  it('deactivates an owner unless no other owner remains', async () => {
    const fixture = await cast();
    await expect(by(fixture).setActive('owner', false)).rejects.toMatchObject({ code: 'LAST_OWNER' });
    await by(fixture).setRole('member', 'owner');
    expect(await by(fixture).setActive('owner', false)).toBe(true);
    expect(await found(fixture, 'owner')).toMatchObject({ isActive: false });
  });

  it('rejects a weak password unless `allowsWeakPassword` is set', async () => {
    const fixture = await cast();
    const { uow, clock, realm } = fixture;
    const register = new RegisterUser(
      uow,
      new Passwords(new FakePasswordHasher(), fakePasswordStrength),
      mint,
      clock,
      systemMessagesOn(clock),
    );
    const person = { realmId: realm.id, fullName: 'Ophelia', role: 'member', password: 'short' } as const;
    const weak = register.execute({ ...person, email: 'ophelia@example.com' });
    await expect(weak).rejects.toMatchObject({ code: 'WEAK_PASSWORD' });
    await register.execute({ ...person, email: 'ophelia@example.com', allowsWeakPassword: true });
  });

  it('changes an email address and keeps every client in sync', async () => {
    const fixture = await cast();
    await expectInSync(fixture, () => by(fixture).setEmail('member', ' new@example.com '));
    expect(await found(fixture, 'member')).toMatchObject({ email: 'new@example.com' });
    await by(fixture).setEmail('member', 'NEW@example.com');
    expect(await found(fixture, 'member')).toMatchObject({ email: 'NEW@example.com' });
  });

  it('rejects an email address that is taken or invalid', async () => {
    const fixture = await cast();
    const taken = fixture.user('owner').email;
    await expectRefused(fixture, () => by(fixture).setEmail('member', taken), { code: 'EMAIL_TAKEN' });
    await expectRefused(fixture, () => by(fixture).setEmail('member', 'nowhere'), { code: 'INVALID_EMAIL' });
  });

  it('rejects demoting or deactivating the last owner', async () => {
    const fixture = await cast();
    await expectRefused(fixture, () => by(fixture).setRole('owner', 'member'), { code: 'LAST_OWNER' });
    await expectRefused(fixture, () => by(fixture).setActive('owner', false), { code: 'LAST_OWNER' });
  });

  it('enforces the name rules when renaming a user', async () => {
    const fixture = await cast();
    await expectInSync(fixture, () => by(fixture).rename('member', ' New Name '));
    expect(await found(fixture, 'member')).toMatchObject({ fullName: 'New Name' });
    await expectRefused(fixture, () => by(fixture).rename('member', 'x'), { code: 'INVALID_USER_NAME' });
  });

  it('deactivates and reactivates accounts idempotently', async () => {
    const fixture = await cast();
    expect(await by(fixture).setActive('member', false)).toBe(true);
    expect(await found(fixture, 'member')).toMatchObject({ isActive: false });
    expect(await by(fixture).setActive('member', false)).toBe(false);
    expect(await by(fixture).setActive('member', true)).toBe(true);
    expect(await found(fixture, 'member')).toMatchObject({ isActive: true });
  });

  it('sets passwords accepted by the API, and removes them', async () => {
    const fixture = await cast();
    const hash = () =>
      fixture.uow.read(fixture.realm.id, ({ users }) =>
        users.findPasswordHash(fixture.realm.id, fixture.user('member').id),
      );
    await by(fixture).setPassword('member', 'correct horse battery');
    expect(await hash()).toContain('correct horse battery');
    await expectRefused(fixture, () => by(fixture).setPassword('member', 'short'), { code: 'WEAK_PASSWORD' });
    await by(fixture).setPassword('member', null);
    expect(await hash()).toBeNull();
  });

  it('returns the current API key and rotates it on request', async () => {
    const fixture = await cast();
    const { id } = fixture.user('member');
    const first = await by(fixture).issueKey('member', true);
    expect(await by(fixture).issueKey('member', false)).toBe(first);
    expect(await by(fixture).issueKey('member', true)).not.toBe(first);
    expect(first).toContain(`of ${id}`);
  });

  it('removes push tokens when the API key is rotated', async () => {
    const fixture = await cast();
    const { uow, realm } = fixture;
    const { id } = fixture.user('member');
    await by(fixture).issueKey('member', true);
    await uow.write(realm.id, (tx) => tx.pushTokens.add(realm.id, id, { kind: 'fcm', token: 'phone', iosAppId: null }));
    const phones = () => uow.read(realm.id, ({ pushTokens }) => pushTokens.list(realm.id, id));
    await by(fixture).issueKey('member', false);
    expect(await phones()).toHaveLength(1);
    await by(fixture).issueKey('member', true);
    expect(await phones()).toEqual([]);
  });

  it('ends confirmation links when the password or API key changes', async () => {
    const fixture = await cast();
    const { uow, realm } = fixture;
    const { id: userId } = fixture.user('member');
    const wanted = { realmId: realm.id, email: 'new@example.com', userId, invitationId: null };
    const now = fixture.clock.now();
    await uow.write(wanted.realmId, async (tx) => {
      await requestConfirmation(tx, { ...wanted, purpose: 'passwordReset' }, now);
      await requestConfirmation(tx, { ...wanted, purpose: 'emailChange' }, now);
    });
    const isOpen = async (purpose: ConfirmationPurpose) =>
      (await uow.read(realm.id, (r) => r.confirmations.findOpen(realm.id, purpose, String(userId)))) !== null;
    await by(fixture).setPassword('member', 'correct horse battery');
    expect([await isOpen('passwordReset'), await isOpen('emailChange')]).toEqual([false, false]);
    await uow.write(wanted.realmId, (tx) => requestConfirmation(tx, { ...wanted, purpose: 'emailChange' }, now));
    await by(fixture).issueKey('member', true);
    expect(await isOpen('emailChange')).toBe(false);
  });

  it('issues a password link without sending an email', async () => {
    const fixture = await cast();
    const { uow, clock, realm } = fixture;
    const issue = (name: string) => by(fixture).issueLink(name);
    const { url, expiresAt } = await issue('member');
    expect(url).toMatch(/\/accounts\/password\/reset\/link-of-\d+$/);
    expect(expiresAt).toBe(clock.now() + 86_400);
    expect((await issue('member')).url).toBe(url);
    const open = await uow.read(realm.id, (r) =>
      r.confirmations.findOpen(realm.id, 'passwordReset', String(fixture.user('member').id)),
    );
    const isEmailDue = (id: number) =>
      uow.read(realm.id, ({ jobs }) => jobs.isScheduled(realm.id, CONFIRMATION_EMAIL.name, String(id)));
    expect(await isEmailDue(open!.id)).toBe(false);
    await by(fixture).setActive('member', false);
    await expectRefused(fixture, () => issue('member'), { code: 'USER_DEACTIVATED' });
  });

  it('rejects users of another organization', async () => {
    const fixture = await cast();
    const other = await anotherRealm(fixture);
    const { uow, clock, realm } = fixture;
    const unknown = { realmId: realm.id, userId: other.user('otherRealmUser').id };
    const attempts = [
      () => new SetUserRole(uow, clock).execute({ ...unknown, role: 'owner' }),
      () => new SetUserName(uow).execute({ ...unknown, fullName: 'Name' }),
      () => new SetUserEmail(uow).execute({ ...unknown, email: 'new@example.com' }),
      () => new SetUserActive(uow, clock).execute({ ...unknown, isActive: false }),
      () =>
        new SetUserPassword(uow, new Passwords(new FakePasswordHasher(), fakePasswordStrength), clock).execute({
          ...unknown,
          password: 'correct horse battery',
        }),
      () => new IssuePasswordLink(uow, links, fakeRealmUrls, clock).execute(unknown),
      () => new IssueUserKey(uow, mint, clock).execute({ ...unknown, rotates: true }),
      () => new IssueUserKey(uow, mint, clock).execute({ ...unknown, rotates: false }),
    ];
    for (const attempt of attempts) await expectRefused(fixture, attempt, { code: 'UNKNOWN_USER' });
  });
});
