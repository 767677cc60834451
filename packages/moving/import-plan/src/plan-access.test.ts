import type { RealmCopy, UserId } from '@parley/domain/kernel';
import type { ExistingOrganization } from './existing-organization.js';
import { addedAccess, addedReaderError, outsidersOf, readersOfNew, sourceAccess, targetAccess } from './plan-access.js';
import type { PlannedPeople } from './plan-people.js';
import type { PlannedPlace, PlannedPlaces } from './plan-places.js';
import type { Staging } from './staging.js';

const [ann, bob, cem, dee, eve, fay] = [1, 2, 3, 4, 5, 6] as UserId[];
const IDS = { ann, bob, cem, dee, eve, fay } as Readonly<Record<string, UserId>>;

/** The ids of people are their names. */
const people = { get: (name: string) => ({ id: IDS[name]! }), former: new Set([dee]) } as unknown as PlannedPeople;

const user = (id: UserId, role = 'member', more = {}) => ({
  user: { id, role, isActive: true, bot: null, fullName: `User ${id}`, ...more },
});

describe('sourceAccess', () => {
  const person = (id: string, more = {}) => ({ record: { id, role: 'member', ...more } });
  const records: Readonly<Record<string, readonly object[]>> = {
    person: [
      ...[person('ann'), person('bob', { role: 'guest' }), person('cem', { isExternal: true })],
      ...[person('dee', { isDeactivated: true }), person('eve', { isBot: true }), person('fay', { role: 'owner' })],
    ],
    channel: [
      { record: { id: 'general', privacy: 'public', members: ['bob'] } },
      { record: { id: 'board', privacy: 'private', members: ['ann', 'fay'] } },
      { record: { id: 'dropped', privacy: 'public', members: [] } },
    ],
    conversation: [{ record: { id: 'lunch', members: ['ann', 'bob'] } }],
  };
  const staging = { list: (kind: string) => records[kind] } as unknown as Staging;
  const places = {
    findChannel: (id: string) => ({ general: { recipientId: 10 }, board: { recipientId: 11 } })[id],
    find: (key: string) => (key === 'd:lunch' ? { recipientId: 12 } : undefined),
  } as unknown as PlannedPlaces;

  it('counts members of the organization who can log in and are not guests', () => {
    expect([...sourceAccess(staging, people, places).fullMembers]).toEqual([ann, fay]);
  });

  it('names readers of planned channels and of direct conversations', () => {
    expect(sourceAccess(staging, people, places).conversations).toEqual(
      new Map([
        ['10', { isOpen: true, readers: new Set([bob]) }],
        ['11', { isOpen: false, readers: new Set([ann, fay]) }],
        ['12', { isOpen: false, readers: new Set([ann, bob]) }],
      ]),
    );
  });
});

const REALM = {
  users: [
    ...[user(ann!), user(bob!, 'guest'), user(cem!, 'member', { isActive: false })],
    ...[user(dee!, 'member', { bot: { kind: 'generic' } }), user(eve!, 'owner')],
  ],
  channels: [
    { id: 1, recipientId: 10, privacy: 'public' },
    { id: 2, recipientId: 11, privacy: 'privateSharedHistory' },
    { id: 3, recipientId: 12, privacy: 'webPublic' },
    { id: 4, recipientId: 13, privacy: 'privateProtectedHistory' },
  ],
  conversations: [{ recipientId: 14, userIds: [ann, cem, eve] }],
} as unknown as RealmCopy;

const subscribed = (userId: UserId, channels: readonly number[], left: readonly number[] = []) => ({
  userId,
  subscriptions: [
    ...channels.map((channelId) => ({ channelId, isActive: true })),
    ...left.map((channelId) => ({ channelId, isActive: false })),
  ],
});
const PEOPLE = [subscribed(ann!, [2], [4]), subscribed(bob!, [1, 2]), subscribed(cem!, [2])] as never;

describe('targetAccess', () => {
  it('counts active people who are not guests as full members', () => {
    expect([...targetAccess(REALM, []).fullMembers]).toEqual([ann, eve]);
  });

  it('names active subscribers of each channel and active participants of direct conversations', () => {
    expect(targetAccess(REALM, PEOPLE).conversations).toEqual(
      new Map([
        ['10', { isOpen: true, readers: new Set([bob]) }],
        ['11', { isOpen: false, readers: new Set([ann, bob]) }],
        ['12', { isOpen: true, readers: new Set() }],
        ['13', { isOpen: false, readers: new Set() }],
        ['14', { isOpen: false, readers: new Set([ann, eve]) }],
      ]),
    );
  });
});

describe('addedAccess', () => {
  it('names people who can read a conversation only after the import', () => {
    const before = targetAccess(REALM, PEOPLE);
    expect(addedAccess(before, REALM, PEOPLE)).toEqual([]);
    const more = [...(PEOPLE as unknown as object[]), subscribed(eve!, [2])] as never;
    expect(addedAccess(before, REALM, more)).toEqual([{ conversation: '11', person: eve }]);
  });
});

describe('outsidersOf', () => {
  it('names full members who were not members in the source', () => {
    const existing = { realm: REALM } as unknown as ExistingOrganization;
    expect(outsidersOf(existing, { fullMembers: new Set([ann!]), conversations: new Map() })).toEqual([eve]);
    expect(outsidersOf(existing, { fullMembers: new Set([ann!, eve!]), conversations: new Map() })).toEqual([]);
  });
});

describe('readersOfNew', () => {
  const access = { fullMembers: new Set([ann!]), conversations: new Map() };
  const channel = (id: number, more = {}): PlannedPlace =>
    ({ kind: 'channel', id, isExisting: true, isPublished: false, userIds: [dee], ...more }) as unknown as PlannedPlace;
  const conversation = {
    kind: 'conversation',
    id: 1,
    isExisting: true,
    userIds: [ann, dee],
  } as unknown as PlannedPlace;

  it.each<[string, readonly PlannedPlace[], readonly string[]]>([
    ['nothing grew', [], []],
    ['an earlier public channel grew', [channel(1)], ['User 5']],
    ['an earlier web-public channel grew', [channel(3)], ['User 5']],
    ['an earlier private channel grew', [channel(2)], []],
    ['a new channel grew', [channel(1, { isExisting: false })], []],
    ['a channel is published by the import', [channel(1, { isPublished: true })], []],
    ['a direct conversation with a former person grew', [conversation], ['User 4']],
    ['a conversation has the id of a public channel', [{ ...conversation, userIds: [] } as never], []],
    ['both grew', [channel(1), conversation], ['User 4', 'User 5']],
  ])('names readers that the source no longer had if %s', (_, grown, expected) => {
    const staging = {
      lastKnown: 7,
      all: (_sql: string, after: number) => (after === 7 ? grown.map((__, index) => ({ place: `${index}` })) : null),
    } as unknown as Staging;
    const places = { find: (key: string) => grown[Number(key)] } as unknown as PlannedPlaces;
    const existing = { realm: REALM } as unknown as ExistingOrganization;
    expect(readersOfNew(existing, access, { staging, people, places })).toEqual(expected);
  });
});

describe('addedReaderError', () => {
  it.each([
    [
      { fullName: 'Ann', email: 'ann@example.com' },
      { name: 'board' },
      'Ann (ann@example.com) could read the channel "board"',
    ],
    [undefined, undefined, 'Somebody could read a direct conversation'],
  ])('names the person and the place: %p, %p', (person, channel, expected) => {
    expect(addedReaderError(person as never, channel as never).message).toContain(`${expected} only after the import.`);
  });
});
