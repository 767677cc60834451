import { type Audience, wholeRealm } from '../kernel/audience.js';
import type { UserId } from '../kernel/ids.js';
import { accessorsOf } from './user-delivery.js';

/** What the operator decided about who learns when people are there (users §8.1, §8.5). */
export interface PresencePolicy {
  /** Guests who may not know everybody learn it of those whom they know; else of everybody. */
  readonly limitsToAccessors: boolean;
}

export const presenceAudience = ({ limitsToAccessors }: PresencePolicy, userId: UserId): Audience =>
  limitsToAccessors ? accessorsOf(userId) : wholeRealm;
