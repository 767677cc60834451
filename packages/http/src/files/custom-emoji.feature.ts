import { loadCustomEmoji } from '@parley/domain/files';
import { registerSection } from '../events/register-section.js';
import type { HttpFeature } from '../feature.js';
import { customEmoji } from './custom-emoji.answers.js';
import { CUSTOM_EMOJI_EVENTS } from './custom-emoji.events.js';
import { presentAllCustomEmoji } from './custom-emoji.presenters.js';
import { customEmojiRoutes } from './custom-emoji.routes.js';

export const CUSTOM_EMOJI = {
  routes: () => customEmojiRoutes,
  events: CUSTOM_EMOJI_EVENTS,
  errors: { UNKNOWN_CUSTOM_EMOJI: { status: 404 } },
  registerSections: () => [
    registerSection({
      name: 'realm_emoji',
      fields: { realm_emoji: customEmoji },
      forSpectators: 'likeGuests',
      load: (snapshot) => snapshot.load(loadCustomEmoji),
      present: (all) => ({ realm_emoji: presentAllCustomEmoji(all) }),
    }),
  ],
} satisfies HttpFeature;
