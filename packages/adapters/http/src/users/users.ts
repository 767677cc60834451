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
import { GetOwnUser, GetUser, ListUsers } from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { presentLongList } from '../params/json-lists.js';
import {
  boolean,
  integer,
  listOf,
  MAX_IDS,
  MAX_TEXT_LENGTH,
  object,
  optional,
  type ParamType,
} from '../params/param-types.js';
import {
  BooleanParam,
  definedFields,
  IntegerOneOfParam,
  IntegerParam,
  NoParameters,
  param,
  TextParam,
} from '../params/params.js';
import { success, TooLong, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
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
  presentGetUser,
  presentOwnUser,
  ROLE_NUMBERS,
  ROLES_BY_NUMBER,
  SHOWN_USERS,
  USER_LIST,
} from './user.presenters.js';
import { ownUserSection, peopleSection } from './user.register.js';
import { type UserListForm, type UserPagePresenter, userPagesOf } from './user-page.js';
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
      scope: 'account',
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
      scope: 'account',
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
      scope: { action: 'read' },
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
      scope: 'account',
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
      scope: 'account',
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
      scope: 'account',
      roleRequirements: ['human'],
      dto: NoParameters,
      useCase: DeactivateSelf,
    }),
    route('DELETE', '/users/:user_id', {
      summary: 'Deactivate a user',
      section: 'users §4.1',
      auth: 'user',
      scope: 'account',
      dto: DeactivateUserDto,
      useCase: DeactivateUser,
      toInput: toDeactivation,
    }),
    route('POST', '/users/:user_id/reactivate', {
      summary: 'Reactivate a user',
      section: 'users §4.3',
      auth: 'user',
      scope: 'account',
      dto: UserIdDto,
      useCase: ReactivateUser,
      toInput: ({ user_id }) => user_id as UserId,
    }),
    route('PATCH', '/users/:user_id', {
      summary: 'Change a user',
      section: 'users §3.2',
      isStarred: true,
      auth: 'user',
      scope: 'account',
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
      scope: 'account',
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
