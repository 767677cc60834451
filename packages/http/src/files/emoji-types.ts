import type { Emoji, EmojiType } from '@parley/domain/files';
import type { ClientVariant } from '../kernel/client-variant.js';
import * as wire from '../kernel/wire-schema.js';

/** Both names of the extra emoji's type are accepted from everybody (messages §12.4). */
const TYPES: Readonly<Record<string, EmojiType>> = {
  unicode_emoji: 'unicode',
  realm_emoji: 'custom',
  zulip_extra_emoji: 'extra',
  service_extra_emoji: 'extra',
};

/** Null: there is no such type. */
export const parseEmojiType = (name: string): EmojiType | null => (Object.hasOwn(TYPES, name) ? TYPES[name]! : null);

export function presentEmojiType(type: EmojiType, { extraEmojiType }: Pick<ClientVariant, 'extraEmojiType'>): string {
  return type === 'extra' ? extraEmojiType : type === 'custom' ? 'realm_emoji' : 'unicode_emoji';
}

/** How clients name an emoji that somebody chose. */
export const presentEmoji = ({ type, code, name }: Emoji, client: ClientVariant) => ({
  emoji_name: name,
  emoji_code: code,
  reaction_type: presentEmojiType(type, client),
});

/** What `presentEmoji` answers. */
export const EMOJI = {
  emoji_name: wire.text(),
  emoji_code: wire.text(),
  reaction_type: wire.oneOf('unicode_emoji', 'realm_emoji', 'service_extra_emoji', 'zulip_extra_emoji'),
};
