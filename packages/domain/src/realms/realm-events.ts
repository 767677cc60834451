import type { EventFormats } from '../events/event.js';

export interface RealmEventTypes {
  /** To everybody. */
  'realm.deactivated': unknown;
}

declare module '../events/event.js' {
  interface DomainEventTypes extends RealmEventTypes {}
}

export const REALM_EVENT_FORMATS: EventFormats<RealmEventTypes> = { 'realm.deactivated': 1 };
