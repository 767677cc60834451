import { channelId, groupId, makeActor, makeChannel, makeMembership, TEAM, tableRows, userId } from '@parley/testkit';
import fc from 'fast-check';
import type { Actor } from '../access/actor.js';
import { ROLES, type Role } from '../access/roles.js';
import { isInAudience } from '../composition/features.js';
import type { Audience } from '../kernel/event.js';
import type { Channel, ChannelPermission, ChannelPrivacy } from './channel.js';
import { canSeeMetadata } from './channel-access.js';
import { type ChangedUser, VisibilityForChangedUsers, visibilityOfChangedChannel } from './channel-delivery.js';

const OTHERS = groupId(51);

const PRIVACY: Readonly<Record<string, ChannelPrivacy>> = {
  'web-public': 'webPublic',
  public: 'public',
  private: 'privateSharedHistory',
  protected: 'privateProtectedHistory',
};

function visibilityFor(
  people: readonly ChangedUser[],
  channels: readonly Channel[],
  isSubscribed: (userId: number, channelId: number) => boolean,
) {
  const visibility = new VisibilityForChangedUsers(people, channels);
  for (const channel of channels) {
    const subscribers = people.flatMap(({ after }) => (isSubscribed(after.id, channel.id) ? [after.id] : []));
    visibility.add(channel, new Set(subscribers));
  }
  return visibility.change;
}

const isAmong = (audience: Audience, id: number): boolean =>
  audience.kind === 'users' && audience.ids.some((one) => one === id);

function isIn(audience: Audience, actor: Actor, isSubscribed: boolean): boolean {
  return isInAudience(audience, makeMembership(actor, { isSubscribed: () => isSubscribed }));
}

/** Returns `gains`, `keeps` and `loses`, each for one event, or `-` for none. */
function sight(before: Channel, after: Channel, actor: Actor, isSubscribed: boolean): string {
  const { gainers, keepers, losers } = visibilityOfChangedChannel(before, after);
  const is = (audience: Audience) => isIn(audience, actor, isSubscribed);
  return [is(gainers) && 'gains', is(keepers) && 'keeps', is(losers) && 'loses'].filter(Boolean).join(' ') || '-';
}

describe('channel visibility after a privacy change (channels §6.3)', () => {
  it.each(
    tableRows(`
      who                   | private to public | private to web-public | public to private | web-public to private | public to web-public | web-public to public | private to protected
      owner outside         | keeps             | keeps                 | keeps             | keeps                 | keeps                | keeps                | keeps
      administrator outside | keeps             | keeps                 | keeps             | keeps                 | keeps                | keeps                | keeps
      moderator outside     | gains             | gains                 | loses             | loses                 | keeps                | keeps                | -
      member outside        | gains             | gains                 | loses             | loses                 | keeps                | keeps                | -
      member inside         | keeps             | keeps                 | keeps             | keeps                 | keeps                | keeps                | keeps
      guest outside         | -                 | gains                 | -                 | loses                 | gains                | loses                | -
      guest inside          | keeps             | keeps                 | keeps             | keeps                 | keeps                | keeps                | keeps
    `),
  )('decides visibility for %s when a channel goes %s: %s', (who, change, expected) => {
    const [role, where] = who.split(' ');
    const [before, after] = change.split(' to ').map((kind) => makeChannel({ privacy: PRIVACY[kind]! }));
    expect(sight(before!, after!, makeActor(role as Role), where === 'inside')).toBe(expected);
  });
});

describe('channel visibility after a permission change (channels §6.3)', () => {
  it.each(
    tableRows(`
      permission           | given to a member | given to a guest | given to an administrator | taken from a member | taken from a subscriber
      canAddSubscribers    | gains             | -                | keeps                     | loses               | keeps
      canAdministerChannel | gains             | -                | keeps                     | loses               | keeps
      canSubscribe         | gains             | -                | keeps                     | loses               | keeps
      canSendMessage       | -                 | -                | keeps                     | -                   | keeps
      canRemoveSubscribers | -                 | -                | keeps                     | -                   | keeps
    `),
  )('decides visibility if %s of a private channel is %s: %s', (permission, change, expected) => {
    const of = (group: typeof TEAM) =>
      makeChannel({
        privacy: 'privateProtectedHistory',
        permissionOverrides: { [permission as ChannelPermission]: group },
      });
    const role = change.split(' ').at(-1)!.replace('subscriber', 'member') as Role;
    const actor = makeActor(role, { groups: [TEAM] });
    const [before, after] = change.startsWith('given') ? [of(OTHERS), of(TEAM)] : [of(TEAM), of(OTHERS)];
    expect(sight(before, after, actor, change.endsWith('subscriber'))).toBe(expected);
  });

  it('publishes one event if several permissions of a private channel change at once', () => {
    const of = (group: typeof TEAM) =>
      makeChannel({
        privacy: 'privateProtectedHistory',
        permissionOverrides: { canAddSubscribers: group, canAdministerChannel: group, canSubscribe: group },
      });
    const actor = makeActor('member', { groups: [TEAM] });
    expect(sight(of(OTHERS), of(TEAM), actor, false)).toBe('gains');
    expect(sight(of(TEAM), of(OTHERS), actor, false)).toBe('loses');
  });

  it('stays the same for a private channel if no permission changes', () => {
    const before = makeChannel({ privacy: 'privateProtectedHistory' });
    const { gainers, losers } = visibilityOfChangedChannel(before, { ...before, name: 'renamed' });
    expect([gainers, losers]).toEqual([{ kind: 'nobody' }, { kind: 'nobody' }]);
  });

  it('stays the same for a public channel', () => {
    const of = (group: typeof TEAM) => makeChannel({ permissionOverrides: { canSubscribe: group } });
    expect(sight(of(OTHERS), of(TEAM), makeActor('member', { groups: [TEAM] }), false)).toBe('keeps');
    expect(sight(of(OTHERS), of(TEAM), makeActor('guest', { groups: [TEAM] }), false)).toBe('-');
    const { gainers, losers } = visibilityOfChangedChannel(of(OTHERS), of(TEAM));
    expect([gainers, losers]).toEqual([{ kind: 'nobody' }, { kind: 'nobody' }]);
  });

  it('skips users unaffected by the change', () => {
    const { gainers, losers } = visibilityOfChangedChannel(makeChannel(), makeChannel({ name: 'renamed' }));
    expect([gainers, losers]).toEqual([{ kind: 'nobody' }, { kind: 'nobody' }]);
  });
});

describe('channel visibility after random changes', () => {
  const channel = fc
    .record({
      privacy: fc.constantFrom<ChannelPrivacy>(
        'webPublic',
        'public',
        'privateSharedHistory',
        'privateProtectedHistory',
      ),
      permissionOverrides: fc.record({
        canAddSubscribers: fc.constantFrom(TEAM, OTHERS),
        canAdministerChannel: fc.constantFrom(TEAM, OTHERS),
        canSubscribe: fc.constantFrom(TEAM, OTHERS),
        canSendMessage: fc.constantFrom(TEAM, OTHERS),
      }),
    })
    .map(makeChannel);
  const anybody = fc
    .record({ role: fc.constantFrom(...ROLES), groups: fc.subarray([TEAM, OTHERS]) })
    .map(({ role, groups }) => makeActor(role, { groups }));

  it('matches gainers and losers of a channel with their metadata access before and after', () => {
    fc.assert(
      fc.property(channel, channel, anybody, fc.boolean(), (before, after, actor, isSubscribed) => {
        const saw = canSeeMetadata(actor, before, isSubscribed).allowed;
        const sees = canSeeMetadata(actor, after, isSubscribed).allowed;
        const expected = sees ? (saw ? 'keeps' : 'gains') : saw ? 'loses' : '-';
        expect(sight(before, after, actor, isSubscribed)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('matches gained and lost channels of several users with their metadata access before and after', () => {
    const changed = fc.record({ before: anybody, after: anybody, subscribed: fc.subarray([0, 1, 2, 3, 4, 5]) });
    fc.assert(
      fc.property(
        fc.array(channel, { maxLength: 6 }),
        fc.array(changed, { minLength: 1, maxLength: 4 }),
        (channels, changes) => {
          const numbered = channels.map((one, index) => ({ ...one, id: channelId(index) }));
          const people = changes.map(({ before, after }, index) => ({
            before: { ...before, id: userId(index) },
            after: { ...after, id: userId(index) },
          }));
          const isSubscribed = (id: number, channel: number) => changes[id]!.subscribed.includes(channel);
          const { gained, lost } = visibilityFor(people, numbered, isSubscribed);
          const sees = (actor: Actor, one: Channel) =>
            canSeeMetadata(actor, one, isSubscribed(actor.id, one.id)).allowed;
          const toldTo = (seen: typeof gained, id: number) =>
            seen.flatMap(({ channels: some, audience }) => (isAmong(audience, id) ? some : [])).map((one) => one.id);
          for (const { before, after } of people) {
            const only = (now: Actor, then: Actor) =>
              numbered.filter((one) => sees(now, one) && !sees(then, one)).map((one) => one.id);
            expect(toldTo(gained, after.id).sort()).toEqual(only(after, before));
            expect(toldTo(lost, after.id).sort()).toEqual(only(before, after));
          }
          for (const seen of [gained, lost]) {
            expect(new Set(seen.map(({ audience }) => JSON.stringify(audience))).size).toBe(seen.length);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('channel visibility after a change of role or groups (channels §6.3)', () => {
  const open = makeChannel({ id: channelId(1) });
  const club = makeChannel({
    id: channelId(2),
    privacy: 'privateSharedHistory',
    permissionOverrides: { canSubscribe: TEAM },
  });
  const vault = makeChannel({ id: channelId(3), privacy: 'privateSharedHistory' });
  const all = [open, club, vault];
  const person = (id: number, before: Actor, after: Actor): ChangedUser => ({
    before: { ...before, id: userId(id) },
    after: { ...after, id: userId(id) },
  });
  const member = makeActor('member');
  const inTeam = makeActor('member', { groups: [TEAM] });
  const guest = makeActor('guest', { groups: [TEAM] });
  const admin = makeActor('administrator');
  const nowhere = () => false;
  const seen = (ids: readonly number[], ...channels: readonly Channel[]) => ({
    channels,
    audience: { kind: 'users', ids },
  });

  it.each<[string, ChangedUser, object[], object[]]>([
    ['a guest becomes a member', person(7, guest, inTeam), [seen([7], open, club)], []],
    ['a member becomes a guest', person(7, inTeam, guest), [], [seen([7], open, club)]],
    ['a member becomes an administrator', person(7, member, admin), [seen([7], club, vault)], []],
    ['an administrator becomes a member', person(7, admin, inTeam), [], [seen([7], vault)]],
    ['a member joins a team', person(7, member, inTeam), [seen([7], club)], []],
    ['nothing relevant changes', person(7, admin, makeActor('owner')), [], []],
  ])('%s and publishes one event each for gained and lost channels', (_, changed, gained, lost) => {
    expect(visibilityFor([changed], all, nowhere)).toEqual({ gained, lost });
  });

  it('combines users who gain or lose the same channels in one event', () => {
    const people = [
      person(9, member, inTeam),
      person(7, member, inTeam),
      person(8, inTeam, member),
      person(6, guest, member),
    ];
    expect(visibilityFor(people, all, nowhere)).toEqual({
      gained: [seen([6], open), seen([7, 9], club)],
      lost: [seen([8], club)],
    });
  });

  it('keeps subscribed channels visible after any change of role or groups', () => {
    const isInClub = (userId: number, channel: number) => userId === 7 && channel === club.id;
    expect(visibilityFor([person(7, guest, member), person(8, inTeam, guest)], [club], isInClub)).toEqual({
      gained: [],
      lost: [seen([8], club)],
    });
  });
  it('publishes a channel only to changed users without a subscription', () => {
    const people = [7, 8, 9].map((id) => person(id, member, inTeam));
    const [plans, news, chat] = [4, 5, 6].map((id) => ({ ...club, id: channelId(id) })) as [Channel, Channel, Channel];
    const visibility = new VisibilityForChangedUsers(people, [club, plans, news, chat]);
    // User 99 is subscribed, but was not changed.
    for (const [channel, subscribers] of [
      [club, [8, 9, 99]],
      [plans, [9, 7, 8]],
      [news, []],
      [chat, [99, 9, 8]],
    ] as const) {
      visibility.add(channel, subscribers.map(userId));
    }
    expect(visibility.change).toEqual({ gained: [seen([7], club, chat), seen([7, 8, 9], news)], lost: [] });
  });
});
