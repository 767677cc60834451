import { DomainError } from '../kernel/errors.js';
import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';

/** User's settings for a channel. Kept after unsubscribing, so that resubscribing restores them. */
export interface Subscription {
  readonly realmId: RealmId;
  readonly channelId: ChannelId;
  readonly userId: UserId;
  readonly isActive: boolean;
  /** `#rrggbb`, lower case. */
  readonly color: string;
  readonly isMuted: boolean;
  readonly isPinned: boolean;
  readonly notifications: ChannelNotifications;
}

/** Channel notification settings; null inherits the user's general setting. */
export interface ChannelNotifications {
  readonly desktop: boolean | null;
  readonly audible: boolean | null;
  readonly push: boolean | null;
  readonly email: boolean | null;
  readonly wildcardMentions: boolean | null;
}

export const INHERITED_NOTIFICATIONS: ChannelNotifications = {
  desktop: null,
  audible: null,
  push: null,
  email: null,
  wildcardMentions: null,
};

/** Colors of new subscriptions. */
export const PALETTE: readonly string[] = (
  '#76ce90 #fae589 #a6c7e5 #e79ab5 #bfd56f #f4ae55 #b0a5fd #addfe5 #f5ce6e #c2726a #94c849 #bd86e5 ' +
  '#ee7e4a #a6dcbf #95a5fd #53a063 #9987e1 #e4523d #c2c2c2 #4f8de4 #c6a8ad #e7cc4d #c8bebf #a47462'
).split(' ');

/** Maximum number of a user's rows that are read for used colors. Bounds the cost of a subscription. */
export const ROWS_WITH_USED_COLORS = 1000;

/**
 * Picks colors for channels without an existing row of the user (channels §2.2). Requested colors come first, then
 * unused palette colors in ascending channel order, then a color by channel number.
 */
export function pickColors(
  channelIds: readonly ChannelId[],
  requested: ReadonlyMap<ChannelId, string>,
  inUse: readonly string[],
): ReadonlyMap<ChannelId, string> {
  const taken = new Set([...inUse, ...requested.values()]);
  const free = PALETTE.filter((color) => !taken.has(color));
  const colors = new Map<ChannelId, string>();
  for (const id of [...channelIds].sort((a, b) => a - b)) {
    colors.set(id, requested.get(id) ?? free.shift() ?? PALETTE[id % PALETTE.length]!);
  }
  return colors;
}

const COLOR = /^#[0-9a-f]{3,6}$/i;

/** True for `#` plus three to six hexadecimal digits. */
export const isColor = (text: string): boolean => COLOR.test(text);

/**
 * Normalizes `#abc` and `#ABCDEF` to `#aabbcc` and `#abcdef`; clients accept only six lower-case digits (channels
 * §4.9).
 */
export function normalizeColor(color: string): string {
  const digits = color.slice(1).toLowerCase();
  if (digits.length === 6) return `#${digits}`;
  const [r = '0', g = '0', b = '0'] = digits;
  return `#${r}${r}${g}${g}${b}${b}`;
}

const NOTIFICATIONS = ['desktop', 'audible', 'push', 'email', 'wildcardMentions'] as const;

/** Subscription settings; `isUnmuted` is the legacy inverse of `isMuted` (channels §4.9). */
export const SUBSCRIPTION_PROPERTIES = ['color', 'isMuted', 'isUnmuted', 'isPinned', ...NOTIFICATIONS] as const;
export type SubscriptionProperty = (typeof SUBSCRIPTION_PROPERTIES)[number];
export type SubscriptionValue = string | boolean;

/** Property in stored and client form. */
export type SubscriptionChange =
  | { readonly property: 'color'; readonly value: string }
  | { readonly property: 'isMuted' | 'isPinned' | keyof ChannelNotifications; readonly value: boolean };

/**
 * Returns the subscription with one property changed. A notification setting set here no longer inherits the general
 * setting.
 * @throws DomainError INVALID_COLOR, INVALID_SUBSCRIPTION_VALUE
 */
export function changeSubscription(
  subscription: Subscription,
  property: SubscriptionProperty,
  value: SubscriptionValue | number | null,
): { readonly subscription: Subscription; readonly change: SubscriptionChange } {
  if (property === 'color') {
    if (typeof value !== 'string') throw invalid(property, 'a string');
    if (!isColor(value)) throw new DomainError('INVALID_COLOR', 'color is not a valid hex color code');
    const color = normalizeColor(value);
    return { subscription: { ...subscription, color }, change: { property, value: color } };
  }
  if (typeof value !== 'boolean') throw invalid(property, 'a boolean');
  switch (property) {
    case 'isMuted':
    case 'isPinned':
      return { subscription: { ...subscription, [property]: value }, change: { property, value } };
    case 'isUnmuted':
      return { subscription: { ...subscription, isMuted: !value }, change: { property: 'isMuted', value: !value } };
    default: {
      const notifications = { ...subscription.notifications, [property]: value };
      return { subscription: { ...subscription, notifications }, change: { property, value } };
    }
  }
}

const invalid = (property: SubscriptionProperty, expected: string): DomainError =>
  new DomainError('INVALID_SUBSCRIPTION_VALUE', `${property} is not ${expected}`, { property, expected });
