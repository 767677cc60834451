import { groupMembers } from '../access/group-delivery.js';
import { isAtLeast } from '../access/roles.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { isInAudience, parseAudience, questionsOf } from '../composition/features.js';
import { accessorsOf, atLeast, limitedGuests } from '../users/user-delivery.js';
import { mergeQuestions } from './delivery.js';
import { type Audience, allOf, anyOf, except, nobody, users, wholeRealm } from './event.js';
import type { Membership } from './feature-types.js';
import type { ChannelId, GroupId, MessageId, UserId } from './ids.js';

const holdersOf = (id: number): Audience => ({ kind: 'holders', messageId: id as MessageId });
const queue = (id: string): Audience => ({ kind: 'queue', id });
const channel = 5 as ChannelId;
const group = 6 as GroupId;
const user = (id: number) => id as UserId;

describe('parseAudience', () => {
  const all: Audience[] = [
    nobody,
    wholeRealm,
    users([]),
    users([user(1), user(2)]),
    atLeast('moderator'),
    subscribersOf(channel),
    groupMembers(group),
    holdersOf(7),
    accessorsOf(user(8)),
    limitedGuests,
    queue('abc'),
    anyOf(),
    anyOf(nobody, wholeRealm),
    allOf(limitedGuests, except(subscribersOf(channel), users([user(1)]))),
  ];

  it('restores every audience that was serialized', () => {
    for (const audience of all) expect(parseAudience(JSON.parse(JSON.stringify(audience)))).toEqual(audience);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a string', 'realm'],
    ['an audience without a kind', {}],
    ['an audience of unknown kind', { kind: 'friends' }],
    ['an audience with a kind of Object.prototype', { kind: 'constructor' }],
    ['an audience with a kind that is not a string', { kind: ['limitedGuests'] }],
    ['an unknown role', { kind: 'role', atLeast: 'king' }],
    ['invalid user ids', { kind: 'users', ids: [1, '2'] }],
    ['users that are not a list', { kind: 'users', ids: 1 }],
    ['a channel without an id', { kind: 'subscribers', channelId: '5' }],
    ['a nonpositive group id', { kind: 'group', id: 0 }],
    ['a fractional message id', { kind: 'holders', messageId: 1.5 }],
    ['a user without an id', { kind: 'accessors' }],
    ['a queue without an id', { kind: 'queue', id: 5 }],
    ['a union that is not a list', { kind: 'anyOf', of: {} }],
    ['an intersection with an invalid part', { kind: 'allOf', of: [{ kind: 'realm' }, null] }],
    ['a difference from an invalid audience', { kind: 'except', from: { kind: '?' }, without: { kind: 'realm' } }],
    ['a difference without an exception', { kind: 'except', from: { kind: 'realm' } }],
    ['a difference with an invalid exception', { kind: 'except', from: { kind: 'realm' }, without: 3 }],
  ])('rejects %s', (_, value) => {
    expect(parseAudience(value)).toBeNull();
  });

  it('rejects an audience that is nested too deeply', () => {
    let audience: Audience = wholeRealm;
    for (let n = 0; n < 16; n++) audience = anyOf(audience);
    expect(parseAudience(audience)).toBe(audience);
    expect(parseAudience(anyOf(audience))).toBeNull();
  });
});

describe('isInAudience', () => {
  const member: Membership = {
    isAmong: (ids) => ids.includes(user(1)),
    hasRole: (role) => isAtLeast('moderator', role),
    isLimitedGuest: () => false,
    isSubscribed: (id) => id === channel,
    isInGroup: (id) => id === group,
    holds: (id) => id === 7,
    knows: () => {
      throw new Error('asked of guests only');
    },
    hasQueue: (id) => id === 'mine',
  };
  const guest: Membership = {
    ...member,
    hasRole: (role) => role === 'guest',
    isLimitedGuest: () => true,
    knows: (id) => id === 8,
  };
  const isIn = (audience: Audience, who = member) => isInAudience(audience, who);

  it.each<[string, Audience, boolean]>([
    ['nobody', nobody, false],
    ['everybody', wholeRealm, true],
    ['named users', users([user(2), user(1)]), true],
    ['other users', users([user(2)]), false],
    ['a lower role', atLeast('member'), true],
    ['a higher role', atLeast('administrator'), false],
    ['their channel', subscribersOf(channel), true],
    ['another channel', subscribersOf(4 as ChannelId), false],
    ['their group', groupMembers(group), true],
    ['another group', groupMembers(4 as GroupId), false],
    ['holders of a message the user has', holdersOf(7), true],
    ['holders of another message', holdersOf(8), false],
    ['users with access to a user', accessorsOf(user(9)), true],
    ['limited guests', limitedGuests, false],
    ['their queue', queue('mine'), true],
    ['another queue', queue('yours'), false],
    ['one of two', anyOf(nobody, wholeRealm), true],
    ['one of none', anyOf(), false],
    ['both of two', allOf(nobody, wholeRealm), false],
    ['all of none', allOf(), true],
    ['everyone except another user', except(wholeRealm, users([user(2)])), true],
    ['everyone except the user', except(wholeRealm, users([user(1)])), false],
    ['only the user', except(nobody, users([user(2)])), false],
  ])('evaluates membership in: %s', (_, audience, expected) => {
    expect(isIn(audience)).toBe(expected);
  });

  it('includes a limited guest in the accessors of a user only if the guest can access that user', () => {
    expect([isIn(limitedGuests, guest), isIn(accessorsOf(user(8)), guest), isIn(accessorsOf(user(9)), guest)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('questionsOf', () => {
  it('lists each message and user once, regardless of nesting', () => {
    const audience = except(
      anyOf(holdersOf(7), allOf(accessorsOf(user(8)), wholeRealm), holdersOf(9)),
      anyOf(holdersOf(7), accessorsOf(user(8)), holdersOf(11)),
    );
    expect(questionsOf(audience)).toEqual({ messageIds: [7, 9, 11], userIds: [8] });
    expect(questionsOf(anyOf(holdersOf(7), holdersOf(9)))).toEqual({ messageIds: [7, 9] });
    expect(
      mergeQuestions([questionsOf(audience), questionsOf(holdersOf(9)), questionsOf(accessorsOf(user(1)))]),
    ).toEqual({
      messageIds: [7, 9, 11],
      userIds: [8, 1],
    });
  });

  it('returns no questions for an audience that needs no look-up', () => {
    for (const audience of [nobody, wholeRealm, users([user(1)]), limitedGuests, anyOf(wholeRealm)]) {
      expect(questionsOf(audience)).toEqual({});
    }
  });
});
