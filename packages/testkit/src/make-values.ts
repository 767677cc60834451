import {
  type Actor,
  directSystemGroups,
  type GroupSettingDefinition,
  isAtLeast,
  type Role,
  SUBGROUP_OF,
  SYSTEM_GROUPS,
  type SystemGroupName,
  systemGroupTitle,
} from '@parley/domain/access';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  type ChannelPrivacy,
} from '@parley/domain/channels';
import { GROUP_PERMISSIONS, type Group, type GroupPermission } from '@parley/domain/groups';
import {
  type ChannelId,
  type Decision,
  type GroupId,
  type Membership,
  type RealmId,
  type RecipientId,
  settingValues,
  type UserId,
} from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';
import {
  REALM_PERMISSIONS,
  type Realm,
  type RealmPermission,
  type RealmSettings,
  STORED_REALM_SETTINGS,
  USER_SETTINGS,
  USUAL_REALM_IMAGES,
} from '@parley/domain/realms';
import type { User } from '@parley/domain/users';

// What permission rules read, made without any storage. Ids are small and speak for themselves in failures.

const realmId = 1 as RealmId;

export const groupId = (id: number) => id as GroupId;
export const userId = (id: number) => id as UserId;
export const channelId = (id: number) => id as ChannelId;

/** Ids of system groups: 1–8, in order of creation. */
export const systemGroup = Object.fromEntries(
  SYSTEM_GROUPS.map(({ name }, index) => [name, groupId(index + 1)]),
) as Readonly<Record<SystemGroupName, GroupId>>;

/** The system groups somebody of this role is in, directly or not. */
export function systemGroupsOfRole(role: Role, isFullMember = true): ReadonlySet<GroupId> {
  const groups = new Set<SystemGroupName>(directSystemGroups(role, isFullMember));
  for (const inner of groups) {
    for (const [outer, held] of Object.entries(SUBGROUP_OF)) if (held === inner) groups.add(outer as SystemGroupName);
  }
  return new Set([...groups].map((name) => systemGroup[name]));
}

export interface ActorFields {
  readonly id?: number;
  /** Beside the system groups of their role. */
  readonly groups?: readonly GroupId[];
  readonly isFullMember?: boolean;
  readonly isBot?: boolean;
  readonly botOwnerId?: number;
}

/** Somebody who asks; user 10, unless said otherwise. */
export function makeActor(role: Role, given: ActorFields = {}): Actor {
  const { id = 10, groups = [], isFullMember = true, botOwnerId } = given;
  return {
    id: userId(id),
    realmId,
    role,
    isBot: given.isBot ?? botOwnerId !== undefined,
    botOwnerId: botOwnerId === undefined ? null : userId(botOwnerId),
    groups: new Set([...systemGroupsOfRole(role, isFullMember), ...groups]),
  };
}

/** What audiences ask about somebody who subscribes to nothing, has no messages and knows everybody, unless `given`. */
export const makeMembership = (
  { id, role, groups }: Pick<Actor, 'id' | 'role' | 'groups'>,
  given: Partial<Membership> = {},
): Membership => ({
  isAmong: (ids) => ids.includes(id),
  hasQueue: () => false,
  hasRole: (minimum) => isAtLeast(role, minimum),
  isLimitedGuest: () => false,
  knows: () => true,
  isInGroup: (groupId) => groups.has(groupId),
  isSubscribed: () => false,
  holds: () => false,
  ...given,
});

/** A person, unless `bot` is given; user 20, a member. */
export function makeUser(given: Partial<User> = {}): User {
  return {
    id: userId(20),
    realmId,
    email: 'hamlet@example.com',
    fullName: 'Hamlet',
    role: 'member',
    isActive: true,
    isDeleted: false,
    joinedAt: 0,
    bot: null,
    avatar: { source: 'generated', version: 1 },
    specialPermissions: [],
    settings: settingValues(USER_SETTINGS, {}),
    editedSettings: [],
    version: 1,
    ...given,
  };
}

/** Channel 30, public, permissions at their defaults with nobody as its creator. */
export function makeChannel(
  given: Partial<Omit<Channel, 'permissions'>> & {
    readonly permissionOverrides?: Partial<Record<ChannelPermission, GroupId>>;
  } = {},
): Channel {
  const { permissionOverrides = {}, ...more } = given;
  return {
    id: channelId(30),
    realmId,
    recipientId: 31 as RecipientId,
    name: 'denmark',
    description: '',
    renderedDescription: '',
    privacy: 'public',
    isArchived: false,
    creatorId: null,
    createdAt: 0,
    messageRetentionDays: null,
    topicsPolicy: 'inherit',
    folderId: null,
    isDefault: false,
    isRecentlyActive: true,
    firstMessageId: null,
    permissions: { ...atDefaults(CHANNEL_PERMISSIONS), ...permissionOverrides },
    version: 1,
    ...more,
  };
}

/** Permissions and settings at their defaults. */
export function makeRealm(
  given: {
    readonly settings?: Partial<RealmSettings>;
    readonly permissionOverrides?: Partial<Record<RealmPermission, GroupId>>;
  } = {},
): Realm {
  return {
    id: realmId,
    stringId: 'zulip',
    isAtServerAddress: true,
    uuid: '00000000-0000-4000-8000-000000000000',
    name: 'Zulip',
    isDeactivated: false,
    createdAt: 0,
    settings: { ...settingValues(STORED_REALM_SETTINGS, {}), ...given.settings },
    renderedDescription: '',
    permissions: { ...atDefaults(REALM_PERMISSIONS), ...given.permissionOverrides },
    linkifiers: [],
    images: USUAL_REALM_IMAGES,
    userDefaults: settingValues(USER_SETTINGS, {}),
  };
}

type MessageToSend = Pick<
  NewMessage,
  'realmId' | 'senderId' | 'recipientId' | 'channelId' | 'topic' | 'content' | 'sentAt'
>;

/** Of plain text, by the web app, which nobody has read and nobody is mentioned in, unless `given`. */
export const makeNewMessage = (given: MessageToSend & Partial<NewMessage>): NewMessage => ({
  renderedContent: `<p>${given.content}</p>`,
  clientName: 'website',
  isMeMessage: false,
  mentionsChannel: false,
  hasLink: false,
  hasImage: false,
  hasAttachment: false,
  topicLinks: [],
  isReadByDefault: false,
  readBy: [],
  exceptions: new Map(),
  ...given,
});

/** Group 40, named, permissions at their defaults with nobody as its creator. */
export function makeGroup(
  given: Partial<Omit<Group, 'permissions'>> & {
    readonly permissionOverrides?: Partial<Record<GroupPermission, GroupId>>;
  } = {},
): Group {
  const { permissionOverrides = {}, ...more } = given;
  return {
    id: groupId(40),
    realmId,
    name: 'actors',
    description: '',
    systemName: null,
    isDeactivated: false,
    creatorId: null,
    createdAt: null,
    permissions: { ...atDefaults(GROUP_PERMISSIONS), ...permissionOverrides },
    ...more,
  };
}

export function makeSystemGroup(name: SystemGroupName): Group {
  return makeGroup({ id: systemGroup[name], systemName: name, name: systemGroupTitle(name) });
}

function atDefaults<P extends string>(
  registry: Readonly<Record<P, GroupSettingDefinition>>,
): Readonly<Record<P, GroupId>> {
  const permissionOverrides = {} as Record<P, GroupId>;
  for (const name of Object.keys(registry) as P[]) {
    const initial = registry[name].default;
    permissionOverrides[name] = systemGroup[initial === 'creator' ? 'nobody' : initial];
  }
  return permissionOverrides;
}

/** `yes`, or the refusal with its reason: `NOT_PERMITTED: Insufficient permission`. */
export function formatDecision(decision: Decision): string {
  return decision.allowed ? 'yes' : `${decision.code}: ${decision.message}`;
}

/**
 * A table of the contract as test rows, one for each cell: [head of the row, head of the column, cell]. Columns are
 * parted by `|`; the first line holds their heads.
 */
export function tableRows(table: string): readonly (readonly [string, string, string])[] {
  const [entries = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.flatMap(([row = '', ...values]) =>
    values.map((value, index) => [row, entries[index + 1]!, value] as const),
  );
}

/** The group that a permission under test is given to. */
export const TEAM = groupId(50);
export const inTeam = (role: Role) => makeActor(role, { groups: [TEAM] });
export const channelGranting = (permission: ChannelPermission, privacy: ChannelPrivacy = 'public') =>
  makeChannel({ privacy, permissionOverrides: { [permission]: TEAM } });

/** By the names that tables of tests have for kinds of channels. */
export const PRIVACY_BY_KIND: Readonly<Record<string, ChannelPrivacy>> = {
  'web-public': 'webPublic',
  public: 'public',
  'private, shared history': 'privateSharedHistory',
  'private, protected history': 'privateProtectedHistory',
};
