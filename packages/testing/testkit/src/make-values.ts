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

// Values read by permission rules, without storage. Ids are small so that failures are readable.

const realmId = 1 as RealmId;

export const groupId = (id: number) => id as GroupId;
export const userId = (id: number) => id as UserId;
export const channelId = (id: number) => id as ChannelId;

/** Ids of system groups: 1–8 in order of creation. */
export const systemGroup = Object.fromEntries(
  SYSTEM_GROUPS.map(({ name }, index) => [name, groupId(index + 1)]),
) as Readonly<Record<SystemGroupName, GroupId>>;

/** System groups of a role, direct and indirect. */
export function systemGroupsOfRole(role: Role, isFullMember = true): ReadonlySet<GroupId> {
  const groups = new Set<SystemGroupName>(directSystemGroups(role, isFullMember));
  for (const inner of groups) {
    for (const [outer, held] of Object.entries(SUBGROUP_OF)) if (held === inner) groups.add(outer as SystemGroupName);
  }
  return new Set([...groups].map((name) => systemGroup[name]));
}

export interface ActorFields {
  readonly id?: number;
  /** Groups in addition to the system groups of the role. */
  readonly groups?: readonly GroupId[];
  readonly isFullMember?: boolean;
  readonly isBot?: boolean;
  readonly botOwnerId?: number;
}

/** Creates an actor, by default user 10. */
export function makeActor(role: Role, overrides: ActorFields = {}): Actor {
  const { id = 10, groups = [], isFullMember = true, botOwnerId } = overrides;
  return {
    id: userId(id),
    realmId,
    role,
    isBot: overrides.isBot ?? botOwnerId !== undefined,
    botOwnerId: botOwnerId === undefined ? null : userId(botOwnerId),
    groups: new Set([...systemGroupsOfRole(role, isFullMember), ...groups]),
  };
}

/** Creates the membership for audiences, by default without subscriptions and messages and with access to all users. */
export const makeMembership = (
  { id, role, groups }: Pick<Actor, 'id' | 'role' | 'groups'>,
  overrides: Partial<Membership> = {},
): Membership => ({
  isAmong: (ids) => ids.includes(id),
  hasQueue: () => false,
  hasRole: (minimum) => isAtLeast(role, minimum),
  isLimitedGuest: () => false,
  knows: () => true,
  isInGroup: (groupId) => groups.has(groupId),
  isSubscribed: () => false,
  holds: () => false,
  ...overrides,
});

/** Creates a user, by default user 20, a human member. */
export function makeUser(overrides: Partial<User> = {}): User {
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
    ...overrides,
  };
}

/** Creates a channel, by default public channel 30 with default permissions and no creator. */
export function makeChannel(
  overrides: Partial<Omit<Channel, 'permissions'>> & {
    readonly permissionOverrides?: Partial<Record<ChannelPermission, GroupId>>;
  } = {},
): Channel {
  const { permissionOverrides = {}, ...more } = overrides;
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

/** Creates a realm with default permissions and settings. */
export function makeRealm(
  overrides: {
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
    settings: { ...settingValues(STORED_REALM_SETTINGS, {}), ...overrides.settings },
    renderedDescription: '',
    permissions: { ...atDefaults(REALM_PERMISSIONS), ...overrides.permissionOverrides },
    linkifiers: [],
    images: USUAL_REALM_IMAGES,
    userDefaults: settingValues(USER_SETTINGS, {}),
  };
}

type MessageToSend = Pick<
  NewMessage,
  'realmId' | 'senderId' | 'recipientId' | 'channelId' | 'topic' | 'content' | 'sentAt'
>;

/** Creates a message, by default plain text from the web app, unread and without mentions. */
export const makeNewMessage = (overrides: MessageToSend & Partial<NewMessage>): NewMessage => ({
  renderedContent: `<p>${overrides.content}</p>`,
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
  ...overrides,
});

/** Creates a group, by default named group 40 with default permissions and no creator. */
export function makeGroup(
  overrides: Partial<Omit<Group, 'permissions'>> & {
    readonly permissionOverrides?: Partial<Record<GroupPermission, GroupId>>;
  } = {},
): Group {
  const { permissionOverrides = {}, ...more } = overrides;
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

/** Formats a decision as `yes` or the error: `NOT_PERMITTED: Insufficient permission`. */
export function formatDecision(decision: Decision): string {
  return decision.allowed ? 'yes' : `${decision.code}: ${decision.message}`;
}

/**
 * Converts a table of the contract to test rows, one per cell: [row header, column header, cell]. Columns are
 * separated by `|`; the first line contains the headers.
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

/** Group to which a permission under test is granted. */
export const TEAM = groupId(50);
export const inTeam = (role: Role) => makeActor(role, { groups: [TEAM] });
export const channelGranting = (permission: ChannelPermission, privacy: ChannelPrivacy = 'public') =>
  makeChannel({ privacy, permissionOverrides: { [permission]: TEAM } });

/** Privacy by the channel kinds used in test tables. */
export const PRIVACY_BY_KIND: Readonly<Record<string, ChannelPrivacy>> = {
  'web-public': 'webPublic',
  public: 'public',
  'private, shared history': 'privateSharedHistory',
  'private, protected history': 'privateProtectedHistory',
};
