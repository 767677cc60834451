import type { LoadUnicodeEmoji } from '@parley/domain/emoji';
import type { PublicRealm } from '../realms/public-realm.js';
import { NoParameters } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';

const PATH = '/static/emoji/emoji_api.json';

/** Where clients that bring no emoji of their own find them (events §5.2, server_emoji_data_url). */
export const emojiDataUrl = ({ url }: PublicRealm): string => url + PATH;

/** For anybody: browsers load it without credentials, and it is the same for all. */
export function emojiDataRoutes(unicodeEmoji: LoadUnicodeEmoji): readonly Route[] {
  let body: string | null = null;
  return [
    route('GET', PATH, {
      auth: 'anyone',
      limit: 'none',
      atRoot: true,
      dto: NoParameters,
      handle: async () => {
        body ??= JSON.stringify({ code_to_names: Object.fromEntries(unicodeEmoji().namesByCode) });
        return { status: 200, body, cacheControl: 'public, max-age=86400' };
      },
    }),
  ];
}
