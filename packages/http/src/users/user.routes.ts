import { SpectateUsers } from '@parley/domain/channels';
import type { RealmUrls, UserId } from '@parley/domain/kernel';
import { CreateUser, DeactivateSelf, DeactivateUser, ReactivateUser, UpdateUser } from '@parley/domain/membership';
import { GetOwnUser, GetUser, ListUsers } from '@parley/domain/users';
import { presentLongList } from '../kernel/json-lists.js';
import { NoParameters } from '../kernel/params.js';
import { success } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';
import { ONE_USER, OWN_USER, SHOWN_USERS, USERS } from './user.answers.js';
import {
  CreateUserDto,
  DeactivateUserDto,
  GetUserByEmailDto,
  GetUserDto,
  ListUsersDto,
  toDeactivation,
  toUserChanges,
  UpdateUserByEmailDto,
  UpdateUserDto,
  UserIdDto,
} from './user.dtos.js';
import { presentGetUser, presentOwnUser } from './user.presenters.js';
import type { UserListForm, UserPagePresenter } from './user-page.js';

const toListUsersInput = ({ user_ids }: ListUsersDto) => ({ ids: (user_ids as UserId[] | undefined) ?? null });

export function userRoutes(realmUrls: RealmUrls, pages: UserPagePresenter): readonly Route[] {
  const turns = new Turns();
  return [
    // By hand: a wide list is presented within the read's snapshot, which only those who changed are read from.
    route('GET', '/users', {
      auth: 'user',
      isExpensive: true,
      dto: ListUsersDto,
      useCase: ListUsers,
      answer: USERS,
      handle: async ({ caller, dto, useCase }) => {
        const form: UserListForm = {
          clientGravatar: dto.client_gravatar,
          withProfile: dto.include_custom_profile_fields,
          withActivity: true,
        };
        const members = await useCase.execute(caller, toListUsersInput(dto), (list, hydrate) =>
          pages.present(list, hydrate, form),
        );
        return success(await presentLongList(turns, 'members', members));
      },
    }),
    // The same for browsers whose user has not logged in: less of each.
    route('GET', '/json/users', {
      auth: 'anyone',
      atRoot: true,
      isExpensive: true,
      dto: ListUsersDto,
      useCase: SpectateUsers,
      answer: SHOWN_USERS,
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
        return success(await presentLongList(turns, 'members', members));
      },
    }),
    route('POST', '/users', {
      auth: 'user',
      isExpensive: true,
      roleRequirements: ['administrator'],
      dto: CreateUserDto,
      useCase: CreateUser,
      toInput: ({ email, password, full_name }) => ({ email, password, fullName: full_name }),
      answer: wire.fields({ user_id: wire.integer() }),
      present: (id) => ({ user_id: id }),
    }),
    route('GET', '/users/me', {
      auth: 'user',
      dto: NoParameters,
      useCase: GetOwnUser,
      answer: OWN_USER,
      present: (output) => presentOwnUser(output, realmUrls),
    }),
    route('GET', '/users/:user_id', {
      auth: 'user',
      dto: GetUserDto,
      useCase: GetUser,
      toInput: ({ user_id }) => ({ id: user_id as UserId }),
      answer: ONE_USER,
      present: (output, { dto }) => presentGetUser(output, dto, realmUrls),
    }),
    route('GET', '/users/:email', {
      auth: 'user',
      dto: GetUserByEmailDto,
      useCase: GetUser,
      toInput: ({ email }) => ({ email }),
      answer: ONE_USER,
      present: (output, { dto }) => presentGetUser(output, dto, realmUrls),
    }),
    route('DELETE', '/users/me', {
      auth: 'user',
      roleRequirements: ['human'],
      dto: NoParameters,
      useCase: DeactivateSelf,
    }),
    route('DELETE', '/users/:user_id', {
      auth: 'user',
      dto: DeactivateUserDto,
      useCase: DeactivateUser,
      toInput: toDeactivation,
    }),
    route('POST', '/users/:user_id/reactivate', {
      auth: 'user',
      dto: UserIdDto,
      useCase: ReactivateUser,
      toInput: ({ user_id }) => user_id as UserId,
    }),
    route('PATCH', '/users/:user_id', {
      auth: 'user',
      roleRequirements: ['administrator'],
      dto: UpdateUserDto,
      useCase: UpdateUser,
      toInput: ({ user_id, ...changes }) => ({ user: { id: user_id as UserId }, ...toUserChanges(changes) }),
    }),
    route('PATCH', '/users/:email', {
      auth: 'user',
      roleRequirements: ['administrator'],
      dto: UpdateUserByEmailDto,
      useCase: UpdateUser,
      toInput: ({ email, ...changes }) => ({ user: { email }, ...toUserChanges(changes) }),
    }),
  ];
}
