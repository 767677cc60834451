import type { UserId } from '@parley/domain/kernel';
import { MuteUser, UnmuteUser } from '@parley/domain/messages';
import { IntegerParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';

class MutedUserDto {
  @IntegerParam() muted_user_id!: number;
}

const PATH = '/users/me/muted_users/:muted_user_id';
const toUserId = ({ muted_user_id }: MutedUserDto) => ({ userId: muted_user_id as UserId });

export const mutedUserRoutes: readonly Route[] = [
  route('POST', PATH, { auth: 'user', isExpensive: true, dto: MutedUserDto, useCase: MuteUser, toInput: toUserId }),
  route('DELETE', PATH, { auth: 'user', dto: MutedUserDto, useCase: UnmuteUser, toInput: toUserId }),
];
