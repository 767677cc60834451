import type { EventFormats } from '../events/event.js';
import type { RealmImage, RealmImageName } from './realm-images.js';

/** To everybody. */
export interface RealmEventTypes {
  'realm.deactivated': unknown;
  /** Organization §3. */
  'realm.image_changed': { readonly name: RealmImageName; readonly image: RealmImage };
}

declare module '../events/event.js' {
  interface DomainEventTypes extends RealmEventTypes {}
}

export const REALM_EVENT_FORMATS: EventFormats<RealmEventTypes> = { 'realm.deactivated': 1, 'realm.image_changed': 1 };
