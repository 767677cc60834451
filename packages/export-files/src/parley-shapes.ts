import { ROLES, SYSTEM_GROUPS } from '@parley/domain/access';
import { CHANNEL_PERMISSIONS, TOPICS_POLICIES } from '@parley/domain/channels';
import type { PersonCopy, RealmCopy } from '@parley/domain/exports';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import {
  DomainError,
  isSettingValue,
  type Registry,
  type SettingDefinition,
  type SettingValues,
  type UserId,
} from '@parley/domain/kernel';
import {
  REALM_PERMISSIONS,
  STORED_REALM_SETTINGS,
  USER_SETTINGS,
  USUAL_REALM_IMAGES,
  type UserSettingName,
} from '@parley/domain/realms';
import { SYSTEM_BOTS } from '@parley/domain/users';
import { excessOf } from './json.js';
import { isSafeHtml } from './safe-html.js';

/** Reads a value of an untrusted document. @throws DomainError INVALID_IMPORT with the position of the error */
export type Shape<T> = (value: unknown, location: string) => T;

export type Shaped<S> = S extends Shape<infer T> ? T : never;

/** Positions contain keys, which may be arbitrarily long. */
const MAX_LOCATION_LENGTH = 300;

export const wrong = (location: string, what: string): DomainError =>
  new DomainError('INVALID_IMPORT', `${location.slice(0, MAX_LOCATION_LENGTH)} ${what}.`);

export const text =
  (max = 1_000_000): Shape<string> =>
  (value, location) => {
    if (typeof value !== 'string') throw wrong(location, 'is not a text');
    if (value.length > max) throw wrong(location, 'is too long');
    return value;
  };

export const flag: Shape<boolean> = (value, location) => {
  if (typeof value !== 'boolean') throw wrong(location, 'is neither true nor false');
  return value;
};

export const number: Shape<number> = (value, location) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(location, 'is not a number');
  return value;
};

export const integer: Shape<number> = (value, location) => {
  if (!Number.isSafeInteger(value)) throw wrong(location, 'is not an integer');
  return value as number;
};

/** Reads an id of the requested type. */
export const id =
  <Id extends number>(): Shape<Id> =>
  (value, location) => {
    if (!Number.isSafeInteger(value) || (value as number) <= 0) throw wrong(location, 'is not an id');
    return value as Id;
  };

/** End of the year 9999; not every client can display later times. */
const LAST_SECOND = 253_402_300_799;

/** Reads seconds since 1970 with fractions. */
export const moment: Shape<number> = (value, location) => {
  const seconds = number(value, location);
  if (seconds < 0 || seconds > LAST_SECOND) throw wrong(location, 'is no time of the years 1970 to 9999');
  return seconds;
};

/** Reads a time as whole seconds. */
export const time: Shape<number> = (value, location) => Math.floor(moment(value, location));

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, location) =>
    value === null || value === undefined ? null : shape(value, location);

export const orElse =
  <T>(shape: Shape<T>, otherwise: T): Shape<T> =>
  (value, location) =>
    value === undefined || value === null ? otherwise : shape(value, location);

export const oneOf =
  <const T extends string | number>(...values: readonly T[]): Shape<T> =>
  (value, location) => {
    if (!values.includes(value as T)) throw wrong(location, `is none of ${values.join(', ')}`);
    return value as T;
  };

export const list =
  <T>(shape: Shape<T>, max = 10_000_000): Shape<T[]> =>
  (value, location) => {
    if (!Array.isArray(value)) throw wrong(location, 'is not a list');
    if (value.length > max) throw wrong(location, `has more than ${max} members`);
    return value.map((member, index) => shape(member, `${location}[${index}]`));
  };

/** Reads an object and drops unknown members. */
export const object =
  <S extends Readonly<Record<string, Shape<unknown>>>>(shapes: S): Shape<{ readonly [K in keyof S]: Shaped<S[K]> }> =>
  (value, location) => {
    const members = record(value, location);
    const read: Record<string, unknown> = {};
    for (const name in shapes) read[name] = shapes[name]!(members[name], `${location}.${name}`);
    return read as { readonly [K in keyof S]: Shaped<S[K]> };
  };

/** Reads an object with any members. */
export const record: Shape<Readonly<Record<string, unknown>>> = (value, location) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(location, 'is not an object');
  return value as Readonly<Record<string, unknown>>;
};

/** Reads an object with any keys and values of one shape. */
export const dictionary =
  <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (value, location) =>
    Object.fromEntries(
      Object.entries(record(value, location)).map(([name, member]) => [name, shape(member, `${location}.${name}`)]),
    );

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

const NAME = text(1000);
const anyId = id<never>();

/** Reads settings with valid values; missing and unknown ones get their default. */
export function settings<R extends Registry>(registry: R): Shape<SettingValues<R>> {
  return (value, location) => {
    const members = record(value, location);
    const read: Record<string, unknown> = {};
    for (const [name, definition] of Object.entries(registry) as [string, SettingDefinition][]) {
      const own = members[name];
      const isKnown = own === undefined || own === definition.default || isSettingValue(definition, own);
      if (!isKnown) throw wrong(`${location}.${name}`, 'has no such value');
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

const html: Shape<string> = (value, location) => {
  const members = text()(value, location);
  if (!isSafeHtml(members)) throw wrong(location, 'is HTML that is not safe');
  return members;
};

/** Accepts names that older servers allowed. */
export const EMOJI_NAME: Shape<string> = (value, location) => {
  const name = text(100)(value, location);
  if (!/^[0-9a-z._-]+$/.test(name)) throw wrong(location, 'is no name of an emoji');
  return name;
};

const emoji = { type: oneOf('unicode', 'custom', 'extra'), code: NAME, name: NAME };
export const EMOJI = object(emoji);

const customEmoji = object({
  id: anyId,
  name: EMOJI_NAME,
  authorId: orNull(anyId),
  format: oneOf('png', 'gif', 'webp'),
  isAnimated: flag,
  isDeactivated: flag,
  fileName: text(100),
});

const linkifier = object({
  id: integer,
  pattern: text(10_000),
  urlTemplate: text(10_000),
  exampleInput: orNull(text(10_000)),
  reverseTemplate: orNull(text(10_000)),
  alternativeUrlTemplates: list(text(10_000), 1000),
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

const user = object({
  user: object({
    id: anyId,
    email: text(1000),
    fullName: NAME,
    role: oneOf(...ROLES),
    isActive: flag,
    isDeleted: orElse(flag, false),
    joinedAt: time,
    bot: orNull(bot),
    avatar: object({ source: oneOf('gravatar', 'uploaded', 'generated'), version: integer }),
    specialPermissions: list(oneOf('canCreateUsers', 'canChangeUserEmails'), 2),
    settings: settings(USER_SETTINGS),
    editedSettings: list(oneOf(...(Object.keys(USER_SETTINGS) as UserSettingName[])), 1000),
  }),
  systemKind: orNull(oneOf(...SYSTEM_BOTS.map(({ kind }) => kind))),
  botOptions: orNull(
    object({
      eventsChannelId: orNull(anyId),
      allPublicChannels: flag,
      webhook: orNull(object({ url: text(10_000), interface: oneOf('generic', 'slack'), token: NAME })),
    }),
  ),
});

const channel = object({
  id: anyId,
  recipientId: anyId,
  name: NAME,
  description: text(10_000),
  renderedDescription: html,
  privacy: oneOf('webPublic', 'public', 'privateSharedHistory', 'privateProtectedHistory'),
  isArchived: flag,
  creatorId: orNull(anyId),
  createdAt: time,
  messageRetentionDays: orNull(integer),
  topicsPolicy: oneOf(...TOPICS_POLICIES),
  folderId: orNull(anyId),
  isDefault: flag,
  isRecentlyActive: flag,
  firstMessageId: orNull(anyId),
  permissions: permissions(CHANNEL_PERMISSIONS),
});

const image = object({ isUploaded: flag, version: integer });

const REALM_COPY = object({
  realm: object({
    id: anyId,
    stringId: NAME,
    uuid: text(100),
    name: NAME,
    createdAt: time,
    settings: settings(STORED_REALM_SETTINGS),
    // Missing in exports of earlier versions.
    images: orElse(object({ icon: image, logo: image, nightLogo: image }), USUAL_REALM_IMAGES),
    renderedDescription: html,
    permissions: permissions(REALM_PERMISSIONS),
    userDefaults: settings(USER_SETTINGS),
  }),
  linkifiers: list(linkifier, 10_000),
  playgrounds: list(object({ id: integer, name: NAME, language: NAME, urlTemplate: text(10_000) }), 10_000),
  allowedDomains: list(object({ id: integer, domain: NAME, allowsSubdomains: flag }), 10_000),
  // Missing in exports of earlier versions.
  customEmoji: orElse(list(customEmoji), []),
  groups: list(group),
  users: list(user),
  profileFields: list(
    object({
      id: anyId,
      kind: oneOf('shortText', 'longText', 'choice', 'date', 'link', 'users', 'externalAccount', 'pronouns'),
      order: integer,
      name: NAME,
      hint: NAME,
      data: dictionary((value, location) =>
        typeof value === 'string' ? text(10_000)(value, location) : dictionary(text(10_000))(value, location),
      ),
      isRequired: flag,
      isEditableByUser: flag,
      isForMatching: flag,
      isInSummary: flag,
    }),
    1000,
  ),
  channelFolders: list(
    object({
      id: anyId,
      name: NAME,
      description: text(10_000),
      renderedDescription: html,
      order: integer,
      createdAt: time,
      creatorId: orNull(anyId),
      isArchived: flag,
    }),
    100_000,
  ),
  channels: list(channel),
  defaultChannelGroups: list(
    object({ id: anyId, name: NAME, description: text(10_000), channelIds: list(anyId) }),
    10_000,
  ),
  conversations: list(object({ recipientId: anyId, userIds: list(anyId, 100_000) })),
});

/** Reads the organization from `parley.json`. Realm ids are omitted, since parts get the id of their realm. */
export const realmCopy: Shape<RealmCopy> = (value, location) => REALM_COPY(value, location) as unknown as RealmCopy;

const notificationChoice = orNull(flag);
const content = text(1_000_000);

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
  topicPolicies: list(
    object({
      channelId: anyId,
      topic: NAME,
      visibility: oneOf('inherit', 'muted', 'unmuted', 'followed'),
      changedAt: time,
    }),
  ),
  profile: list(object({ fieldId: anyId, value: text(100_000), rendered: orNull(html) }), 1000),
  status: orNull(object({ text: NAME, emoji: orNull(EMOJI) })),
  presence: orNull(object({ lastActive: orNull(time), lastConnected: time })),
  alertWords: list(NAME, 100_000),
  drafts: list(
    object({
      id: anyId,
      to: ((value, location) => {
        const kind = oneOf('channel', 'direct', 'nobody')(record(value, location).kind, `${location}.kind`);
        if (kind === 'nobody') return { kind };
        if (kind === 'direct') return { kind, ...object({ userIds: list(anyId, 100_000) })(value, location) };
        return { kind, ...object({ channelId: anyId, topic: NAME })(value, location) };
      }) satisfies Shape<object>,
      content,
      editedAt: ((value, location) => {
        if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(location, 'is not a time');
        return value;
      }) satisfies Shape<number>,
    }),
    100_000,
  ),
  snippets: list(object({ id: anyId, title: NAME, content, createdAt: time }), 100_000),
  navigationViews: list(object({ fragment: text(10_000), isPinned: flag, name: orNull(NAME) }), 100_000),
  onboardingSteps: list(NAME, 1000),
  mutedUsers: list(object({ userId: id<UserId>(), mutedAt: time }), 100_000),
  scheduledMessages: list(
    object({
      id: anyId,
      to: ((value, location) => {
        const kind = oneOf('channelId', 'userIds')(record(value, location).kind, `${location}.kind`);
        return kind === 'channelId'
          ? { kind, ...object({ id: anyId })(value, location) }
          : { kind, ...object({ ids: list(anyId, 100_000) })(value, location) };
      }) satisfies Shape<object>,
      topic: NAME,
      content,
      renderedContent: html,
      dueAt: time,
      clientName: NAME,
      isReadBySender: flag,
      status: oneOf('waiting', 'failed', 'sent'),
      failure: orNull(text(10_000)),
    }),
    100_000,
  ),
  reminders: list(
    object({
      id: anyId,
      messageId: anyId,
      note: text(10_000),
      content,
      renderedContent: html,
      dueAt: time,
      failure: orNull(text(10_000)),
    }),
    100_000,
  ),
  botStorage: orElse(list(object({ key: text(10_000_000), value: text(10_000_000) })), []),
});

/** Reads a line of `parley-people.jsonl`. */
export const personCopy: Shape<PersonCopy> = (value, location) => PERSON_COPY(value, location) as unknown as PersonCopy;
