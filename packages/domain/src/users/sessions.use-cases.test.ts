import {
  aRealm,
  aUser,
  createFixture,
  createFixtureOn,
  currentLog,
  FakeEmailQuota,
  FakeLoginAttempts,
  FakePasswordHasher,
  FakeSessionTokens,
  type FixtureStep,
  type MemoryFixture,
  noDirectoryPasswords,
} from '@parley/testkit';
import { MAX_SESSIONS, RENEW_AFTER_SECONDS, SESSION_IDLE_SECONDS, SESSION_MAX_SECONDS } from '../access/credentials.js';
import { PublishingUnitOfWork } from '../composition/publishing-unit-of-work.js';
import type { SessionId } from '../kernel/ids.js';
import { DeactivateRealm, ReactivateRealm } from '../log-in/organization.use-cases.js';
import { DeactivateUser, ReactivateUser } from '../membership/deactivation.use-cases.js';
import { replaceApiKey } from '../push/push-jobs.js';
import { LoginEmails, PasswordCheck } from './authentication.js';
import {
  EndUserSessions,
  ListUserSessions,
  LogIn,
  LogOut,
  OpenSession,
  RemoveExpiredSessions,
  VerifySession,
} from './sessions.use-cases.js';

const passwordHash = 'hash of pw';
const fail = (error: unknown) => {
  throw error;
};

const FROM = { ip: '192.0.2.7', method: 'password' };

async function town(...pieces: readonly FixtureStep[]) {
  const fixture = await createFixture(
    aUser({ name: 'owner', role: 'owner' }),
    aUser({ name: 'hamlet', passwordHash }),
    aUser({ name: 'gone', passwordHash, isActive: false }),
    ...pieces,
  );
  const tokens = new FakeSessionTokens();
  const problems: string[] = [];
  const uow = new PublishingUnitOfWork(fixture.uow, fail);
  const verify = new VerifySession(uow, tokens, fixture.clock, (problem) => problems.push(problem), currentLog);
  uow.subscribe(verify);
  const open = new OpenSession(uow, tokens, fixture.clock);
  const check = new PasswordCheck(
    uow,
    new FakePasswordHasher(),
    new FakeLoginAttempts(),
    noDirectoryPasswords,
    fixture.clock,
  );
  const logIn = new LogIn(check, tokens, new LoginEmails(uow, new FakeEmailQuota(), fixture.clock));
  const realmId = fixture.realm.id;
  return {
    fixture,
    uow,
    problems,
    open: (name = 'hamlet') => open.execute({ user: fixture.user(name), userAgent: 'Mozilla/5.0', ...FROM }),
    logIn: (username: string, password = 'pw') => logIn.execute({ realmId }, { username, password, userAgent: 'M' }),
    verify: (token: string, realm: MemoryFixture['realm']['id'] | null = realmId) =>
      verify.execute({ realmId: realm }, token),
    list: async () => {
      const listed = new ListUserSessions(uow, fixture.clock).execute(
        { realmId, userId: null },
        fixture.user('hamlet').id,
      );
      return (await listed).sessions;
    },
  };
}

describe('LogIn', () => {
  it('opens a session for the correct password', async () => {
    const { fixture, logIn, verify, list } = await town();
    const { token, csrfToken, id, user } = await logIn('HAMLET@example.com');
    expect(user).toEqual(fixture.user('hamlet'));
    expect(csrfToken).toBe(`csrf of ${token}`);
    const now = fixture.clock.now();
    const expiresAt = now + SESSION_IDLE_SECONDS;
    const verified = { ...fixture.viewer('hamlet'), botKind: null, sessionId: id, csrfToken, expiresAt };
    expect(await verify(token)).toEqual(verified);
    expect(await list()).toEqual([
      {
        ...fixture.viewer('hamlet'),
        id,
        userAgent: 'M',
        ip: null,
        method: 'password',
        serviceSession: null,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + SESSION_IDLE_SECONDS,
      },
    ]);
  });

  it.each([
    ['hamlet@example.com', 'wrong', 'AUTHENTICATION_FAILED'],
    ['owner@example.com', '', 'AUTHENTICATION_FAILED'],
    ['gone@example.com', 'pw', 'USER_DEACTIVATED'],
    ['hamlet', 'pw', 'INVALID_EMAIL'],
  ])('rejects %s with the password %j: %s', async (username, password, code) => {
    const { logIn, list } = await town();
    await expect(logIn(username, password)).rejects.toMatchObject({ code });
    expect(await list()).toEqual([]);
  });

  it('rejects the login if the password changed during verification or the account was deactivated', async () => {
    const { fixture, uow } = await town();
    const open = new OpenSession(uow, new FakeSessionTokens(), fixture.clock);
    const opening = (name: string, hash: string) =>
      open.execute({ user: fixture.user(name), userAgent: '', ...FROM, passwordHash: hash });
    await expect(opening('hamlet', 'hash of another')).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    await expect(opening('gone', passwordHash)).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });

  it('evicts expired sessions first and then the least recently used one when the limit is reached', async () => {
    const { fixture, open, verify, list } = await town();
    const opened = [];
    for (let n = 0; n < MAX_SESSIONS; n++) {
      opened.push(await open());
      fixture.clock.advance(1);
    }
    fixture.clock.advance(RENEW_AFTER_SECONDS);
    await verify(opened[0]!.token);
    await open();
    expect(await list()).toHaveLength(MAX_SESSIONS);
    expect(await verify(opened[0]!.token)).not.toBeNull();
    expect(await verify(opened[1]!.token)).toBeNull();
    fixture.clock.advance(SESSION_IDLE_SECONDS);
    const last = await open();
    const stored = await fixture.uow.read(fixture.realm.id, ({ sessions }) =>
      sessions.listOf(fixture.realm.id, fixture.user('hamlet').id),
    );
    expect(stored.map(({ id }) => id)).toEqual([last.id]);
  });
});

describe('browser session', () => {
  it('authenticates in one realm only and only with its own token', async () => {
    const { fixture, open, verify } = await town();
    const other = await createFixtureOn(fixture.uow, fixture.clock, aRealm({ stringId: 'other' }));
    const { token } = await open();
    expect(await verify(token, other.realm.id)).toBeNull();
    expect(await verify(token, null)).toBeNull();
    expect(await verify('another')).toBeNull();
    expect(await verify(token)).not.toBeNull();
  });

  it('expires when idle and at the latest after a year', async () => {
    const { fixture, open, verify } = await town();
    const { token } = await open();
    const step = SESSION_IDLE_SECONDS - 1;
    for (let at = step; at < SESSION_MAX_SECONDS; at += step) {
      fixture.clock.advance(step);
      expect(await verify(token)).not.toBeNull();
    }
    fixture.clock.advance(step);
    expect(await verify(token)).toBeNull();
    const idle = await open();
    await verify(idle.token);
    fixture.clock.advance(SESSION_IDLE_SECONDS);
    expect(await verify(idle.token)).toBeNull();
  });

  it('writes its last use once per ten minutes and reads nothing while unchanged', async () => {
    const { fixture, open, verify } = await town();
    const { token } = await open();
    await verify(token);
    const before = fixture.storage.commits;
    const reads = jest.spyOn(fixture.uow, 'read');
    for (let n = 0; n < 10; n++) await verify(token);
    expect(reads).not.toHaveBeenCalled();
    expect(fixture.storage.commits).toBe(before);
    fixture.clock.advance(RENEW_AFTER_SECONDS);
    await Promise.all([verify(token), verify(token), verify(token)]);
    await verify(token);
    expect(fixture.storage.commits).toBe(before + 1);
  });

  it('authenticates the user even if its last use cannot be stored', async () => {
    const { fixture, uow, open, verify, problems } = await town();
    const { token } = await open();
    await verify(token);
    fixture.clock.advance(RENEW_AFTER_SECONDS);
    jest.spyOn(uow, 'write').mockRejectedValueOnce(new Error('disk full'));
    expect(await verify(token)).not.toBeNull();
    expect(problems).toEqual(['recording the use of a session failed']);
  });

  it('ends on logout without ending other sessions', async () => {
    const { fixture, uow, open, verify } = await town();
    const [left, other] = [await open(), await open()];
    await verify(left.token);
    const caller = { ...fixture.viewer('hamlet'), clientName: 'website' };
    await new LogOut(uow).execute(caller);
    expect(await verify(left.token)).not.toBeNull();
    await new LogOut(uow).execute({ ...caller, sessionId: left.id });
    expect(await verify(left.token)).toBeNull();
    expect(await verify(other.token)).not.toBeNull();
  });

  it('ends when the API key is replaced, except for the session that requested it', async () => {
    const { fixture, uow, open, verify } = await town();
    const [one, other, foreign] = [await open(), await open(), await open('owner')];
    for (const { token } of [one, other, foreign]) await verify(token);
    const mint = { newSeed: () => '', derive: () => 'key', fingerprint: () => 'print', secretFingerprint: '' };
    await uow.write(fixture.realm.id, (tx) =>
      replaceApiKey(tx, mint, fixture.user('hamlet'), { now: 0, except: one.id }),
    );
    expect(await verify(one.token)).not.toBeNull();
    expect(await verify(other.token)).toBeNull();
    expect(await verify(foreign.token)).not.toBeNull();
  });

  it('reports a deactivated account or organization and ends after reactivation', async () => {
    const { fixture, uow, open, verify } = await town();
    const [one, foreign] = [await open(), await open('owner')];
    for (const { token } of [one, foreign]) await verify(token);
    const owner = { ...fixture.viewer('owner'), clientName: 'website' };
    const { id: userId } = fixture.user('hamlet');
    await new DeactivateUser(uow, fixture.clock).execute(owner, { userId });
    await expect(verify(one.token)).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
    expect(await verify(foreign.token)).not.toBeNull();
    await new ReactivateUser(uow, fixture.clock).execute(owner, userId);
    expect(await verify(one.token)).toBeNull();
    await new DeactivateRealm(uow, fixture.clock).execute(owner, { deletionDelayDays: null });
    await expect(verify(foreign.token)).rejects.toMatchObject({ code: 'REALM_DEACTIVATED' });
    await new ReactivateRealm(uow).execute({ stringId: fixture.realm.stringId });
    expect(await verify(foreign.token)).toBeNull();
  });
});

describe('operator session command', () => {
  it('lists and ends one or all sessions of a user', async () => {
    const { fixture, uow, open, verify, list } = await town();
    const opened = [await open(), await open(), await open()];
    const foreign = await open('owner');
    for (const { token } of opened) await verify(token);
    const ids = async () => (await list()).map(({ id }) => id);
    expect(await ids()).toEqual(opened.map(({ id }) => id).reverse());
    const userId = fixture.user('hamlet').id;
    const operator = { realmId: fixture.realm.id, userId: null };
    const end = (input: object) => new EndUserSessions(uow).execute(operator, { userId, ...input });
    expect(await end({ sessionId: foreign.id })).toBe(0);
    expect(await end({ sessionId: opened[1]!.id })).toBe(1);
    expect(await ids()).toEqual([opened[2]!.id, opened[0]!.id]);
    expect(await end({})).toBe(2);
    expect(await verify(opened[0]!.token)).toBeNull();
    expect(await verify(foreign.token)).not.toBeNull();
    const unknown = { userId: (userId + 99) as typeof userId };
    await expect(end(unknown)).rejects.toMatchObject({ code: 'UNKNOWN_USER' });
    const listing = new ListUserSessions(uow, fixture.clock).execute(operator, unknown.userId);
    await expect(listing).rejects.toMatchObject({ code: 'UNKNOWN_USER' });
  });

  it('removes expired sessions', async () => {
    const { fixture, uow, open } = await town();
    const { token } = await open();
    fixture.clock.advance(SESSION_IDLE_SECONDS);
    const kept = await open('owner');
    await new RemoveExpiredSessions(uow, fixture.clock).execute();
    const found = (of: string) =>
      fixture.uow.readAcross(({ sessions }) => sessions.findByFingerprint(`fingerprint of ${of}`));
    expect(await found(token)).toBeNull();
    expect((await found(kept.token))?.id).toBe(kept.id satisfies SessionId);
  });
});
