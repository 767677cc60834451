import type { PublicRealm } from '../realms/public-realm.js';

export const EMOJI_DATA_PATH = '/static/emoji/emoji_api.json';

/** Where clients that bring no emoji of their own find them (events §5.2, server_emoji_data_url). */
export const emojiDataUrl = ({ url }: PublicRealm): string => url + EMOJI_DATA_PATH;
