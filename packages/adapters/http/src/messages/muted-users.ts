import type { UserId } from '@parley/domain/kernel';
import {
  loadMutedUsers,
  type MutedSender,
  type MutedUserEventTypes,
  MuteUser,
  UnmuteUser,
} from '@parley/domain/messages';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { IntegerParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

/** Users §10. */
export const mutedUser = wire.named('MutedUser', wire.fields({ id: wire.integer(), timestamp: wire.integer() }));

/** Users §10. */
export const presentMutedUsers = (muted: readonly MutedSender[]) =>
  muted.map(({ userId, mutedAt }) => ({ id: userId, timestamp: mutedAt }));

export const MUTED_USER_EVENTS = {
  'muted_users.changed': toAll(form('muted_users', { muted_users: wire.listOf(mutedUser) }), ({ muted }) => ({
    muted_users: presentMutedUsers(muted),
  })),
} satisfies Presenters<keyof MutedUserEventTypes>;

export const mutedUsersSection: RegisterSection = registerSection({
  name: 'muted_users',
  fields: {
    muted_users: wire.listOf(mutedUser),
  },
  forSpectators: { muted_users: [] },
  load: (snapshot) => snapshot.load(loadMutedUsers),
  present: (muted) => ({ muted_users: presentMutedUsers(muted) }),
});

class MutedUserDto {
  @IntegerParam({ description: 'Id of the user to mute or unmute.' }) muted_user_id!: number;
}

const PATH = '/users/me/muted_users/:muted_user_id';
const toUserId = ({ muted_user_id }: MutedUserDto) => ({ userId: muted_user_id as UserId });

export const mutedUserRoutes: readonly Route[] = [
  route('POST', PATH, {
    summary: 'Mute a user',
    section: 'users §10',
    auth: 'user',
    scope: 'account',
    isExpensive: true,
    dto: MutedUserDto,
    useCase: MuteUser,
    toInput: toUserId,
  }),
  route('DELETE', PATH, {
    summary: 'Unmute a user',
    section: 'users §10',
    auth: 'user',
    scope: 'account',
    dto: MutedUserDto,
    useCase: UnmuteUser,
    toInput: toUserId,
  }),
];

export const MUTED_USERS = {
  tag: 'Users',
  routes: () => mutedUserRoutes,
  events: MUTED_USER_EVENTS,
  registerSections: () => [mutedUsersSection],
} satisfies HttpFeature;
