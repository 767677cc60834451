import { isAtLeast, type Role } from '@parley/domain/access';
import type { RealmUrls, UserId } from '@parley/domain/kernel';
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
import { type PublicRealm, publicRealmOf } from '../kernel/public-realm.js';
import type { WireFields } from '../kernel/reply.js';
import * as wire from '../kernel/wire-schema.js';
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
  profile_data: wire.optional(
    wire.dictionaryOf(wire.fields({ value: wire.text(), rendered_value: wire.optional(wire.text()) })),
  ),
};

export const user = wire.named('User', wire.fields(USER));

export const ONE_USER = wire.fields({ user });
/** Users §1.1: their newest message beside what others see. */
export const OWN_USER = wire.fields({ ...USER, max_message_id: wire.integer() });
export const USER_LIST = wire.fields({ members: wire.listOf(user) });

/** Of those who have not logged in (events §1): without a time zone. */
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

/** Who looks at a user, and in which of its forms. */
export interface UserForm {
  /** Whether the viewer may see the address the user signs in with. */
  readonly seesEmail: boolean;
  /** The client works gravatars out by itself. */
  readonly clientGravatar: boolean;
  readonly withProfile: boolean;
  /** For those who have not logged in: no time zone, and of when somebody joined the day. */
  readonly forSpectators?: boolean;
  /** False where the list says by itself who is active; default: true. */
  readonly withActivity?: boolean;
}

/** Without a profile: one who said nothing. */
export type PresentableUser = User & { readonly profile?: readonly ProfileValue[] };

/** Users §1.1. */
export function presentUser(
  user: PresentableUser,
  publicRealm: PublicRealm,
  { seesEmail, clientGravatar, withProfile, withActivity = true, forSpectators = false }: UserForm,
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
    ...(!forSpectators && { timezone: user.settings.timezone }),
    avatar_url: avatarUrl(user, publicRealm, { seesEmail, clientGravatar }),
    avatar_version: user.avatar.version,
    is_imported_stub: false,
    ...(bot && { bot_type: BOT_TYPES[bot.kind], bot_owner_id: bot.ownerId }),
    ...(bot?.isSystem && { is_system_bot: true }),
    ...(!bot && withProfile && { profile_data: presentProfile(profile) }),
  };
}

/** By field, as text (users §1.1). */
const presentProfile = (profile: readonly ProfileValue[]): Readonly<Record<string, WireFields>> =>
  Object.fromEntries(profile.map(({ fieldId, value, rendered }) => [fieldId, presentProfileValue(value, rendered)]));

export const presentProfileValue = <V extends string | null>(value: V, rendered: string | null) => ({
  value,
  ...(rendered && { rendered_value: rendered }),
});

/** What stands for a name that the viewer may not know (users §1.4). */
export const UNKNOWN_USER_NAME = 'Unknown user';

const AVATAR_SOURCES = { gravatar: 'G', generated: 'J', uploaded: 'U' } as const;

/** Events §7.3, and of oneself in register. */
export const presentAvatar = (user: User, publicRealm: PublicRealm, viewer: AvatarViewer) => ({
  avatar_source: AVATAR_SOURCES[user.avatar.source],
  avatar_url: avatarUrl(user, publicRealm, viewer),
  avatar_url_medium: mediumAvatarUrl(user, publicRealm, viewer),
  avatar_version: user.avatar.version,
});

/** Somebody whom the viewer may not know, as clients get them that expect to know everybody (users §1.4). */
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

/** With an offset, as every client reads it: `2019-10-20T07:50:00+00:00`. */
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

/** Users see their own account with every field; the newest message only for old clients. */
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
