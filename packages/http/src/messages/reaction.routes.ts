import type { EmojiType } from '@parley/domain/files';
import type { MessageId } from '@parley/domain/kernel';
import { AddReaction, RemoveReaction } from '@parley/domain/messages';
import { parseEmojiType } from '../files/emoji-types.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { IntegerParam, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';

/** What is no emoji is refused in the words of messages §12, whatever its length. */
const EMOJI = { max: MAX_TEXT_LENGTH };

class AddReactionDto {
  @IntegerParam() message_id!: number;
  @TextParam(EMOJI) emoji_name!: string;
  @TextParam({ ...EMOJI, optional: true }) emoji_code?: string;
  @TextParam({ ...EMOJI, optional: true }) reaction_type?: string;
}

class RemoveReactionDto {
  @IntegerParam() message_id!: number;
  @TextParam({ ...EMOJI, optional: true }) emoji_name?: string;
  @TextParam({ ...EMOJI, optional: true }) emoji_code?: string;
  @TextParam({ ...EMOJI, optional: true }) reaction_type?: string;
}

/** What two operations have in common: an emoji's code and type, null where not given. */
const toCodeAndType = ({ emoji_code, reaction_type }: AddReactionDto | RemoveReactionDto) => ({
  code: emoji_code ?? null,
  type: reaction_type === undefined ? null : toType(reaction_type),
});

const toType = (name: string): EmojiType | 'unknown' => parseEmojiType(name) ?? 'unknown';

export const reactionRoutes: readonly Route[] = [
  route('POST', '/messages/:message_id/reactions', {
    auth: 'user',
    dto: AddReactionDto,
    useCase: AddReaction,
    toInput: (dto) => ({ messageId: dto.message_id as MessageId, name: dto.emoji_name, ...toCodeAndType(dto) }),
  }),
  route('DELETE', '/messages/:message_id/reactions', {
    auth: 'user',
    dto: RemoveReactionDto,
    useCase: RemoveReaction,
    toInput: (dto) => ({ messageId: dto.message_id as MessageId, name: dto.emoji_name ?? null, ...toCodeAndType(dto) }),
  }),
];
