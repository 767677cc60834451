import type { EmojiType } from '@parley/domain/files';
import type { EventOf, MessageId } from '@parley/domain/kernel';
import { AddReaction, type Reaction, type ReactionEventTypes, RemoveReaction } from '@parley/domain/writing';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { onMessage } from '../declarations/scope.js';
import {
  type EventContext,
  form,
  keyOf,
  locatedBy,
  type MessagePart,
  opened,
  type Presented,
  type Presenters,
} from '../delivery/event-presenter.js';
import { EMOJI_FIELDS, parseEmojiType, presentEmoji } from '../files/emoji.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { IntegerParam, TextParam } from '../params/params.js';
import { UNKNOWN_USER_NAME } from '../users/user.presenters.js';
import { type ClientVariant, variantByKey } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import { shownAddress } from './message.presenters.js';

export const REACTION_EVENTS = {
  'reaction.changed': {
    forms: [
      form('reaction', {
        op: wire.oneOf('add', 'remove'),
        message_id: wire.integer(),
        user_id: wire.integer(),
        ...EMOJI_FIELDS,
        user: wire.fields({ user_id: wire.integer(), email: wire.text(), full_name: wire.text() }),
      }),
    ],
    ...locatedBy(({ messageId }) => messageId),
    needs: ({ isDirect, user }) => (isDirect ? null : { userIds: [user.id] }),
    present: presentReactionChange,
  },
} satisfies Presenters<keyof ReactionEventTypes>;

/**
 * Presents a reaction (messages §18.4). Both old and new clients get `user` (README decision 28); guests get only the
 * id of an inaccessible user.
 */
function presentReactionChange(event: EventOf<'reaction.changed'>, context: EventContext): Presented {
  const { op, messageId, user, emoji } = event;
  const { publicRealm, receiver, presentation } = context;
  const isHidden = receiver.inaccessible.has(user.id);
  const client = variantByKey(presentation.client);
  return context.shared(`${keyOf(isHidden)} ${emoji.type === 'extra' ? client.extraEmojiType : ''}`, () =>
    opened({
      type: 'reaction',
      op,
      message_id: messageId,
      user_id: user.id,
      ...presentEmoji(emoji, client),
      user: {
        user_id: user.id,
        email: shownAddress(user, publicRealm, isHidden),
        full_name: isHidden ? UNKNOWN_USER_NAME : user.fullName,
      },
    }),
  );
}

/** Loose limit: unknown emoji are rejected with the error message of messages §12. */
const STATUS_EMOJI = { max: MAX_TEXT_LENGTH };

class AddReactionDto {
  @IntegerParam() message_id!: number;
  @TextParam(STATUS_EMOJI) emoji_name!: string;
  @TextParam({ ...STATUS_EMOJI, optional: true }) emoji_code?: string;
  @TextParam({ ...STATUS_EMOJI, optional: true }) reaction_type?: string;
}

class RemoveReactionDto {
  @IntegerParam() message_id!: number;
  @TextParam({ ...STATUS_EMOJI, optional: true }) emoji_name?: string;
  @TextParam({ ...STATUS_EMOJI, optional: true }) emoji_code?: string;
  @TextParam({ ...STATUS_EMOJI, optional: true }) reaction_type?: string;
}

/** Returns code and type of an emoji for both operations; null if absent. */
const toCodeAndType = ({ emoji_code, reaction_type }: AddReactionDto | RemoveReactionDto) => ({
  code: emoji_code ?? null,
  type: reaction_type === undefined ? null : toType(reaction_type),
});

const toType = (name: string): EmojiType | 'unknown' => parseEmojiType(name) ?? 'unknown';

export const reactionRoutes: readonly Route[] = [
  route('POST', '/messages/:message_id/reactions', {
    summary: 'Add a reaction',
    section: 'messages §12',
    auth: 'user',
    scope: onMessage('write'),
    dto: AddReactionDto,
    useCase: AddReaction,
    toInput: (dto) => ({ messageId: dto.message_id as MessageId, name: dto.emoji_name, ...toCodeAndType(dto) }),
  }),
  route('DELETE', '/messages/:message_id/reactions', {
    summary: 'Remove a reaction',
    section: 'messages §12',
    isStarred: true,
    auth: 'user',
    scope: onMessage('write'),
    dto: RemoveReactionDto,
    useCase: RemoveReaction,
    toInput: (dto) => ({ messageId: dto.message_id as MessageId, name: dto.emoji_name ?? null, ...toCodeAndType(dto) }),
  }),
];

/** Message part with reactions, always a list (messages §2.4). */
const REACTION_PART: MessagePart = {
  present: ({ reactions = [] }, { client }) => ({
    reactions: reactions.map((reaction) => presentReaction(reaction, client)),
  }),
  differsByClient: ({ reactions = [] }) => reactions.some(({ type }) => type === 'extra'),
};

const presentReaction = (reaction: Reaction, client: ClientVariant) => ({
  ...presentEmoji(reaction, client),
  user_id: reaction.userId,
});

export const REACTIONS = {
  tag: 'Messages',
  routes: () => reactionRoutes,
  events: REACTION_EVENTS,
  errors: {
    EMOJI_REQUIRED: { text: 'At least one of the following arguments must be present: emoji_name, emoji_code' },
    REACTION_ALREADY_EXISTS: { code: 'REACTION_ALREADY_EXISTS' },
    UNKNOWN_REACTION: { code: 'REACTION_DOES_NOT_EXIST' },
  },
  messageParts: [REACTION_PART],
} satisfies HttpFeature;
