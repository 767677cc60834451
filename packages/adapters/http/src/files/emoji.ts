import type { Emoji, EmojiType, LoadUnicodeEmoji } from '@parley/domain/files';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import type { PublicRealm } from '../delivery/public-realm.js';
import { NoParameters } from '../params/params.js';
import type { ClientVariant } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import { SERVES_PICTURES, serveIdenticon } from './pictures.js';

/** Accepts both names of the extra emoji type from every client (messages §12.4). */
const TYPES: Readonly<Record<string, EmojiType>> = {
  unicode_emoji: 'unicode',
  realm_emoji: 'custom',
  zulip_extra_emoji: 'extra',
  service_extra_emoji: 'extra',
};

/** Returns null for an unknown type. */
export const parseEmojiType = (name: string): EmojiType | null => (Object.hasOwn(TYPES, name) ? TYPES[name]! : null);

export function presentEmojiType(type: EmojiType, { extraEmojiType }: Pick<ClientVariant, 'extraEmojiType'>): string {
  return type === 'extra' ? extraEmojiType : type === 'custom' ? 'realm_emoji' : 'unicode_emoji';
}

/** Presents a chosen emoji. */
export const presentEmoji = ({ type, code, name }: Emoji, client: ClientVariant) => ({
  emoji_name: name,
  emoji_code: code,
  reaction_type: presentEmojiType(type, client),
});

/** Schema of `presentEmoji`. */
export const EMOJI_FIELDS = {
  emoji_name: wire.text(),
  emoji_code: wire.text(),
  reaction_type: wire.oneOf('unicode_emoji', 'realm_emoji', 'service_extra_emoji', 'zulip_extra_emoji'),
};

export const EMOJI_DATA_PATH = '/static/emoji/emoji_api.json';

/** Picture of `:zulip:`. Clients know this path (markdown §13). The picture shows no trademark. */
const EXTRA_EMOJI_PATH = '/static/generated/emoji/images/emoji/unicode/zulip.png';
const EXTRA_EMOJI_SIZE = 64;

/** URL of the emoji data for clients without their own copy (events §5.2, server_emoji_data_url). */
export const emojiDataUrl = ({ url }: PublicRealm): string => url + EMOJI_DATA_PATH;

/** Public, because browsers load the data without credentials and all callers get the same. */
export function emojiDataRoutes(unicodeEmoji: LoadUnicodeEmoji): readonly Route[] {
  let body: string | null = null;
  return [
    route('GET', EMOJI_DATA_PATH, {
      summary: 'Get the names of Unicode emoji',
      extension: 'extensions §1',
      auth: 'anyone',
      limit: 'none',
      atRoot: true,
      dto: NoParameters,
      response: 'bytes',
      contentType: 'application/json',
      handle: async () => {
        body ??= JSON.stringify({ code_to_names: Object.fromEntries(unicodeEmoji().namesByCode) });
        return { status: 200, body, cacheControl: 'public, max-age=86400' };
      },
    }),
    route('GET', EXTRA_EMOJI_PATH, {
      summary: 'Get the image of the emoji `zulip`',
      extension: 'extensions §1',
      ...SERVES_PICTURES,
      dto: NoParameters,
      response: 'bytes',
      handle: async () => serveIdenticon('zulip', EXTRA_EMOJI_SIZE),
    }),
  ];
}

export const EMOJI = {
  tag: 'Files',
  routes: ({ unicodeEmoji }) => emojiDataRoutes(unicodeEmoji),
} satisfies HttpFeature;
