import {
  groupId,
  makeActor,
  makeChannel,
  makeGroup,
  makeMembership,
  makeRealm,
  makeUser,
  systemGroup,
  userId,
} from '@parley/testkit';
import fc from 'fast-check';
import type { Actor } from '../access/actor.js';
import { ROLES, type Role } from '../access/roles.js';
import { CHANNEL_PERMISSIONS, type ChannelPrivacy, TOPICS_POLICIES } from '../channels/channel.js';
import {
  canListSubscribers,
  canReadActive,
  canReadContent,
  canReadFullHistory,
  canSeeMetadata,
  hasChannelPermission,
} from '../channels/channel-access.js';
import { metadataUsers } from '../channels/channel-delivery.js';
import {
  canAddSubscribers,
  canArchiveChannel,
  canChangeChannel,
  canChangeChannelPermission,
  canChangePrivacy,
  canChangeTopicsPolicy,
  canCreateChannel,
  canMakeDefault,
  canRemoveSubscribers,
  canSetDeletePolicy,
  canStopBeingDefault,
  canSubscribeSelf,
} from '../channels/channel-permissions.js';
import { canPost, canSendDirect } from '../channels/post-permissions.js';
import { isInAudience } from '../composition/features.js';
import { GROUP_PERMISSIONS, type GroupPermission } from '../groups/group.js';
import {
  canAddMembers,
  canAddSubgroups,
  canCreateGroup,
  canDeactivateGroup,
  canManageGroup,
  canMentionGroup,
  canRemoveMembers,
  hasGroupPermission,
} from '../groups/group-permissions.js';
import { canInvite, canInviteAs, canInviteIntoChannels } from '../membership/invitations.js';
import {
  canChangeChannelOf,
  canChangeTopic,
  canDeleteMessage,
  canDeleteTopic,
  canMentionMany,
  canMoveWholeTopic,
  canReadMessage,
} from '../messages/message-permissions.js';
import { canAddCustomEmoji, canChangeRealm, hasRealmPermission } from '../realms/realm-permissions.js';
import { REALM_PERMISSIONS, type RealmPermission } from '../realms/realm-settings.js';
import { mayAccessUser } from '../users/accessible-users.js';
import { canCreateBot, canCreateUsers } from '../users/user-permissions.js';
import type { GroupId, MessageId } from './ids.js';
import type { Decision } from './permission.js';

const TEAMS = [50, 51, 52, 53].map(groupId);
const anyGroup = fc.constantFrom(...Object.values(systemGroup), ...TEAMS);

/** Generates arbitrary holders for all permissions. */
function permissionOverrides<P extends string>(
  registry: Readonly<Record<P, unknown>>,
): fc.Arbitrary<Record<P, GroupId>> {
  return fc.record(Object.fromEntries(Object.keys(registry).map((name) => [name, anyGroup]))) as never;
}

const anyChannel = fc
  .record({
    privacy: fc.constantFrom<ChannelPrivacy>('webPublic', 'public', 'privateSharedHistory', 'privateProtectedHistory'),
    isArchived: fc.boolean(),
    isDefault: fc.boolean(),
    topicsPolicy: fc.constantFrom(...TOPICS_POLICIES),
    permissionOverrides: permissionOverrides(CHANNEL_PERMISSIONS),
  })
  .map(makeChannel);

const anyWorld = fc.record({
  channel: anyChannel,
  other: anyChannel,
  realm: fc
    .record({
      permissionOverrides: permissionOverrides(REALM_PERMISSIONS),
      settings: fc.record({ enableSpectatorAccess: fc.boolean(), allowMessageEditing: fc.boolean() }),
    })
    .map(makeRealm),
  group: fc
    .record({ permissionOverrides: permissionOverrides(GROUP_PERMISSIONS), isDeactivated: fc.boolean() })
    .map(makeGroup),
  isSubscribed: fc.boolean(),
  isOwn: fc.boolean(),
  isNew: fc.boolean(),
  senderId: fc.constantFrom(userId(10), userId(20)),
  age: fc.constantFrom(0, 1000, 10_000_000),
  role: fc.constantFrom(...ROLES),
  permission: fc.constantFrom(...(Object.keys(CHANNEL_PERMISSIONS) as (keyof typeof CHANNEL_PERMISSIONS)[])),
});
type World = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never;

/** All rules that depend on permissions. */
const RULES: Readonly<Record<string, (actor: Actor, world: World) => Decision | boolean>> = {
  canSeeMetadata: (actor, { channel, isSubscribed }) => canSeeMetadata(actor, channel, isSubscribed),
  canReadContent: (actor, { channel, isSubscribed }) => canReadContent(actor, channel, isSubscribed),
  canReadActive: (actor, { channel, isSubscribed }) => canReadActive(actor, channel, isSubscribed),
  canReadFullHistory: (actor, { channel, isSubscribed }) => canReadFullHistory(actor, channel, isSubscribed),
  canListSubscribers: (actor, { channel, isSubscribed }) => canListSubscribers(actor, channel, isSubscribed),
  canReadMessage: (actor, { channel, isSubscribed, isOwn, isNew }) =>
    canReadMessage(actor, { message: { channelId: channel.id }, channel, isSubscribed, isOwn }, { modifying: isNew }),
  canCreateChannel: (actor, { channel, realm, isNew }) =>
    canCreateChannel(actor, realm, { ...channel, retentionChosen: isNew }, { webPublicEnabled: true }),
  canSubscribeSelf: (actor, { channel, isSubscribed }) => canSubscribeSelf(actor, channel, isSubscribed),
  canAddSubscribers: (actor, { channel, realm, isSubscribed }) =>
    canAddSubscribers(actor, realm, channel, isSubscribed),
  canRemoveSubscribers: (actor, { channel, other, isSubscribed }) =>
    canRemoveSubscribers(actor, [
      { channel, isSubscribed },
      { channel: other, isSubscribed: false },
    ]),
  canChangeChannel: (actor, { channel, isSubscribed }) => canChangeChannel(actor, channel, isSubscribed),
  canArchiveChannel: (actor, { channel, isSubscribed }) => canArchiveChannel(actor, channel, isSubscribed),
  canChangePrivacy: (actor, { channel, realm, isSubscribed, isNew }) =>
    canChangePrivacy(actor, realm, channel, isSubscribed, { isPrivate: isNew }, { webPublicEnabled: true }),
  canChangeTopicsPolicy: (actor, { channel, realm, isNew }) =>
    canChangeTopicsPolicy(actor, realm, channel.topicsPolicy, isNew),
  canChangeChannelPermission: (actor, { channel, realm, isSubscribed, permission }) =>
    canChangeChannelPermission(actor, realm, channel, isSubscribed, permission),
  canSetDeletePolicy: (actor, { realm }) => canSetDeletePolicy(actor, realm),
  canMakeDefault: (actor, { channel, isSubscribed }) => canMakeDefault(actor, channel, isSubscribed),
  canStopBeingDefault: (actor, { channel, isSubscribed }) => canStopBeingDefault(actor, channel, isSubscribed),
  canPost: (actor, { channel, realm, isSubscribed, isNew }) =>
    canPost(post(actor, channel, realm, isSubscribed, isNew)),
  canSendDirect: (actor, { realm, isOwn, isNew }) =>
    canSendDirect({
      sender: actor,
      recipients: [{ user: makeUser(), actor: makeActor('member'), address: 'x@y.z', sharesConversation: isOwn }],
      realm,
      nobodyGroupId: systemGroup.nobody,
      conversationExists: isNew,
    }),
  canChangeTopic: (actor, { channel, other, realm, age, isNew }) =>
    canChangeTopic(
      actor,
      realm,
      {
        message: { topic: 'plans', sentAt: 0 },
        topic: isNew ? '✔ plans' : 'deeds',
        source: channel,
        target: isNew ? other : null,
      },
      age,
    ),
  canChangeChannelOf: (actor, { channel, other, realm, age }) =>
    canChangeChannelOf(actor, null, realm, { message: { sentAt: 0 }, source: channel, target: other }, age),
  canMoveWholeTopic: (actor, { realm, age }) =>
    canMoveWholeTopic(
      actor,
      realm,
      { messages: [{ id: 1 as MessageId, sentAt: 0 }], isOtherTopic: true, isOtherChannel: true },
      age,
    ),
  canDeleteMessage: (actor, { channel, realm, senderId, age, isNew }) =>
    canDeleteMessage(
      actor,
      realm,
      { message: { senderId, sentAt: 0 }, senderOwnerId: null, channel: isNew ? channel : null },
      age,
    ),
  canDeleteTopic: (actor, { channel, isSubscribed }) => canDeleteTopic(actor, channel, isSubscribed),
  canMentionMany: (actor, { realm }) => canMentionMany(actor, realm, 'channel'),
  canMentionGroup: (actor, { group }) => canMentionGroup(actor, group),
  canCreateGroup: (actor, { realm }) => canCreateGroup(actor, realm),
  canManageGroup: (actor, { realm, group }) => canManageGroup(actor, realm, group),
  canDeactivateGroup: (actor, { realm, group }) => canDeactivateGroup(actor, realm, group),
  canAddMembers: (actor, { realm, group, senderId }) => canAddMembers(actor, realm, group, [senderId]),
  canRemoveMembers: (actor, { realm, group, senderId }) => canRemoveMembers(actor, realm, group, [senderId]),
  canAddSubgroups: (actor, { realm, group }) => canAddSubgroups(actor, realm, group),
  canInvite: (actor, { realm, isNew }) => canInvite(actor, realm, isNew ? 'link' : 'email'),
  canInviteAs: (actor, { role }) => canInviteAs(actor, role),
  canInviteIntoChannels: (actor, { channel, realm, isSubscribed }) =>
    canInviteIntoChannels(actor, realm, [{ id: channel.id, channel, isSubscribed }]),
  canChangeRealm: (actor, { isNew }) => canChangeRealm(actor, isNew ? ['inviteRequired'] : ['description']),
  canAddCustomEmoji: (actor, { realm }) => canAddCustomEmoji(actor, realm),
  canCreateBot: (actor, { realm, isNew }) => canCreateBot(actor, realm, isNew ? 'generic' : 'incomingWebhook'),
  canCreateUsers: (actor, { isNew }) => canCreateUsers(actor, isNew),
  mayAccessUser: (actor, { realm, isOwn }) => mayAccessUser(actor, makeUser(), { realm, sharesConversation: isOwn }),
};

function post(
  ...[sender, channel, realm, isSubscribed, topicExists]: [Actor, World['channel'], World['realm'], boolean, boolean]
) {
  return {
    sender,
    botOwner: null,
    channel,
    typedName: null,
    isSubscribed,
    isOwnerSubscribed: false,
    isSystemBot: false,
    topicExists,
    topic: 'plans',
    realm,
  };
}

const holds = (answer: Decision | boolean): boolean => (typeof answer === 'boolean' ? answer : answer.allowed);
const allowedRules = (actor: Actor, world: World): readonly string[] =>
  Object.keys(RULES).filter((name) => holds(RULES[name]!(actor, world)));

const anyTeams = fc.subarray([...TEAMS]);
const anyRole = fc.constantFrom(...ROLES);
const person = (role: Role, groups: readonly GroupId[], isFullMember: boolean) =>
  makeActor(role, { id: 10, groups, isFullMember });

describe('permission rule for random actors and settings', () => {
  it('keeps all permissions when a user joins a group', () => {
    fc.assert(
      fc.property(
        anyWorld,
        anyRole,
        anyTeams,
        fc.constantFrom(...TEAMS),
        fc.boolean(),
        (world, role, teams, one, full) => {
          const before = allowedRules(person(role, teams, full), world);
          const after = allowedRules(person(role, [...teams, one], full), world);
          expect(after).toEqual(expect.arrayContaining([...before]));
        },
      ),
      { numRuns: 120 },
    );
  });

  it('keeps all permissions when a user gets a higher role', () => {
    fc.assert(
      fc.property(anyWorld, fc.integer({ min: 1, max: 4 }), anyTeams, fc.boolean(), (world, rank, teams, full) => {
        const before = allowedRules(person(ROLES[rank]!, teams, full), world);
        const after = allowedRules(person(ROLES[rank - 1]!, teams, full), world);
        expect(after).toEqual(expect.arrayContaining([...before]));
      }),
      { numRuns: 120 },
    );
  });

  it('keeps all permissions when a user subscribes', () => {
    fc.assert(
      fc.property(anyWorld, anyRole, anyTeams, fc.boolean(), (world, role, teams, full) => {
        const actor = person(role, teams, full);
        const before = allowedRules(actor, { ...world, isSubscribed: false });
        const after = allowedRules(actor, { ...world, isSubscribed: true });
        expect(after).toEqual(expect.arrayContaining([...before]));
      }),
      { numRuns: 120 },
    );
  });

  it('denies guests every permission that excludes guests', () => {
    fc.assert(
      fc.property(anyWorld, ({ channel, realm, group }) => {
        const guest = person('guest', TEAMS, true);
        for (const [name, { allowEveryone }] of Object.entries(CHANNEL_PERMISSIONS)) {
          if (!allowEveryone)
            expect(hasChannelPermission(guest, channel, name as keyof typeof CHANNEL_PERMISSIONS)).toBe(false);
        }
        for (const [name, { allowEveryone }] of Object.entries(REALM_PERMISSIONS)) {
          if (!allowEveryone) expect(hasRealmPermission(guest, realm, name as RealmPermission)).toBe(false);
        }
        for (const [name, { allowEveryone }] of Object.entries(GROUP_PERMISSIONS)) {
          if (!allowEveryone) expect(hasGroupPermission(guest, group, name as GroupPermission)).toBe(false);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('grants every implied permission', () => {
    const implied = [
      ['canReadFullHistory', 'canReadContent'],
      ['canReadContent', 'canSeeMetadata'],
      ['canReadActive', 'canReadContent'],
      ['canReadMessage', 'canReadContent'],
      ['canListSubscribers', 'canSeeMetadata'],
      ['canSubscribeSelf', 'canReadContent'],
      ['canAddSubscribers', 'canSubscribeSelf'],
      ['canPost', 'canReadActive'],
      ['canArchiveChannel', 'canChangeChannel'],
      ['canChangeChannel', 'canSeeMetadata'],
      ['canDeactivateGroup', 'canManageGroup'],
      ['canManageGroup', 'canAddMembers'],
      ['canManageGroup', 'canRemoveMembers'],
    ] as const;
    fc.assert(
      fc.property(anyWorld, anyRole, anyTeams, fc.boolean(), (world, role, teams, full) => {
        const allowed = allowedRules(person(role, teams, full), world);
        for (const [strong, weak] of implied) {
          if (allowed.includes(strong)) expect(allowed).toContain(weak);
        }
      }),
      { numRuns: 120 },
    );
  });

  it('matches the audience of channel events with the users who see the channel', () => {
    fc.assert(
      fc.property(anyWorld, anyRole, anyTeams, fc.boolean(), ({ channel, isSubscribed }, role, teams, full) => {
        const actor = person(role, teams, full);
        const isReceiver = isInAudience(
          metadataUsers(channel),
          makeMembership(actor, { isSubscribed: () => isSubscribed }),
        );
        expect(isReceiver).toBe(canSeeMetadata(actor, channel, isSubscribed).allowed);
      }),
      { numRuns: 300 },
    );
  });
});
