import type { HttpFeature } from '../feature.js';
import { emojiDataRoutes } from './emoji-data.routes.js';

export const EMOJI = { routes: ({ unicodeEmoji }) => emojiDataRoutes(unicodeEmoji) } satisfies HttpFeature;
