import type { Emoji } from '../emoji/emoji.js';
import type { FeatureParts } from '../events/event.js';
import type { UserId } from '../shared/ids.js';

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

declare module '../events/event.js' {
  interface DomainEventTypes extends StatusEventTypes {}
}

export const STATUS_FEATURE = {
  eventFormats: { 'user.status_changed': 1 },
} satisfies FeatureParts<StatusEventTypes>;
