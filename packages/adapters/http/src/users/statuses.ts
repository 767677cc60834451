import type { Emoji } from '@parley/domain/files';
import type { UserId } from '@parley/domain/kernel';
import {
  ChangeOwnStatus,
  ChangeStatus,
  GetStatus,
  loadStatuses,
  MAX_STATUS_TEXT_LENGTH,
  type ShownStatus,
  type StatusChange,
  type StatusEventTypes,
} from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, opened, type Presenters } from '../delivery/event-presenter.js';
import { EMOJI_FIELDS, parseEmojiType, presentEmoji } from '../files/emoji.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, IntegerParam, TextParam } from '../params/params.js';
import type { WireErrors, WireFields } from '../wire/reply.js';
import { type ClientVariant, variantByKey } from '../wire/request.js';
import * as wire from '../wire/schema.js';

/** Fields of a status or of a change to it (users §7). */
export const STATUS: wire.Shape = wire.optionalFields({
  away: wire.boolean(),
  status_text: wire.text(),
  ...EMOJI_FIELDS,
});

export const userStatus = wire.named('UserStatus', wire.fields(STATUS));

export const STATUS_WIRE_ERRORS = {
  EMOJI_NAME_REQUIRED: { text: 'Client must pass emoji_name if they pass either emoji_code or reaction_type.' },
} as const satisfies WireErrors;

/** Presents only the fields that are set (users §7). */
export const presentStatus = ({ isAway, text, emoji }: ShownStatus, client: ClientVariant): WireFields => ({
  ...(isAway && { away: true }),
  ...(text !== '' && { status_text: text }),
  ...(emoji && presentEmoji(emoji, client)),
});

const NO_EMOJI: Emoji = { type: 'unicode', code: '', name: '' };

/** Presents the changed fields; cleared ones are empty. */
export const presentStatusChange = ({ isAway, text, emoji }: StatusChange, client: ClientVariant): WireFields => ({
  ...(isAway !== undefined && { away: isAway }),
  ...(text !== undefined && { status_text: text }),
  ...(emoji !== undefined && presentEmoji(emoji ?? NO_EMOJI, client)),
});

export const STATUS_FORM = form('user_status', { user_id: wire.integer(), ...STATUS });

export const STATUS_EVENTS = {
  'user.status_changed': {
    forms: [STATUS_FORM],
    present: ({ userId, change }, context) => {
      const client = variantByKey(context.presentation.client);
      return context.shared(change.emoji?.type === 'extra' ? client.extraEmojiType : '', () =>
        opened({ type: 'user_status', user_id: userId, ...presentStatusChange(change, client) }),
      );
    },
  },
} satisfies Presenters<keyof StatusEventTypes>;

export const statusSection: RegisterSection = registerSection({
  name: 'user_status',
  fields: { user_status: wire.dictionaryOf(userStatus) },
  forSpectators: { user_status: {} },
  load: (snapshot) => snapshot.load(loadStatuses),
  present: (statuses, { variant }) => ({
    user_status: Object.fromEntries([...statuses].map(([id, status]) => [id, presentStatus(status, variant)])),
  }),
});

const TEXT = { max: MAX_STATUS_TEXT_LENGTH, strip: true, optional: true };
/** Loose limit: unknown emoji are rejected with their own error message. */
const STATUS_EMOJI = { max: MAX_TEXT_LENGTH, optional: true };

class UserDto {
  @IntegerParam() user_id!: number;
}

class ChangeOwnStatusDto {
  @TextParam(TEXT) status_text?: string;
  @BooleanParam({ optional: true, description: 'Former away marker.' }) away?: boolean;
  @TextParam(STATUS_EMOJI) emoji_name?: string;
  @TextParam(STATUS_EMOJI) emoji_code?: string;
  @TextParam(STATUS_EMOJI) reaction_type?: string;
}

class ChangeStatusDto {
  @IntegerParam() user_id!: number;
  @TextParam(TEXT) status_text?: string;
  @TextParam(STATUS_EMOJI) emoji_name?: string;
  @TextParam(STATUS_EMOJI) emoji_code?: string;
  @TextParam(STATUS_EMOJI) reaction_type?: string;
}

const toChange = (dto: Omit<ChangeOwnStatusDto, 'away'>) => ({
  text: dto.status_text ?? null,
  emojiName: dto.emoji_name ?? null,
  emojiCode: dto.emoji_code ?? null,
  emojiType: dto.reaction_type === undefined ? null : (parseEmojiType(dto.reaction_type) ?? ('unknown' as const)),
});

export const statusRoutes: readonly Route[] = [
  route('POST', '/users/me/status', {
    summary: 'Set your status',
    section: 'users §7',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: ChangeOwnStatusDto,
    useCase: ChangeOwnStatus,
    toInput: (dto) => ({ ...toChange(dto), isAway: dto.away ?? null }),
  }),
  route('GET', '/users/:user_id/status', {
    summary: 'Get the status of a user',
    section: 'users §7',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: UserDto,
    useCase: GetStatus,
    toInput: ({ user_id }) => ({ userId: user_id as UserId }),
    response: wire.fields({ status: userStatus }),
    present: (status, { variant }) => ({ status: presentStatus(status, variant) }),
  }),
  route('POST', '/users/:user_id/status', {
    summary: 'Set the status of a user',
    section: 'users §7',
    withoutPage: 'bots',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ChangeStatusDto,
    useCase: ChangeStatus,
    toInput: (dto) => ({ ...toChange(dto), userId: dto.user_id as UserId }),
  }),
];

export const STATUSES = {
  tag: 'Users',
  routes: () => statusRoutes,
  events: STATUS_EVENTS,
  errors: STATUS_WIRE_ERRORS,
  registerSections: () => [statusSection],
} satisfies HttpFeature;
