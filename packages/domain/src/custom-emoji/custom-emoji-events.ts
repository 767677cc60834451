import type { FeatureParts } from '../events/event.js';
import type { CustomEmojiId } from '../shared/ids.js';
import type { CustomEmoji } from './custom-emoji.js';

/** To everybody (organization §7). */
export interface CustomEmojiEventTypes {
  'custom_emoji.added': { readonly emoji: CustomEmoji };
  'custom_emoji.deactivated': { readonly id: CustomEmojiId };
}

declare module '../events/event.js' {
  interface DomainEventTypes extends CustomEmojiEventTypes {}
}

export const CUSTOM_EMOJI_FEATURE = {
  eventFormats: {
    'custom_emoji.added': 1,
    'custom_emoji.deactivated': 1,
  },
} satisfies FeatureParts<CustomEmojiEventTypes>;
