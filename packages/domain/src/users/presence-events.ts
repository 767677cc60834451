import type { UnixSeconds } from '../kernel/ids.js';
import type { PresenceTimes } from './presence.js';
import type { User } from './user.js';

export interface PresenceEventTypes {
  /** To everybody: somebody is there who was not. */
  'presence.came_online': { readonly user: User; readonly times: PresenceTimes; readonly at: UnixSeconds };
}

declare module '../kernel/event.js' {
  interface EphemeralEventTypes extends PresenceEventTypes {}
}
