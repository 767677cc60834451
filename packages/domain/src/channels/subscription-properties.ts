import { DomainError } from '../kernel/errors.js';
import { type ChannelNotifications, isColor, normalizeColor, type Subscription } from './subscription.js';

const NOTIFICATIONS = ['desktop', 'audible', 'push', 'email', 'wildcardMentions'] as const;

/** What subscribers choose for themselves; `isUnmuted` is the older name of the opposite of `isMuted` (channels §4.9). */
export const SUBSCRIPTION_PROPERTIES = ['color', 'isMuted', 'isUnmuted', 'isPinned', ...NOTIFICATIONS] as const;
export type SubscriptionProperty = (typeof SUBSCRIPTION_PROPERTIES)[number];
export type SubscriptionValue = string | boolean;

/** As it is stored, and sent to clients. */
export type SubscriptionChange =
  | { readonly property: 'color'; readonly value: string }
  | { readonly property: 'isMuted' | 'isPinned' | keyof ChannelNotifications; readonly value: boolean };

/**
 * The subscription with one property changed. Once a notification is chosen, it does not follow the general setting any more.
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
