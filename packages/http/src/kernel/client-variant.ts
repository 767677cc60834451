import type { ClientIdentity } from './client-identity.js';

export const CLIENT_VARIANTS = ['standard', 'zulip', 'zulip-terminal', 'zulip-mobile-before-pronouns'] as const;

/**
 * The older forms a client in use still needs, known by its User-Agent. The one place that decides it; everything else
 * reads these members, or caches by `key`.
 */
export interface ClientVariant {
  /** Clients of one key get byte for byte the same. */
  readonly key: (typeof CLIENT_VARIANTS)[number];
  /** Name of the reaction type of emoji the server adds itself. Both are accepted from everybody. */
  readonly extraEmojiType: 'service_extra_emoji' | 'zulip_extra_emoji';
  /** Settings also at the top level of register, as before feature level 89. */
  readonly hasLegacyRegisterFields: boolean;
  /** zulip-term 0.7 knows by the text alone that its queue is gone. */
  readonly hasOldQueueErrorText: boolean;
  /** Custom profile fields of type pronouns are called short text. */
  readonly showsPronounsAsText: boolean;
}

const STANDARD: ClientVariant = {
  key: 'standard',
  extraEmojiType: 'service_extra_emoji',
  hasLegacyRegisterFields: false,
  hasOldQueueErrorText: false,
  showsPronounsAsText: false,
};
const ZULIP: ClientVariant = { ...STANDARD, key: 'zulip', extraEmojiType: 'zulip_extra_emoji' };
const ZULIP_TERMINAL: ClientVariant = {
  ...ZULIP,
  key: 'zulip-terminal',
  hasLegacyRegisterFields: true,
  hasOldQueueErrorText: true,
};
const OLD_ZULIP_MOBILE: ClientVariant = { ...ZULIP, key: 'zulip-mobile-before-pronouns', showsPronounsAsText: true };

/** Source: Zulip, the last ZulipMobile without pronouns fields is the one before 27.192. */
const FIRST_MOBILE_WITH_PRONOUNS = [27, 192] as const;

const VARIANTS: Readonly<Record<ClientVariant['key'], ClientVariant>> = {
  standard: STANDARD,
  zulip: ZULIP,
  'zulip-terminal': ZULIP_TERMINAL,
  'zulip-mobile-before-pronouns': OLD_ZULIP_MOBILE,
};

/** Of a client that was known before, by the `key` that was kept of it. */
export const variantByKey = (key: ClientVariant['key']): ClientVariant => VARIANTS[key];

/** By the User-Agent, not by a `client` parameter. */
export function variantOf({ name, version }: ClientIdentity): ClientVariant {
  if (!/zulip/i.test(name)) return STANDARD;
  if (name === 'ZulipTerminal') return ZULIP_TERMINAL;
  if (name === 'ZulipMobile' && isOlder(version, FIRST_MOBILE_WITH_PRONOUNS)) return OLD_ZULIP_MOBILE;
  return ZULIP;
}

function isOlder(version: string | null, than: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map((part) => Number.parseInt(part, 10) || 0);
  return version !== null && (major < than[0] || (major === than[0] && minor < than[1]));
}
