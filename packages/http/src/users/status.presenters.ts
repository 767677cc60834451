import type { Emoji } from '@parley/domain/files';
import type { ShownStatus, StatusChange } from '@parley/domain/users';
import { presentEmoji } from '../files/emoji-types.js';
import type { ClientVariant } from '../kernel/client-variant.js';
import type { WireFields } from '../kernel/reply.js';

/** Users §7: only what is set. */
export const presentStatus = ({ isAway, text, emoji }: ShownStatus, client: ClientVariant): WireFields => ({
  ...(isAway && { away: true }),
  ...(text !== '' && { status_text: text }),
  ...(emoji && presentEmoji(emoji, client)),
});

const NO_EMOJI: Emoji = { type: 'unicode', code: '', name: '' };

/** The parts that were asked for; empty where there is nothing any more. */
export const presentStatusChange = ({ isAway, text, emoji }: StatusChange, client: ClientVariant): WireFields => ({
  ...(isAway !== undefined && { away: isAway }),
  ...(text !== undefined && { status_text: text }),
  ...(emoji !== undefined && presentEmoji(emoji ?? NO_EMOJI, client)),
});
