import type { FeatureParts } from '../kernel/event.js';
import type { CustomEmojiId } from '../kernel/ids.js';
import type { CustomEmoji } from './custom-emoji.js';

/** To everybody (organization §7). */
export interface CustomEmojiEventTypes {
  'custom_emoji.added': { readonly emoji: CustomEmoji };
  'custom_emoji.deactivated': { readonly id: CustomEmojiId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends CustomEmojiEventTypes {}
}

export const CUSTOM_EMOJI_FEATURE = {
  eventFormats: {
    'custom_emoji.added': 1,
    'custom_emoji.deactivated': 1,
  },
} satisfies FeatureParts<CustomEmojiEventTypes>;
