import type { UserId } from '@parley/domain/kernel';
import { ChangeOwnStatus, ChangeStatus, GetStatus, MAX_STATUS_TEXT_LENGTH } from '@parley/domain/users';
import { parseEmojiType } from '../files/emoji-types.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { BooleanParam, IntegerParam, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { userStatus } from './status.answers.js';
import { presentStatus } from './status.presenters.js';

const TEXT = { max: MAX_STATUS_TEXT_LENGTH, strip: true, optional: true };
/** What is no emoji is refused in words of its own, whatever its length. */
const EMOJI = { max: MAX_TEXT_LENGTH, optional: true };

class UserDto {
  @IntegerParam() user_id!: number;
}

class ChangeOwnStatusDto {
  @TextParam(TEXT) status_text?: string;
  @BooleanParam({ optional: true }) away?: boolean;
  @TextParam(EMOJI) emoji_name?: string;
  @TextParam(EMOJI) emoji_code?: string;
  @TextParam(EMOJI) reaction_type?: string;
}

class ChangeStatusDto {
  @IntegerParam() user_id!: number;
  @TextParam(TEXT) status_text?: string;
  @TextParam(EMOJI) emoji_name?: string;
  @TextParam(EMOJI) emoji_code?: string;
  @TextParam(EMOJI) reaction_type?: string;
}

const toChange = (dto: Omit<ChangeOwnStatusDto, 'away'>) => ({
  text: dto.status_text ?? null,
  emojiName: dto.emoji_name ?? null,
  emojiCode: dto.emoji_code ?? null,
  emojiType: dto.reaction_type === undefined ? null : (parseEmojiType(dto.reaction_type) ?? ('unknown' as const)),
});

export const statusRoutes: readonly Route[] = [
  route('POST', '/users/me/status', {
    auth: 'user',
    roleRequirements: ['human'],
    dto: ChangeOwnStatusDto,
    useCase: ChangeOwnStatus,
    toInput: (dto) => ({ ...toChange(dto), isAway: dto.away ?? null }),
  }),
  route('GET', '/users/:user_id/status', {
    auth: 'user',
    dto: UserDto,
    useCase: GetStatus,
    toInput: ({ user_id }) => ({ userId: user_id as UserId }),
    answer: wire.fields({ status: userStatus }),
    present: (status, { variant }) => ({ status: presentStatus(status, variant) }),
  }),
  route('POST', '/users/:user_id/status', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ChangeStatusDto,
    useCase: ChangeStatus,
    toInput: (dto) => ({ ...toChange(dto), userId: dto.user_id as UserId }),
  }),
];
