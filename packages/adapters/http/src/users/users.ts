import { isAtLeast } from '@parley/domain/access';
import { SpectateUsers } from '@parley/domain/channels';
import { getOrThrow, type RealmUrls, type UserId } from '@parley/domain/kernel';
import {
  CreateUser,
  DeactivateSelf,
  DeactivateUser,
  MAX_DEACTIVATION_COMMENT_LENGTH,
  type MessageScope,
  ReactivateUser,
  UpdateUser,
} from '@parley/domain/membership';
import { loadRealm } from '@parley/domain/realms';
import {
  GetOwnUser,
  GetUser,
  isEmailPublic,
  ListUsers,
  type LoadedPeople,
  loadInaccessibleIds,
  loadPeople,
  loadViewer,
  publicAddress,
} from '@parley/domain/users';
import type { HttpFeature, SectionParts } from '../declarations/feature.js';
import {
  plainSection,
  type RegisterRequest,
  type RegisterSection,
  registerSection,
  type SectionContext,
} from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { can } from '../delivery/event-presenter.js';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import { presentLongList, type SharedList } from '../kernel/json-lists.js';
import {
  boolean,
  integer,
  listOf,
  MAX_IDS,
  MAX_TEXT_LENGTH,
  object,
  optional,
  type ParamType,
} from '../kernel/param-types.js';
import {
  BooleanParam,
  definedFields,
  IntegerOneOfParam,
  IntegerParam,
  NoParameters,
  param,
  TextParam,
} from '../kernel/params.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { success, TooLong, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { presentOwnRights } from './own-rights.js';
import {
  PROFILE_EVENTS,
  type ProfileEntriesParam,
  profileEntries,
  profileFieldsSection,
  profileRoutes,
  toProfileEntries,
} from './profiles.js';
import { USER_EVENTS } from './user.events.js';
import {
  ONE_USER,
  OWN_USER,
  presentAvatar,
  presentGetUser,
  presentOwnUser,
  presentUnknownUser,
  ROLE_NUMBERS,
  ROLES_BY_NUMBER,
  SHOWN_USERS,
  shownUser,
  USER_LIST,
  user,
} from './user.presenters.js';
import { type UserListForm, type UserPagePresenter, type UserText, userPagesOf } from './user-page.js';
import { USER_SETTINGS_EVENTS, userDefaultsSection, userSettingRoutes, userSettingsSection } from './user-settings.js';

export const USER_WIRE_ERRORS = {
  USER_DEACTIVATED: { status: 401, code: 'USER_DEACTIVATED' },
  MUST_BE_OWNER: { code: 'UNAUTHORIZED_PRINCIPAL' },
  MUST_BE_ADMINISTRATOR: { code: 'UNAUTHORIZED_PRINCIPAL' },
  MUST_BE_BOT: { code: 'PERMISSION_DENIED' },
  CANNOT_DEACTIVATE_LAST_USER: {
    code: 'CANNOT_DEACTIVATE_LAST_USER',
    fields: { isLastOwner: 'is_last_owner', entity: 'entity' },
  },
  NO_TARGET_USERS: { text: 'Either user_ids or group_ids must be provided.' },
} as const satisfies WireErrors;

const NUMBER = /^\s*\d+\s*$/;
const ids = listOf(integer(), { max: MAX_IDS });

/** Accepts `[7,8]`, and `7,8` as sent by the Go client. */
const userIds: ParamType<number[]> = {
  ...ids,
  decode(text) {
    const value = ids.decode(text);
    if (Array.isArray(value) || value instanceof TooLong) return value;
    const numbers = text.split(',');
    return numbers.every((number) => NUMBER.test(number)) ? numbers.map(Number) : value;
  },
};

export class ListUsersDto {
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
  @param(userIds, { optional: true, description: 'Ids of the users to return; all if absent.' }) user_ids?: number[];
}

export class GetUserDto {
  @IntegerParam() user_id!: number;
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
}

export class GetUserByEmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email!: string;
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() include_custom_profile_fields = false;
}

export class CreateUserDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) full_name!: string;
}

const ROLE = { optional: true } as const;

export class UpdateUserDto {
  @IntegerParam() user_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) full_name?: string;
  @IntegerOneOfParam(Object.values(ROLE_NUMBERS), ROLE) role?: number;
  @param(profileEntries, { optional: true }) profile_data?: ProfileEntriesParam;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) new_email?: string;
}

export class UpdateUserByEmailDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) full_name?: string;
  @IntegerOneOfParam(Object.values(ROLE_NUMBERS), ROLE) role?: number;
  @param(profileEntries, { optional: true }) profile_data?: ProfileEntriesParam;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) new_email?: string;
}

/** Changes common to both ways of identifying the user. */
export const toUserChanges = ({ full_name, role, profile_data, new_email }: Omit<UpdateUserByEmailDto, 'email'>) =>
  definedFields({
    fullName: full_name,
    role: role === undefined ? undefined : getOrThrow(ROLES_BY_NUMBER, role),
    profile: profile_data && toProfileEntries(profile_data),
    email: new_email,
  });

export class UserIdDto {
  @IntegerParam() user_id!: number;
}

export class DeactivateUserDto {
  @IntegerParam() user_id!: number;
  @TextParam({
    max: MAX_DEACTIVATION_COMMENT_LENGTH,
    optional: true,
    description: 'Text to send to the user by email.',
  })
  deactivation_notification_comment?: string;
  @param(
    object({
      delete_profile: optional(boolean()),
      delete_public_channel_messages: optional(boolean()),
      delete_private_channel_messages: optional(boolean()),
      delete_direct_messages: optional(boolean()),
    }),
    { optional: true, description: 'User data to delete as well.' },
  )
  actions?: DeactivationActions;
}

type DeactivationActions = Partial<Record<keyof typeof MESSAGE_SCOPES | 'delete_profile', boolean>>;

const MESSAGE_SCOPES = {
  delete_public_channel_messages: 'publicChannels',
  delete_private_channel_messages: 'privateChannels',
  delete_direct_messages: 'direct',
} as const satisfies Readonly<Record<string, MessageScope>>;

export function toDeactivation({ user_id, deactivation_notification_comment, actions }: DeactivateUserDto) {
  const scopes = Object.entries(MESSAGE_SCOPES) as [keyof typeof MESSAGE_SCOPES, MessageScope][];
  return definedFields({
    userId: user_id as UserId,
    comment: deactivation_notification_comment,
    deletions: actions && {
      ofProfile: actions.delete_profile ?? false,
      ofMessages: scopes.filter(([action]) => actions[action]).map(([, scope]) => scope),
    },
  });
}

/** Event type that requests both sections below (events §3.3). */
const REALM_USER = 'realm_user';

/** Section of the viewer's own user. */
export const ownUserSection = ({ realmUrls, serverInfo }: SectionParts): RegisterSection =>
  plainSection(
    REALM_USER,
    {
      user_id: wire.integer(),
      email: wire.text(),
      delivery_email: wire.text(),
      full_name: wire.text(),
      avatar_source: wire.oneOf('G', 'J', 'U'),
      avatar_url: wire.nullable(wire.text()),
      avatar_url_medium: wire.nullable(wire.text()),
      is_owner: wire.boolean(),
      is_admin: wire.boolean(),
      is_moderator: wire.boolean(),
      is_guest: wire.boolean(),
      can_create_private_streams: wire.boolean(),
      can_create_public_streams: wire.boolean(),
      can_create_streams: wire.boolean(),
      can_create_web_public_streams: wire.boolean(),
      can_invite_others_to_realm: wire.boolean(),
    },
    ({ viewer, user, realm, presentation }) => {
      const { role } = viewer;
      const publicRealm = publicRealmOf(realm, realmUrls);
      const avatarViewer = { seesEmail: true, clientGravatar: presentation.clientGravatar && isEmailPublic(user) };
      const { avatar_source, avatar_url, avatar_url_medium } = presentAvatar(user, publicRealm, avatarViewer);
      return {
        user_id: user.id,
        email: publicAddress(user, publicRealm.emailDomain),
        delivery_email: user.email,
        full_name: user.fullName,
        avatar_source,
        avatar_url,
        avatar_url_medium,
        is_owner: role === 'owner',
        is_admin: isAtLeast(role, 'administrator'),
        is_moderator: isAtLeast(role, 'moderator'),
        is_guest: role === 'guest',
        ...presentOwnRights(viewer, realm, serverInfo),
      };
    },
    'likeGuests',
  );

/** Section of active users, deactivated users and cross-realm bots. */
export const peopleSection = ({ realmUrls, once }: SectionParts): RegisterSection =>
  registerSection({
    name: 'realm_users',
    fields: {
      realm_users: wire.listOf(user),
      realm_non_active_users: wire.listOf(user),
      cross_realm_bots: wire.listOf(user),
    },
    spectatorFields: {
      realm_users: wire.listOf(shownUser),
      realm_non_active_users: wire.listOf(shownUser),
      cross_realm_bots: wire.listOf(shownUser),
    },
    forSpectators: 'likeGuests',
    fetchEventTypes: [REALM_USER],
    load: async (snapshot, request) => {
      const people = await snapshot.load(loadPeople);
      const isIncomplete = can(request.presentation, 'user_list_incomplete');
      const inaccessibleIds = isIncomplete ? [] : await snapshot.load(loadInaccessibleIds);
      const viewer = await snapshot.load(loadViewer);
      const realm = await snapshot.load(loadRealm);
      const publicRealm = publicRealmOf(realm, realmUrls);
      return writePeople({ viewer, realm }, { ...people, inaccessibleIds }, request, once(userPagesOf), publicRealm);
    },
    present: ({ active, deactivated, bots }) => ({
      realm_users: active,
      realm_non_active_users: deactivated,
      cross_realm_bots: bots,
    }),
  });

/**
 * Runs within the read, because users without cached text are fetched. Users inaccessible to a guest are omitted, or
 * shown as unknown active users if the client expects all users (users §1.4).
 */
async function writePeople(
  { viewer, realm }: Pick<SectionContext, 'viewer' | 'realm'>,
  { entries, inaccessibleIds, systemBots, hydrate }: LoadedPeople & { readonly inaccessibleIds: readonly UserId[] },
  { presentation, isSpectator }: RegisterRequest,
  pages: UserPagePresenter,
  publicRealm: PublicRealm,
): Promise<Readonly<Record<'active' | 'deactivated' | 'bots', SharedList<{ readonly id: number }>>>> {
  const form = { clientGravatar: presentation.clientGravatar, withProfile: !isSpectator, forSpectators: isSpectator };
  const list = (isActive: boolean, more: readonly UserText[]) => {
    const wanted = entries.filter((entry) => entry.isActive === isActive);
    return pages.present({ viewer, realm, entries: wanted }, hydrate, { ...form, withActivity: false }, more);
  };
  const bots = await pages.present({ viewer, realm, entries: systemBots }, async () => systemBots, {
    ...form,
    withActivity: true,
  });
  const inaccessibleUsers = inaccessibleIds.map((id) => ({
    id,
    text: JSON.stringify(presentUnknownUser(id, publicRealm, { withActivity: false })),
  }));
  return { bots, active: await list(true, inaccessibleUsers), deactivated: await list(false, []) };
}

const toListUsersInput = ({ user_ids }: ListUsersDto) => ({ ids: (user_ids as UserId[] | undefined) ?? null });

export function userRoutes(realmUrls: RealmUrls, pages: UserPagePresenter): readonly Route[] {
  return [...userListRoutes(pages), ...singleUserRoutes(realmUrls), ...userChangeRoutes()];
}

function userListRoutes(pages: UserPagePresenter): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    // Custom handler, because the list is presented inside the snapshot's read, which fetches only changed users.
    route('GET', '/users', {
      summary: 'List users',
      section: 'users §2',
      withoutPage: 'state',
      auth: 'user',
      isExpensive: true,
      dto: ListUsersDto,
      useCase: ListUsers,
      response: USER_LIST,
      handle: async ({ caller, dto, useCase }) => {
        const form: UserListForm = {
          clientGravatar: dto.client_gravatar,
          withProfile: dto.include_custom_profile_fields,
          withActivity: true,
        };
        const members = await useCase.execute(caller, toListUsersInput(dto), (list, hydrate) =>
          pages.present(list, hydrate, form),
        );
        return success(await presentLongList(scheduler, 'members', members));
      },
    }),
    // The same operation for anonymous browsers, with fewer fields per user.
    route('GET', '/json/users', {
      summary: 'List the users visible without an account',
      section: 'protocol §9',
      auth: 'anyone',
      atRoot: true,
      isExpensive: true,
      dto: ListUsersDto,
      useCase: SpectateUsers,
      response: SHOWN_USERS,
      handle: async ({ caller, dto, useCase }) => {
        const form: UserListForm = {
          clientGravatar: false,
          withProfile: false,
          withActivity: true,
          forSpectators: true,
        };
        const members = await useCase.execute(caller, toListUsersInput(dto), (list, hydrate) =>
          pages.present(list, hydrate, form),
        );
        return success(await presentLongList(scheduler, 'members', members));
      },
    }),
  ];
}

function singleUserRoutes(realmUrls: RealmUrls): readonly Route[] {
  return [
    route('POST', '/users', {
      summary: 'Create a user',
      section: 'users §3.1',
      withoutPage: 'scripts',
      auth: 'user',
      isExpensive: true,
      roleRequirements: ['administrator'],
      dto: CreateUserDto,
      useCase: CreateUser,
      toInput: ({ email, password, full_name }) => ({ email, password, fullName: full_name }),
      response: wire.fields({ user_id: wire.integer() }),
      present: (id) => ({ user_id: id }),
    }),
    route('GET', '/users/me', {
      summary: 'Get your user',
      section: 'users §2',
      auth: 'user',
      dto: NoParameters,
      useCase: GetOwnUser,
      response: OWN_USER,
      present: (output) => presentOwnUser(output, realmUrls),
    }),
    route('GET', '/users/:user_id', {
      summary: 'Get a user by id or email address',
      section: 'users §2',
      withoutPage: 'state',
      auth: 'user',
      dto: GetUserDto,
      useCase: GetUser,
      toInput: ({ user_id }) => ({ id: user_id as UserId }),
      response: ONE_USER,
      present: (output, { dto }) => presentGetUser(output, dto, realmUrls),
    }),
    route('GET', '/users/:email', {
      summary: 'Get a user by id or email address',
      section: 'users §2',
      withoutPage: 'scripts',
      auth: 'user',
      dto: GetUserByEmailDto,
      useCase: GetUser,
      toInput: ({ email }) => ({ email }),
      response: ONE_USER,
      present: (output, { dto }) => presentGetUser(output, dto, realmUrls),
    }),
  ];
}

function userChangeRoutes(): readonly Route[] {
  return [
    route('DELETE', '/users/me', {
      summary: 'Deactivate your account',
      section: 'users §4.2',
      auth: 'user',
      roleRequirements: ['human'],
      dto: NoParameters,
      useCase: DeactivateSelf,
    }),
    route('DELETE', '/users/:user_id', {
      summary: 'Deactivate a user',
      section: 'users §4.1',
      auth: 'user',
      dto: DeactivateUserDto,
      useCase: DeactivateUser,
      toInput: toDeactivation,
    }),
    route('POST', '/users/:user_id/reactivate', {
      summary: 'Reactivate a user',
      section: 'users §4.3',
      auth: 'user',
      dto: UserIdDto,
      useCase: ReactivateUser,
      toInput: ({ user_id }) => user_id as UserId,
    }),
    route('PATCH', '/users/:user_id', {
      summary: 'Change a user',
      section: 'users §3.2',
      isStarred: true,
      auth: 'user',
      roleRequirements: ['administrator'],
      dto: UpdateUserDto,
      useCase: UpdateUser,
      toInput: ({ user_id, ...changes }) => ({ user: { id: user_id as UserId }, ...toUserChanges(changes) }),
    }),
    route('PATCH', '/users/:email', {
      summary: 'Change a user',
      section: 'users §3.2',
      isStarred: true,
      withoutPage: 'scripts',
      auth: 'user',
      roleRequirements: ['administrator'],
      dto: UpdateUserByEmailDto,
      useCase: UpdateUser,
      toInput: ({ email, ...changes }) => ({ user: { email }, ...toUserChanges(changes) }),
    }),
  ];
}

export const USERS = {
  tag: 'Users',
  routes: ({ realmUrls, once }) => [
    ...userRoutes(realmUrls, once(userPagesOf)),
    ...userSettingRoutes,
    ...profileRoutes,
  ],
  events: { ...USER_EVENTS, ...USER_SETTINGS_EVENTS, ...PROFILE_EVENTS },
  errors: USER_WIRE_ERRORS,
  registerSections: (parts) => [
    profileFieldsSection,
    userDefaultsSection,
    userSettingsSection,
    ownUserSection(parts),
    peopleSection(parts),
  ],
} satisfies HttpFeature;
