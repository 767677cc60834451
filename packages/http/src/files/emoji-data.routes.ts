import type { LoadUnicodeEmoji } from '@parley/domain/files';
import { NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import { EMOJI_DATA_PATH } from './emoji-data-url.js';

/** For anybody: browsers load it without credentials, and it is the same for all. */
export function emojiDataRoutes(unicodeEmoji: LoadUnicodeEmoji): readonly Route[] {
  let body: string | null = null;
  return [
    route('GET', EMOJI_DATA_PATH, {
      auth: 'anyone',
      limit: 'none',
      atRoot: true,
      dto: NoParameters,
      answer: 'bytes',
      handle: async () => {
        body ??= JSON.stringify({ code_to_names: Object.fromEntries(unicodeEmoji().namesByCode) });
        return { status: 200, body, cacheControl: 'public, max-age=86400' };
      },
    }),
  ];
}
