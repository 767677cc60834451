import type { UnixSeconds } from '../shared/ids.js';
import type { User } from '../users/user.js';
import type { PresenceTimes } from './presence.js';

export interface PresenceEventTypes {
  /** To everybody: somebody is there who was not. */
  'presence.came_online': { readonly user: User; readonly times: PresenceTimes; readonly at: UnixSeconds };
}

declare module '../events/event.js' {
  interface EphemeralEventTypes extends PresenceEventTypes {}
}
