import {
  aChannel,
  aGroup,
  anotherRealm,
  aUser,
  createFixture,
  expectInSync,
  expectRefused,
  FakeApiKeyMint,
  SeededRandomness,
  systemMessagesOn,
} from '@parley/testkit';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { HostUserReference } from './host-users.js';
import { FindHostUsers, LinkHostUser, UpsertHostUser, type UpsertHostUserInput } from './host-users.use-cases.js';
import { IssueUserKey, SetUserActive } from './operate-accounts.use-cases.js';

const mint = new FakeApiKeyMint();

async function cast() {
  const fixture = await createFixture(
    aUser({ name: 'owner', role: 'owner' }),
    aUser({ name: 'hamlet' }),
    aUser({ name: 'helper', botOf: 'hamlet' }),
    aChannel({ name: 'general', isDefault: true }),
    aGroup({ name: 'writers', members: ['hamlet'] }),
  );
  const { uow, clock, realm } = fixture;
  const randomness = {
    uuid: () => `00000000-0000-4000-8000-${String(uuids++).padStart(12, '0')}`,
    fraction: () => new SeededRandomness(1).fraction(),
  };
  const upsertUser = new UpsertHostUser(uow, mint, clock, randomness, systemMessagesOn(clock));
  let uuids = 1;
  return {
    fixture,
    realmId: realm.id,
    upsert: (input: Partial<UpsertHostUserInput> = {}) =>
      upsertUser.execute({ realmId: realm.id, externalId: 'u1', fullName: 'Ann', ...input }),
    find: new FindHostUsers(uow),
    link: new LinkHostUser(uow),
    setActive: (user: HostUserReference, isActive: boolean) =>
      new SetUserActive(uow, clock).execute({ realmId: realm.id, ...user, isActive, mayRemoveLastOwner: true }),
    key: (user: HostUserReference, rotates: boolean) =>
      new IssueUserKey(uow, mint, clock).execute({ realmId: realm.id, ...user, rotates, requiresActive: true }),
  };
}

describe('UpsertHostUser', () => {
  it('creates a member with an undeliverable email in the default channels', async () => {
    const { fixture, realmId, upsert, find } = await cast();
    const ann = await upsert();
    expect(ann).toMatchObject({
      fullName: 'Ann',
      role: 'member',
      isActive: true,
      email: expect.stringMatching(/^[\da-f-]{36}@users\.parley\.invalid$/),
    });
    const subscribed = await fixture.uow.read(realmId, (r) => r.channels.listSubscribedIds(realmId, ann.id));
    expect(subscribed).toEqual([fixture.channel('general').id]);
    expect(await find.find(realmId, { userId: ann.id })).toEqual({ user: ann, externalId: 'u1' });
  });

  it('accepts one-letter names, emails and any role', async () => {
    const { upsert } = await cast();
    const person = { fullName: 'Å', email: 'a@example.org', role: 'owner' } as const;
    expect(await upsert(person)).toMatchObject(person);
  });

  it.each([
    ['Anna "Ann" Lee', 'Anna “Ann” Lee'],
    ['"Ann" (the "best")', '“Ann” (the “best”)'],
    ['ann@example.org', 'ann＠example.org'],
    ['A*n`n\\e> ', 'A＊n｀n＼e＞'],
    ['Ann\tLee\u0007', 'Ann Lee'],
    ['Ann|12', 'Ann｜12'],
    ['x'.repeat(101), `${'x'.repeat(99)}…`],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('stores the name %j as %j and writes nothing for the same name', async (raw, fullName) => {
    const { fixture, upsert } = await cast();
    expect((await upsert({ fullName: raw })).fullName).toBe(fullName);
    expect(fullName.normalize('NFKC')).toContain(raw.slice(0, 2).replaceAll('"', '“'));
    const write = jest.spyOn(fixture.uow, 'write');
    await upsert({ fullName: raw });
    expect(write).not.toHaveBeenCalled();
  });

  it('updates and publishes only the changed fields', async () => {
    const { fixture, upsert } = await cast();
    const ann = await upsert({ email: 'ann@example.org' });
    await expectInSync(fixture, async () => {
      await upsert({ fullName: 'B', role: 'administrator' });
    });
    const changed = await upsert({ email: 'b@example.org', fullName: 'B' });
    expect(changed).toMatchObject({ id: ann.id, fullName: 'B', role: 'administrator', email: 'b@example.org' });
  });

  it('writes nothing when no field changes', async () => {
    const { fixture, upsert } = await cast();
    const ann = await upsert({ email: 'ann@example.org', role: 'guest' });
    fixture.storage.announced.length = 0;
    const write = jest.spyOn(fixture.uow, 'write');
    expect(await upsert({ email: 'ann@example.org', role: 'guest' })).toEqual(ann);
    expect(await upsert()).toEqual(ann);
    expect(write).not.toHaveBeenCalled();
  });

  it('creates one user for concurrent calls', async () => {
    const { upsert } = await cast();
    const users = await Promise.all(Array.from({ length: 20 }, () => upsert()));
    expect(new Set(users.map(({ id }) => id)).size).toBe(1);
  });

  it('keeps a deactivated user deactivated', async () => {
    const { upsert, setActive } = await cast();
    await upsert();
    await setActive({ externalId: 'u1' }, false);
    expect(await upsert({ fullName: 'Anna' })).toMatchObject({ isActive: false, fullName: 'Anna' });
  });

  it('separates realms', async () => {
    const { fixture, upsert } = await cast();
    const { realm: other } = await anotherRealm(fixture);
    const [here, there] = [await upsert(), await upsert({ realmId: other.id })];
    expect(here.id).not.toBe(there.id);
    expect(there.realmId).toBe(other.id);
  });

  it.each<[Partial<UpsertHostUserInput>, string]>([
    [{ externalId: '' }, 'INVALID_EXTERNAL_ID'],
    [{ externalId: 'x'.repeat(201) }, 'INVALID_EXTERNAL_ID'],
    [{ externalId: 'a\u0000' }, 'INVALID_EXTERNAL_ID'],
    [{ externalId: '\ud800' }, 'INVALID_EXTERNAL_ID'],
    [{ externalId: 'parley-visitor:1' }, 'INVALID_EXTERNAL_ID'],
    [{ fullName: ' ' }, 'INVALID_USER_NAME'],
    [{ fullName: '\u0000' }, 'INVALID_USER_NAME'],
    [{ email: 'ann' }, 'INVALID_EMAIL'],
    [{ email: 'hamlet@example.com' }, 'EMAIL_TAKEN'],
    [{ realmId: 99 as RealmId }, 'UNKNOWN_REALM'],
  ])('rejects %j', async (input, code) => {
    const { fixture, upsert } = await cast();
    await expectRefused(fixture, () => upsert(input), { code });
  });

  it('rejects a changed email that another user has', async () => {
    const { fixture, upsert } = await cast();
    await upsert();
    await expectRefused(fixture, () => upsert({ fullName: 'B', email: 'hamlet@example.com' }), { code: 'EMAIL_TAKEN' });
  });
});

describe('LinkHostUser', () => {
  it('assigns the external id to an existing user and publishes it once', async () => {
    const { fixture, realmId, link, upsert } = await cast();
    const hamlet = fixture.user('hamlet').id;
    await expectInSync(fixture, async () => {
      const linked = await link.execute({ realmId, externalId: 'u7', user: { userId: hamlet } });
      expect(linked.externalId).toBe('u7');
    });
    const { length } = fixture.storage.announced;
    await link.execute({ realmId, externalId: 'u7', user: { userId: hamlet } });
    expect(fixture.storage.announced).toHaveLength(length);
    expect((await upsert({ externalId: 'u7', fullName: 'Prince' })).id).toBe(hamlet);
  });

  it('rejects a second id, a taken id, and users that are unknown or in another realm', async () => {
    const { fixture, realmId, link, upsert } = await cast();
    await upsert();
    const { realm: other } = await anotherRealm(fixture);
    const user = { userId: fixture.user('hamlet').id };
    const linking = (input: object) => () => link.execute({ realmId, externalId: 'u1', user, ...input });
    await expectRefused(fixture, linking({}), { code: 'EXTERNAL_ID_TAKEN' });
    for (const externalId of ['', 'parley-visitor:1']) {
      await expectRefused(fixture, linking({ externalId }), { code: 'INVALID_EXTERNAL_ID' });
    }
    await expectRefused(fixture, linking({ externalId: 'x', user: { userId: 999 as UserId } }), {
      code: 'UNKNOWN_USER',
    });
    await expectRefused(fixture, linking({ externalId: 'x', realmId: other.id }), { code: 'UNKNOWN_USER' });
  });
});

describe('SetUserActive of the host application', () => {
  it('deactivates and reactivates users, including the last owner, idempotently', async () => {
    const { fixture, realmId, find, setActive } = await cast();
    for (const name of ['hamlet', 'owner']) {
      const user = { userId: fixture.user(name).id };
      for (const isActive of [false, false, true, true]) {
        await setActive(user, isActive);
        expect(await find.get(realmId, user)).toMatchObject({ isActive });
      }
    }
  });

  it('publishes the activation change', async () => {
    const { fixture, setActive } = await cast();
    const user = { userId: fixture.user('hamlet').id };
    for (const isActive of [false, true]) {
      fixture.storage.announced.length = 0;
      await setActive(user, isActive);
      const events = fixture.storage.announced.map(({ event }) => event);
      expect(events).toContainEqual({ type: 'user.activation_changed', userId: user.userId, isActive });
    }
  });

  it('rejects an unknown external id', async () => {
    const { fixture, setActive } = await cast();
    await expectRefused(fixture, () => setActive({ externalId: 'nobody' }, false), {
      code: 'UNKNOWN_USER',
      message: "There is no user with the external id 'nobody'.",
    });
  });
});

describe('IssueUserKey of the host application', () => {
  it('returns the same key until it is rotated', async () => {
    const { upsert, key } = await cast();
    await upsert();
    const ask = (rotate: boolean) => key({ externalId: 'u1' }, rotate);
    const first = await ask(false);
    expect(await ask(false)).toBe(first);
    const second = await ask(true);
    expect(second).not.toBe(first);
    expect(await ask(false)).toBe(second);
  });

  it('creates a key for a user without one', async () => {
    const { fixture, key } = await cast();
    const ask = () => key({ userId: fixture.user('hamlet').id }, false);
    const made = await ask();
    expect(made).not.toBe('');
    expect(await ask()).toBe(made);
  });

  it.each([false, true])('rejects unknown and deactivated users (rotate: %s)', async (rotate) => {
    const { fixture, upsert, key, setActive } = await cast();
    const user = { externalId: 'u1' };
    await expectRefused(fixture, () => key(user, rotate), { code: 'UNKNOWN_USER' });
    await upsert();
    await setActive(user, false);
    await expectRefused(fixture, () => key(user, rotate), { code: 'USER_DEACTIVATED' });
  });
});

describe('SetUserActive with bots', () => {
  it('deactivates bots with their owner and reactivates them only after the owner', async () => {
    const { fixture, setActive } = await cast();
    const [hamlet, helper] = ['hamlet', 'helper'].map((name) => ({ userId: fixture.user(name).id }));
    await setActive(hamlet!, false);
    const back = () => setActive(helper!, true);
    await expectRefused(fixture, back, { code: 'NOT_PERMITTED' });
    await setActive(hamlet!, true);
    expect(await back()).toBe(true);
  });
});

describe('FindHostUsers', () => {
  it('returns ids in the requested order and rejects the first unknown external id', async () => {
    const { realmId, upsert, find } = await cast();
    const ann = await upsert();
    const bob = await upsert({ externalId: 'u2', fullName: 'Bob' });
    expect(await find.getIds(realmId, ['u2', 'u1', 'u2'])).toEqual([bob.id, ann.id, bob.id]);
    await expect(find.getIds(realmId, ['u1', 'u3'])).rejects.toMatchObject({
      code: 'UNKNOWN_USER',
      message: "There is no user with the external id 'u3'.",
    });
    expect(await find.externalIdsOf(realmId, [ann.id, bob.id])).toEqual(
      new Map([
        [ann.id, 'u1'],
        [bob.id, 'u2'],
      ]),
    );
    expect(await find.find(realmId, { externalId: 'u3' })).toBeNull();
  });
});
