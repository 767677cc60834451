import { ROLES, SYSTEM_GROUPS } from '@parley/domain/access';
import { CHANNEL_PERMISSIONS, type RetentionDays, TOPICS_POLICIES } from '@parley/domain/channels';
import { EXPORT_PARTS } from '@parley/domain/composition';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import {
  isSettingValue,
  type PersonCopy,
  type RealmCopy,
  type Registry,
  type SettingDefinition,
  type SettingValues,
  shape,
} from '@parley/domain/kernel';
import { htmlShape as html } from '@parley/domain/markdown';
import {
  REALM_PERMISSIONS,
  STORED_REALM_SETTINGS,
  USER_SETTINGS,
  USUAL_REALM_IMAGES,
  type UserSettingName,
} from '@parley/domain/realms';
import { SPECIAL_PERMISSIONS, SYSTEM_BOTS } from '@parley/domain/users';
import { excessOf } from './json.js';

export type Shape<T> = shape.Shape<T>;
export type Shaped<S> = shape.Shaped<S>;

export const {
  anyId,
  dictionary,
  flag,
  id,
  integer,
  list,
  moment,
  object,
  oneOf,
  orElse,
  orNull,
  printable,
  record,
  text,
  time,
  uuid,
  wrong,
} = shape;

const NAME = shape.name;

/** Shorter documents fit into memory regardless of their content. */
const ALWAYS_FITS = 16 * 1024 ** 2;

/** @throws DomainError INVALID_IMPORT */
export function parseJson(content: string, location: string): unknown {
  const excess = content.length > ALWAYS_FITS ? excessOf(content) : null;
  if (excess !== null) throw wrong(location, excess);
  try {
    return JSON.parse(content);
  } catch {
    throw wrong(location, 'is not JSON');
  }
}

/** Reads settings with valid values; missing and unknown ones get their default. */
export function settings<R extends Registry>(registry: R): Shape<SettingValues<R>> {
  return (value, location) => {
    const members = record(value, location);
    const read: Record<string, unknown> = {};
    for (const [name, definition] of Object.entries(registry) as [string, SettingDefinition][]) {
      const own = members[name];
      const isAllowed = own === undefined || own === definition.default || isSettingValue(definition, own);
      if (!isAllowed) throw wrong(`${location}.${name}`, 'has no such value');
      read[name] = own === undefined ? definition.default : own;
    }
    return read as SettingValues<R>;
  };
}

function permissions<R extends object>(registry: R): Shape<{ readonly [K in keyof R]: never }> {
  return (value, location) => {
    const members = record(value, location);
    const read = Object.keys(registry).map((name) => [name, anyId(members[name], `${location}.${name}`)]);
    return Object.fromEntries(read) as { readonly [K in keyof R]: never };
  };
}

/** Accepts names that older servers allowed. */
export const EMOJI_NAME: Shape<string> = (value, location) => {
  const name = text(100)(value, location);
  if (!/^[0-9a-z._-]+$/.test(name)) throw wrong(location, 'is not an emoji name');
  return name;
};

const customEmoji = object({
  id: anyId,
  name: EMOJI_NAME,
  authorId: orNull(anyId),
  format: oneOf('png', 'gif', 'webp'),
  isAnimated: flag,
  isDeactivated: flag,
  fileName: text(100),
});

const group = object({
  id: anyId,
  name: orNull(NAME),
  description: text(10_000),
  systemName: orNull(oneOf(...SYSTEM_GROUPS.map(({ name }) => name))),
  isDeactivated: flag,
  creatorId: orNull(anyId),
  createdAt: orNull(time),
  permissions: orNull(permissions(GROUP_PERMISSIONS)),
  memberIds: list(anyId),
  subgroupIds: list(anyId),
});

const bot = object({
  kind: oneOf('generic', 'incomingWebhook', 'outgoingWebhook', 'embedded'),
  ownerId: orNull(anyId),
  isSystem: flag,
  defaultSendingChannelId: orNull(integer),
});

export const webhookUrl: Shape<string> = (value, location) => {
  const url = text(10_000)(value, location);
  if (!/^https?:/i.test(url)) throw wrong(location, 'is not an address of the web');
  return url;
};

const user = object({
  user: object({
    id: anyId,
    email: printable,
    fullName: NAME,
    role: oneOf(...ROLES),
    isActive: flag,
    isDeleted: orElse(flag, false),
    joinedAt: time,
    bot: orNull(bot),
    avatar: object({ source: oneOf('gravatar', 'uploaded', 'generated'), version: integer }),
    specialPermissions: list(oneOf(...SPECIAL_PERMISSIONS), SPECIAL_PERMISSIONS.length),
    settings: settings(USER_SETTINGS),
    editedSettings: list(oneOf(...(Object.keys(USER_SETTINGS) as UserSettingName[])), 1000),
  }),
  systemKind: orNull(oneOf(...SYSTEM_BOTS.map(({ kind }) => kind))),
  botOptions: orNull(
    object({
      eventsChannelId: orNull(anyId),
      allPublicChannels: flag,
      webhook: orNull(object({ url: webhookUrl, interface: oneOf('generic', 'slack'), token: NAME })),
    }),
  ),
});

const retention: Shape<RetentionDays> = (value, path) => {
  if (value === 'forever') return value;
  const days = integer(value, path);
  if (days < 1) throw wrong(path, 'is not positive');
  return days;
};

const channel = object({
  id: anyId,
  recipientId: anyId,
  name: printable,
  description: text(10_000),
  renderedDescription: html,
  privacy: oneOf('webPublic', 'public', 'privateSharedHistory', 'privateProtectedHistory'),
  isArchived: flag,
  creatorId: orNull(anyId),
  createdAt: time,
  messageRetentionDays: orNull(retention),
  topicsPolicy: oneOf(...TOPICS_POLICIES),
  folderId: orNull(anyId),
  isDefault: flag,
  isRecentlyActive: flag,
  firstMessageId: orNull(anyId),
  permissions: permissions(CHANNEL_PERMISSIONS),
});

const image = object({ isUploaded: flag, version: integer });

const shapesOf = (
  parts: readonly { readonly shapes: Readonly<Record<string, Shape<unknown>>> }[],
): Readonly<Record<string, Shape<unknown>>> => Object.assign({}, ...parts.map(({ shapes }) => shapes));

const REALM_COPY = object({
  realm: object({
    id: anyId,
    stringId: NAME,
    uuid,
    name: NAME,
    createdAt: time,
    settings: settings(STORED_REALM_SETTINGS),
    // Missing in exports of earlier versions.
    images: orElse(object({ icon: image, logo: image, nightLogo: image }), USUAL_REALM_IMAGES),
    renderedDescription: html,
    permissions: permissions(REALM_PERMISSIONS),
    userDefaults: settings(USER_SETTINGS),
  }),
  // Missing in exports of earlier versions.
  customEmoji: orElse(list(customEmoji), []),
  groups: list(group),
  users: list(user),
  channels: list(channel),
  conversations: list(object({ recipientId: anyId, userIds: list(anyId, 100_000) })),
  ...shapesOf(EXPORT_PARTS.realm),
});

/** Reads the organization from `parley.json`. Realm ids are omitted, since nested parts get the id of their realm. */
export const realmCopy: Shape<RealmCopy> = (value, location) => REALM_COPY(value, location) as unknown as RealmCopy;

const notificationChoice = orNull(flag);

const PERSON_COPY = object({
  userId: anyId,
  subscriptions: list(
    object({
      channelId: anyId,
      isActive: flag,
      color: text(7),
      isMuted: flag,
      isPinned: flag,
      notifications: object({
        desktop: notificationChoice,
        audible: notificationChoice,
        push: notificationChoice,
        email: notificationChoice,
        wildcardMentions: notificationChoice,
      }),
    }),
  ),
  botStorage: orElse(list(object({ key: text(10_000_000), value: text(10_000_000) })), []),
  ...shapesOf(EXPORT_PARTS.people),
});

/** Reads a line of `parley-people.jsonl`. */
export const personCopy: Shape<PersonCopy> = (value, location) => PERSON_COPY(value, location) as unknown as PersonCopy;
