import type { Audience } from './audience.js';
import type { EphemeralEvent } from './event.js';
import type { RealmId } from './ids.js';

export interface EphemeralAnnouncement {
  readonly event: EphemeralEvent;
  readonly audience: Audience;
}

/** Where events go that are never delivered later. Called after the unit: they are no part of what is committed. */
export interface EphemeralEvents {
  publishEphemeral(realmId: RealmId, announcement: EphemeralAnnouncement): void;
}
