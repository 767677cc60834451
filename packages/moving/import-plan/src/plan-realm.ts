import {
  type GroupSettingDefinition,
  type GroupSettings,
  SUBGROUP_OF,
  SYSTEM_GROUPS,
  type SystemGroupName,
  systemGroupTitle,
} from '@parley/domain/access';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  INHERITED_NOTIFICATIONS,
  MAX_CHANNEL_DESCRIPTION_LENGTH,
  pickColors,
} from '@parley/domain/channels';
import { EXPORT_PARTS } from '@parley/domain/composition';
import { GROUP_PERMISSIONS, MAX_GROUP_DESCRIPTION_LENGTH, systemGroupsOf } from '@parley/domain/groups';
import {
  type ChannelFolderId,
  type ChannelId,
  escapeHtml,
  type GroupId,
  getOrThrow,
  type PersonCopy,
  type RealmCopy,
  settingValues,
  type UserId,
} from '@parley/domain/kernel';
import { REALM_PERMISSIONS, STORED_REALM_SETTINGS, USER_SETTINGS, USUAL_REALM_IMAGES } from '@parley/domain/realms';
import { SYSTEM_BOTS } from '@parley/domain/users';
import { systemBotCopy } from '@parley/export-files';
import type { EmojiCopy, GroupCopy, UserCopy } from '@parley/transfer/exports';
import { type ChannelRecord, cutName, printable } from '@parley/transfer/records';
import { PLANNED_REALM_ID } from './plan-files.js';
import type { PlannedPeople, PlannedUser } from './plan-people.js';
import type { PlannedEmoji, PlannedGroup, PlannedPlaces } from './plan-places.js';

export interface RealmSources {
  readonly stringId: string;
  /** True for an organization that exists already. */
  readonly isMerge: boolean;
  readonly name: string;
  readonly description: string;
  readonly createdAt: number;
  readonly now: number;
  readonly people: PlannedPeople;
  readonly places: PlannedPlaces;
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  readonly emoji: ReadonlyMap<string, PlannedEmoji>;
  readonly systemGroups: SystemGroupIds;
  /** True if people who are not in the source could read public channels, which therefore become private. */
  readonly isPublicRestricted: boolean;
  /** True if the export contains the file. */
  hasFile(id: string): boolean;
}

/** The import gives an organization with this id a new one if it is taken. */
const NO_UUID = '00000000-0000-4000-8000-000000000000';

const USER_DEFAULTS = settingValues(USER_SETTINGS, {});

type SystemGroupIds = Readonly<Record<SystemGroupName, GroupId>>;

/** Permissions by default; a creator gets none, because the source has no such permission. */
function permissionsOf<R extends Readonly<Record<string, GroupSettingDefinition>>>(
  systemGroups: SystemGroupIds,
  registry: R,
  chosen: { readonly [K in keyof R]?: SystemGroupName } = {},
): GroupSettings<R> {
  const permissions = Object.entries(registry).map(([name, definition]) => {
    const group = chosen[name] ?? (definition.default === 'creator' ? 'nobody' : definition.default);
    return [name, systemGroups[group]];
  });
  return Object.fromEntries(permissions) as GroupSettings<R>;
}

/** Returns the organization without messages, or only the new objects of an organization that exists already. */
export function realmCopyOf(sources: RealmSources): RealmCopy {
  const { stringId, name, description, createdAt, places, systemGroups, isMerge } = sources;
  const noData: Omit<RealmCopy, 'realm' | 'groups' | 'users' | 'channels' | 'conversations' | 'customEmoji'> =
    Object.assign({}, ...EXPORT_PARTS.realm.map(({ none }) => none));
  return {
    ...noData,
    realm: {
      id: PLANNED_REALM_ID,
      stringId,
      uuid: NO_UUID,
      name,
      createdAt,
      settings: { ...settingValues(STORED_REALM_SETTINGS, {}), description },
      images: USUAL_REALM_IMAGES,
      renderedDescription: paragraphOf(description),
      permissions: permissionsOf(systemGroups, REALM_PERMISSIONS),
      userDefaults: USER_DEFAULTS,
    },
    customEmoji: [...sources.emoji.values()].filter(isNew).map(emojiCopy),
    groups: [
      ...(isMerge ? [] : systemGroupCopies(sources)),
      ...[...sources.groups.values()].filter(isNew).map((group) => groupCopy(group, sources)),
    ],
    users: [
      ...(isMerge ? [] : SYSTEM_BOTS).map((bot, index) =>
        systemBotCopy(bot, { id: (index + 1) as UserId, realmId: PLANNED_REALM_ID, settings: USER_DEFAULTS }),
      ),
      ...sources.people.users.filter(isNew).map((user) => userCopy(user, sources)),
    ],
    channelFolders: places.folders.filter(isNew).map(({ id, name: folder }) => ({
      id: id as ChannelFolderId,
      realmId: PLANNED_REALM_ID,
      name: folder,
      description: '',
      renderedDescription: '',
      order: id,
      createdAt,
      creatorId: null,
      isArchived: false,
    })),
    channels: channelCopies(sources),
    conversations: places.conversations.filter(isNew).map(({ recipientId, userIds }) => ({ recipientId, userIds })),
  };
}

const isNew = ({ isExisting }: { readonly isExisting: boolean }): boolean => !isExisting;

const paragraphOf = (text: string): string => (text === '' ? '' : `<p>${escapeHtml(text)}</p>`);

const emojiCopy = ({ id, name }: PlannedEmoji): EmojiCopy => ({
  id,
  name,
  authorId: null,
  format: 'png',
  isAnimated: false,
  isDeactivated: false,
  fileName: `${id}.png`,
});

/** Returns the members of the system groups of a new organization, which has no waiting period. */
function systemGroupMembers({ people, now }: RealmSources): ReadonlyMap<SystemGroupName, readonly UserId[]> {
  const members = new Map<SystemGroupName, UserId[]>(SYSTEM_GROUPS.map(({ name }) => [name, []]));
  for (const user of people.users) {
    for (const name of systemGroupsOf(user, 0, now)) getOrThrow(members, name).push(user.id);
  }
  return members;
}

function systemGroupCopies(sources: RealmSources): readonly GroupCopy[] {
  const { systemGroups, createdAt } = sources;
  const members = systemGroupMembers(sources);
  return SYSTEM_GROUPS.map(({ name, description }) => ({
    id: systemGroups[name],
    realmId: PLANNED_REALM_ID,
    name: systemGroupTitle(name),
    description,
    systemName: name,
    isDeactivated: false,
    creatorId: null,
    createdAt,
    permissions: permissionsOf(systemGroups, GROUP_PERMISSIONS, {
      canLeave: 'nobody',
      canMention: 'nobody',
    }),
    memberIds: [...getOrThrow(members, name)],
    subgroupIds: SUBGROUP_OF[name] ? [systemGroups[SUBGROUP_OF[name]]] : [],
  }));
}

const groupCopy = (
  { id, name, members, record }: PlannedGroup,
  { createdAt, systemGroups }: RealmSources,
): GroupCopy => ({
  id,
  realmId: PLANNED_REALM_ID,
  name,
  description: cutName(printable(record.description ?? ''), MAX_GROUP_DESCRIPTION_LENGTH),
  systemName: null,
  isDeactivated: record.isDeactivated ?? false,
  creatorId: null,
  createdAt,
  permissions: permissionsOf(systemGroups, GROUP_PERMISSIONS),
  memberIds: [...members],
  subgroupIds: [] as GroupId[],
});

function userCopy(user: PlannedUser, { hasFile }: RealmSources): UserCopy {
  const { id, email, fullName, role, isActive, isBot, joinedAt, avatar } = user;
  const hasPicture = avatar !== null && hasFile(avatar);
  return {
    user: {
      id,
      realmId: PLANNED_REALM_ID,
      email,
      fullName,
      role,
      isActive,
      isDeleted: false,
      joinedAt,
      bot: isBot ? { kind: 'generic', ownerId: null, isSystem: false, defaultSendingChannelId: null } : null,
      avatar: hasPicture ? { source: 'uploaded', version: 1, key: '' } : { source: 'generated', version: 1 },
      specialPermissions: [],
      settings: USER_DEFAULTS,
      editedSettings: [],
      version: 1,
    },
    systemKind: null,
    botOptions: null,
  };
}

function channelCopies(sources: RealmSources): readonly Channel[] {
  const { places, people, createdAt, systemGroups } = sources;
  return places.channels.filter(isNew).map(({ id, recipientId, name, folderId, record }) => {
    const description = cutName(printable(record.description ?? ''), MAX_CHANNEL_DESCRIPTION_LENGTH);
    return {
      id,
      realmId: PLANNED_REALM_ID,
      recipientId,
      name,
      description,
      renderedDescription: paragraphOf(description),
      privacy: privacyOf(record, sources),
      isArchived: record.isArchived ?? false,
      creatorId: record.creator === undefined ? null : (people.find(record.creator)?.id ?? null),
      createdAt: Math.floor(record.createdAt ?? createdAt),
      messageRetentionDays: null,
      topicsPolicy: 'inherit',
      folderId: folderId as ChannelFolderId | null,
      isDefault: false,
      isRecentlyActive: true,
      firstMessageId: null,
      permissions: permissionsOf(
        systemGroups,
        CHANNEL_PERMISSIONS,
        record.isReadOnly ? { canSendMessage: 'administrators' } : {},
      ),
      version: 1,
    };
  });
}

export const privacyOf = (
  { privacy }: Pick<ChannelRecord, 'privacy'>,
  { isPublicRestricted }: Pick<RealmSources, 'isPublicRestricted'>,
): Channel['privacy'] => (privacy === 'public' && !isPublicRestricted ? 'public' : 'privateSharedHistory');

/** Yields the subscriptions of all people; other personal data has no source. */
export function* personCopies({ people, places }: Pick<RealmSources, 'people' | 'places'>): Generator<PersonCopy> {
  const nothing: Omit<PersonCopy, 'userId' | 'subscriptions' | 'botStorage'> = Object.assign(
    {},
    ...EXPORT_PARTS.people.map(({ none }) => none),
  );
  const channelIds = new Map<UserId, ChannelId[]>(people.users.map(({ id }) => [id, []]));
  for (const { id, members } of places.channels) {
    for (const userId of members) getOrThrow(channelIds, userId).push(id);
  }
  for (const { id: userId } of people.users) {
    const own = getOrThrow(channelIds, userId);
    const colors = pickColors(own, new Map(), []);
    const subscriptions = own.map((channelId) => ({
      realmId: PLANNED_REALM_ID,
      channelId,
      userId,
      isActive: true,
      color: getOrThrow(colors, channelId),
      isMuted: false,
      isPinned: false,
      notifications: INHERITED_NOTIFICATIONS,
    }));
    yield { ...nothing, userId, subscriptions, botStorage: [] };
  }
}
