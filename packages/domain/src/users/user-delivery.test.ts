import {
  aRealmWith,
  aUser,
  createFixture,
  type MemoryFixture,
  receiverRequest,
  withLimitedGuests,
} from '@parley/testkit';
import type { ReceiverRequest } from '../kernel/delivery.js';
import type { DomainEvent } from '../kernel/event.js';
import type { EventNeeds, OnlineUser, QueueOwnerRights } from '../kernel/feature-types.js';
import type { EventSeq, GroupId, UserId } from '../kernel/ids.js';
import {
  announceExportConsent,
  atLeast,
  loadUserReceivers,
  loadUserRights,
  lookupGuest,
  needsUsers,
  signedOutUserIn,
  UserProjection,
} from './user-delivery.js';

const id = (number: number) => number as UserId;

describe('signedOutUserIn', () => {
  const userId = id(1);
  it.each<[string, unknown, object | null]>([
    ['a replaced API key', { type: 'user.api_key_replaced', userId }, { userId, reason: null }],
    ['ended sessions', { type: 'user.sessions_ended', userId }, { userId, reason: null }],
    [
      'a deactivation',
      { type: 'user.activation_changed', userId, isActive: false },
      { userId, reason: { code: 'USER_DEACTIVATED' } },
    ],
    ['a reactivation', { type: 'user.activation_changed', userId, isActive: true }, null],
    ['a change of role', { type: 'user.role_changed', userId, role: 'guest' }, null],
  ])('decides who is signed out by %s', (_title, event, expected) => {
    const signedOut = signedOutUserIn(event as DomainEvent);
    if (expected === null) expect(signedOut).toBeNull();
    else expect(signedOut).toMatchObject(expected);
  });
});

describe('needsUsers', () => {
  const access = { userIds: [id(2)], before: 1 as EventSeq };
  it.each<[string, EventNeeds, boolean, boolean]>([
    ['no users', {}, false, false],
    ['users', { userIds: [id(2)] }, true, false],
    ['users who became visible', { access }, true, true],
    ['users visible to a former limited guest', { access: { ...access, reach: 'widened' } }, true, true],
    ['emails', { addresses: { userIds: [id(2)], before: 'member' } }, true, true],
  ])('decides who needs a look-up for an event with %s', (_title, needs, limitedGuest, other) => {
    const owner = { userId: id(1), role: 'guest' } as const;
    expect([true, false].map((isLimitedGuest) => needsUsers(needs, { ...owner, isLimitedGuest }))).toEqual([
      limitedGuest,
      other,
    ]);
  });
});

describe('lookupGuest', () => {
  it.each<[boolean, number[], number[]]>([
    [true, [2], [1]],
    [true, [], []],
    [false, [2], []],
  ])('with limited access: %s, looks up the users %j for the guests %j', (isLimitedGuest, userIds, guestIds) => {
    const rights = { userId: id(1), isLimitedGuest } as QueueOwnerRights;
    expect(lookupGuest(rights, { userIds: userIds.map(id) })).toEqual({ guestIds });
  });
});

describe('loadUserRights', () => {
  it('returns the role and the access of active users only', async () => {
    const { uow, realm, user } = await createFixture(
      aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }),
      aUser({ name: 'guest', role: 'guest' }),
      aUser({ name: 'former', isActive: false }),
    );
    const load = (userId: UserId) => uow.read(realm.id, (r) => loadUserRights(r, realm.id, userId));
    expect(await load(user('guest').id)).toEqual({ role: 'guest', isLimitedGuest: true });
    expect(await load(user('former').id)).toBeNull();
    expect(await load(id(999))).toBeNull();
  });
});

describe('UserProjection', () => {
  const FULL_ACCESS = 90 as GroupId;
  const userIds = [id(9)];

  function aProjection(...online: readonly [number, OnlineUser['role']][]) {
    const users = new Map(online.map(([number, role]) => [id(number), { userId: id(number), role } as OnlineUser]));
    const permissions = { canAccessAllUsers: FULL_ACCESS } as never;
    const projection = new UserProjection({ permissions }, users, {
      groupsOf: (userId) => new Set(userId === id(7) ? [FULL_ACCESS] : []),
    });
    for (const user of users.values()) projection.add(user);
    return { projection, users };
  }

  it('looks up users only for online guests with limited access', () => {
    const { projection, users } = aProjection([1, 'member'], [2, 'guest'], [7, 'guest']);
    expect(projection.lookupUsers()).toEqual({ guestIds: [2] });
    expect([...projection.members.limitedGuests({ kind: 'limitedGuests' })]).toEqual([users.get(id(2))]);
    expect([...users.values()].map((user) => projection.ownerOf(user).isLimitedGuest)).toEqual([false, true, false]);
    expect([projection.concerns({ userIds }), projection.concerns({ userIds: [] }), projection.concerns({})]).toEqual([
      true,
      false,
      false,
    ]);
    projection.remove(users.get(id(2))!);
    expect([projection.lookupUsers(), projection.concerns({ userIds })]).toEqual([{ guestIds: [] }, false]);
  });

  it('follows changes of roles and of the permission', () => {
    const { projection, users } = aProjection([1, 'member'], [2, 'guest'], [7, 'guest']);
    const guests = (event: unknown) => {
      projection.fold(event as DomainEvent);
      return projection.lookupUsers().guestIds;
    };
    expect(guests({ type: 'user.role_changed', userId: id(2), role: 'member' })).toEqual([]);
    expect(guests({ type: 'user.role_changed', userId: id(1), role: 'guest' })).toEqual([1]);
    expect(guests({ type: 'user.role_changed', userId: id(99), role: 'guest' })).toEqual([1]);
    expect(guests({ type: 'user.activation_changed', userId: id(1), isActive: true })).toEqual([1]);
    expect(guests({ type: 'realm.permission_changed', permission: 'canCreateBots', groupId: 91 })).toEqual([1]);
    expect(guests({ type: 'channel.permission_changed', permission: 'canAccessAllUsers', groupId: 91 })).toEqual([1]);
    expect(guests({ type: 'realm.permission_changed', permission: 'canAccessAllUsers', groupId: 91 })).toEqual([7, 1]);
    expect([...users.values()].map(({ role }) => role)).toEqual(['guest', 'member', 'guest']);
  });
});

describe('loadUserReceivers', () => {
  const load = ({ uow, realm }: MemoryFixture, ...requests: readonly ReceiverRequest[]) =>
    uow.read(realm.id, (r) => loadUserReceivers(r, realm.id, requests));

  it('hides from a limited guest only the users that the event names', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    const [iago, hamlet] = [fixture.user('iago').id, fixture.user('hamlet').id];
    const named = receiverRequest(fixture, 'osric', { userIds: [iago, hamlet] });
    const { owner } = named;
    const receivers = await load(
      fixture,
      named,
      receiverRequest(fixture, 'polonius', { userIds: [hamlet] }),
      receiverRequest(fixture, 'hamlet', { userIds: [iago] }),
      // The role changed after the first event.
      { ...named, owner: { ...owner, role: 'member', isLimitedGuest: false } },
    );
    expect(receivers.map(({ role, inaccessible }) => [role, [...inaccessible]])).toEqual([
      ['guest', [iago, hamlet]],
      ['guest', [iago]],
      ['member', []],
      ['member', []],
    ]);
    const [, unnamed] = await load(fixture, named, receiverRequest(fixture, 'polonius', {}));
    expect([...unnamed!.inaccessible]).toEqual([]);
  });

  it('shows users to former limited guests and hides them from new ones, as of a logged event', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    const userIds = [fixture.user('iago').id];
    const seq = await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id));
    const access = { userIds, before: seq };
    const widened: EventNeeds = { access: { ...access, reach: 'widened' } };
    const narrowed: EventNeeds = { access: { ...access, reach: 'narrowed' } };
    const receivers = await load(
      fixture,
      receiverRequest(fixture, 'hamlet', widened, seq),
      receiverRequest(fixture, 'osric', narrowed, seq),
      receiverRequest(fixture, 'osric', { userIds }, seq),
      receiverRequest(fixture, 'hamlet', widened, null),
    );
    const changes = receivers.map(({ gained, lost }) => [gained.map((user) => user.id), lost]);
    expect(changes).toEqual([
      [userIds, []],
      [[], userIds],
      [[], []],
      [[], []],
    ]);
  });

  it('includes emails that became visible or hidden among those of the event', async () => {
    const fixture = await createFixture(...withLimitedGuests);
    const [iago, hamlet, polonius] = ['iago', 'hamlet', 'polonius'].map((name) => fixture.user(name));
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      for (const [user, visibility] of [
        [iago!, 'administrators'],
        [hamlet!, 'administrators'],
        [polonius!, 'everyone'],
      ] as const) {
        await tx.users.update({ ...user, settings: { ...user.settings, emailAddressVisibility: visibility } });
      }
    });
    const userIds = [hamlet!.id, polonius!.id];
    const receivers = await load(
      fixture,
      receiverRequest(fixture, 'iago', { addresses: { userIds, before: 'member' } }),
      receiverRequest(fixture, 'osric', { addresses: { userIds: [iago!.id], before: 'owner' } }),
      receiverRequest(fixture, 'iago', { userIds }),
    );
    expect(receivers.map(({ addressChanges }) => addressChanges.map(({ user, isSeen }) => [user.id, isSeen]))).toEqual([
      [[hamlet!.id, true]],
      [[iago!.id, false]],
      [],
    ]);
  });
});

describe('announceExportConsent', () => {
  it('publishes the consent of people, but not of bots, to administrators', async () => {
    const { uow, realm, user, storage } = await createFixture(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'bot', botOf: 'hamlet' }),
    );
    await uow.write(realm.id, async (tx) => {
      for (const name of ['hamlet', 'bot']) await announceExportConsent(tx, user(name));
    });
    expect(storage.announced).toMatchObject([
      {
        event: { type: 'user.export_consent_changed', userId: user('hamlet').id },
        audience: atLeast('administrator'),
      },
    ]);
  });
});
