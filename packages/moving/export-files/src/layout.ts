/** Version of Parley's additions to Zulip's layout. Incremented when older versions cannot read it. */
export const FORMAT = 1;

/** File names within an export. */
export const REALM_FILE = 'realm.json';
export const PARLEY_FILE = 'parley.json';
export const PEOPLE_FILE = 'parley-people.jsonl';
export const ATTACHMENT_FILE = 'attachment.json';
/** Files that describe the pictures and their owners. */
export const PICTURE_RECORDS = {
  emoji: 'emoji/records.json',
  avatars: 'avatars/records.json',
  realm_icons: 'realm_icons/records.json',
} as const;
export type PictureFolder = keyof typeof PICTURE_RECORDS;
/** Names of realm images in files and columns. */
export const REALM_IMAGE_WORDS = { icon: 'icon', logo: 'logo', nightLogo: 'night_logo' } as const;
export const messageFile = (number: number): string => `messages-${String(number).padStart(6, '0')}.json`;
export const MESSAGE_FILE = /^messages-(\d{6})\.json$/;
/** Message file of an export that was interrupted or is still being written. */
export const PARTIAL_MESSAGE_FILE = /^messages-\d{6}\.json\.partial$/;

/** Bits of `flags_mask`. */
export const FLAG_BITS = {
  read: 1,
  starred: 2,
  collapsed: 4,
  mentioned: 8,
  channelWildcardMentioned: 16,
  topicWildcardMentioned: 32,
  hasAlertWord: 512,
  historical: 1024,
} as const;
export const GROUP_MENTIONED_BIT = 64;
export const PRIVATE_BIT = 2048;

export const ROLE_NUMBERS = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
export const BOT_TYPES = { generic: 1, incomingWebhook: 2, outgoingWebhook: 3, embedded: 4 } as const;
export const AVATAR_SOURCES = { gravatar: 'G', uploaded: 'U', generated: 'J' } as const;
/** Retention period of channels that keep messages forever. */
export const ZULIP_FOREVER = -1;
export const TOPICS_POLICY_NUMBERS = {
  inherit: 1,
  emptyTopicAllowed: 2,
  emptyTopicRefused: 3,
  emptyTopicOnly: 4,
} as const;
export const VISIBILITY_NUMBERS = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const;
export const EMOJI_TYPE_NAMES = {
  unicode: 'unicode_emoji',
  custom: 'realm_emoji',
  extra: 'zulip_extra_emoji',
} as const;
export const FIELD_TYPES = {
  shortText: 1,
  longText: 2,
  choice: 3,
  date: 4,
  link: 5,
  users: 6,
  externalAccount: 7,
  pronouns: 8,
} as const;
export const RECIPIENT_TYPES = { personal: 1, channel: 2, direct: 3 } as const;

/** Returns the key of a value; undefined if there is none. */
export function keyOfValue<K extends string, V>(table: Readonly<Record<K, V>>, value: unknown): K | undefined {
  return (Object.keys(table) as K[]).find((key) => table[key] === value);
}
