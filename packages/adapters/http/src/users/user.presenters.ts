import { isAtLeast, type Role } from '@parley/domain/access';
import type { RealmUrls, UserId } from '@parley/domain/kernel';
import { canonicalTimeZone } from '@parley/domain/realms';
import {
  type BotKind,
  canSeeEmail,
  dummyAddress,
  type GetOwnUserOutput,
  type GetUserOutput,
  type ProfileValue,
  publicAddress,
  type User,
} from '@parley/domain/users';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { type AvatarViewer, avatarUrl, mediumAvatarUrl, unknownAvatarUrl } from './avatar-urls.js';

export const ROLE = wire.oneOf(100, 200, 300, 400, 600);

/** Users §1.1. */
const USER = {
  user_id: wire.integer(),
  delivery_email: wire.nullable(wire.text()),
  email: wire.text(),
  full_name: wire.text(),
  date_joined: wire.text(),
  is_active: wire.optional(wire.boolean()),
  is_deleted: wire.optional(wire.boolean()),
  is_owner: wire.boolean(),
  is_admin: wire.boolean(),
  is_guest: wire.boolean(),
  is_bot: wire.boolean(),
  role: ROLE,
  timezone: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  avatar_version: wire.integer(),
  is_imported_stub: wire.boolean(),
  bot_type: wire.optional(wire.nullable(wire.integer())),
  bot_owner_id: wire.optional(wire.nullable(wire.integer())),
  is_system_bot: wire.optional(wire.boolean()),
  /** Only for users with an external id; never null. */
  external_id: wire.optional(wire.text()),
  profile_data: wire.optional(
    wire.dictionaryOf(wire.fields({ value: wire.text(), rendered_value: wire.optional(wire.text()) })),
  ),
};

export const user = wire.named('User', wire.fields(USER));

export const ONE_USER = wire.fields({ user });
/** Own user: the public fields plus the newest message id (users §1.1). */
export const OWN_USER = wire.fields({ ...USER, max_message_id: wire.integer() });
export const USER_LIST = wire.fields({ members: wire.listOf(user) });

/** User as shown to spectators, without a time zone (events §1). */
export const shownUser = wire.named('ShownUser', wire.fields({ ...USER, timezone: wire.optional(USER.timezone) }));
export const SHOWN_USERS = wire.fields({ members: wire.listOf(shownUser) });

/** Protocol §8.1. */
export const API_KEY = wire.fields({ api_key: wire.text(), email: wire.text(), user_id: wire.integer() });

/** Protocol §8.2. */
export const KEY_OF_TOKEN = wire.fields({
  api_key: wire.text(),
  email: wire.text(),
  user: wire.optional(user),
});

export const ROLE_NUMBERS: Readonly<Record<Role, number>> = {
  owner: 100,
  administrator: 200,
  moderator: 300,
  member: 400,
  guest: 600,
};

export const ROLES_BY_NUMBER: ReadonlyMap<number, Role> = new Map(
  (Object.keys(ROLE_NUMBERS) as Role[]).map((role) => [ROLE_NUMBERS[role], role]),
);

export const BOT_TYPES: Readonly<Record<BotKind, number>> = {
  generic: 1,
  incomingWebhook: 2,
  outgoingWebhook: 3,
  embedded: 4,
};

/** Viewer and client properties that determine a user's form. */
export interface UserForm {
  /** True if the viewer may see the address used for log-in. */
  readonly seesEmail: boolean;
  /** True if the client computes gravatar URLs itself. */
  readonly clientGravatar: boolean;
  readonly withProfile: boolean;
  /** True for spectators, who see no time zone and only the date of joining. */
  readonly forSpectators?: boolean;
  /** False if the list itself indicates activity; defaults to true. */
  readonly withActivity?: boolean;
  /** False for clients that reject unknown keys in events; defaults to true. */
  readonly withExternalId?: boolean;
}

/** User with an optional profile; absent if empty. */
export type PresentableUser = User & { readonly profile?: readonly ProfileValue[] };

/** Users §1.1. */
export function presentUser(
  user: PresentableUser,
  publicRealm: PublicRealm,
  {
    seesEmail,
    clientGravatar,
    withProfile,
    withActivity = true,
    forSpectators = false,
    withExternalId = true,
  }: UserForm,
) {
  const { bot, profile = [] } = user;
  return {
    user_id: user.id,
    delivery_email: seesEmail ? user.email : null,
    email: publicAddress(user, publicRealm.emailDomain),
    full_name: user.fullName,
    date_joined: forSpectators ? isoTime(user.joinedAt).slice(0, 10) : isoTime(user.joinedAt),
    ...(withActivity && { is_active: user.isActive }),
    ...(user.isDeleted && { is_deleted: true }),
    is_owner: user.role === 'owner',
    is_admin: isAtLeast(user.role, 'administrator'),
    is_guest: user.role === 'guest',
    is_bot: bot !== null,
    role: ROLE_NUMBERS[user.role],
    ...(!forSpectators && { timezone: canonicalTimeZone(user.settings.timezone) }),
    avatar_url: avatarUrl(user, publicRealm, { seesEmail, clientGravatar }),
    avatar_version: user.avatar.version,
    is_imported_stub: false,
    ...(bot && { bot_type: BOT_TYPES[bot.kind], bot_owner_id: bot.ownerId }),
    ...(bot?.isSystem && { is_system_bot: true }),
    ...(withExternalId && !forSpectators && user.externalId !== undefined && { external_id: user.externalId }),
    ...(!bot && withProfile && { profile_data: presentProfile(profile) }),
  };
}

/** Presents profile values as text by field id (users §1.1). */
const presentProfile = (profile: readonly ProfileValue[]): Readonly<Record<string, WireFields>> =>
  Object.fromEntries(profile.map(({ fieldId, value, rendered }) => [fieldId, presentProfileValue(value, rendered)]));

export const presentProfileValue = <V extends string | null>(value: V, rendered: string | null) => ({
  value,
  ...(rendered && { rendered_value: rendered }),
});

/** Name shown for a user whom the viewer may not access (users §1.4). */
export const UNKNOWN_USER_NAME = 'Unknown user';

const AVATAR_SOURCES = { gravatar: 'G', generated: 'J', uploaded: 'U' } as const;

/** Presents an avatar for events §7.3 and for the own user in register. */
export const presentAvatar = (user: User, publicRealm: PublicRealm, viewer: AvatarViewer) => ({
  avatar_source: AVATAR_SOURCES[user.avatar.source],
  avatar_url: avatarUrl(user, publicRealm, viewer),
  avatar_url_medium: mediumAvatarUrl(user, publicRealm, viewer),
  avatar_version: user.avatar.version,
});

/** Presents a user whom the viewer may not access, for clients that expect to know all users (users §1.4). */
export function presentUnknownUser(
  id: UserId,
  publicRealm: PublicRealm,
  { withActivity }: Pick<UserForm, 'withActivity'>,
) {
  return {
    user_id: id,
    delivery_email: null,
    email: dummyAddress(id, publicRealm.emailDomain),
    full_name: UNKNOWN_USER_NAME,
    date_joined: isoTime(0),
    ...(withActivity && { is_active: true }),
    is_owner: false,
    is_admin: false,
    is_guest: false,
    is_bot: false,
    role: ROLE_NUMBERS.member,
    timezone: '',
    avatar_url: unknownAvatarUrl(publicRealm),
    avatar_version: 1,
    is_imported_stub: false,
    profile_data: {},
  };
}

/** Writes a time with offset, which every client can parse: `2019-10-20T07:50:00+00:00`. */
const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00');

export function presentGetUser(
  { user, viewer, realm }: GetUserOutput,
  dto: { readonly client_gravatar: boolean; readonly include_custom_profile_fields: boolean },
  realmUrls: RealmUrls,
): WireFields {
  return {
    user: presentUser(user, publicRealmOf(realm, realmUrls), {
      seesEmail: canSeeEmail(viewer, user),
      clientGravatar: dto.client_gravatar,
      withProfile: dto.include_custom_profile_fields,
    }),
  };
}

/** Presents the caller's own account with every field; only old clients use the newest message id. */
export function presentOwnUser({ user, realm, newestMessageId }: GetOwnUserOutput, realmUrls: RealmUrls) {
  return {
    ...presentUser(user, publicRealmOf(realm, realmUrls), {
      seesEmail: true,
      clientGravatar: false,
      withProfile: true,
    }),
    max_message_id: newestMessageId ?? -1,
  };
}
