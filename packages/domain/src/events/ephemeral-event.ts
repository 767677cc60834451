import type { Audience } from './audience.js';
import type { EphemeralEvent } from './event.js';

export interface EphemeralAnnouncement {
  readonly event: EphemeralEvent;
  readonly audience: Audience;
}
