import type { Emoji } from '../files/emoji.js';
import type { FeatureParts } from '../kernel/event.js';
import type { UserId } from '../kernel/ids.js';

/** What was asked to be changed; what is absent was not. */
export interface StatusChange {
  readonly isAway?: boolean;
  readonly text?: string;
  /** Null: none any more. */
  readonly emoji?: Emoji | null;
}

export interface StatusEventTypes {
  /** To everybody who may know the user. */
  'user.status_changed': { readonly userId: UserId; readonly change: StatusChange };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends StatusEventTypes {}
}

export const STATUS_FEATURE = {
  eventFormats: { 'user.status_changed': 1 },
} satisfies FeatureParts<StatusEventTypes>;
