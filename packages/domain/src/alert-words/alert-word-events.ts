import type { EventFormats } from '../events/event.js';

export interface AlertWordEventTypes {
  /** To whose words they are: all of them. */
  'alert_words.changed': { readonly words: readonly string[] };
}

declare module '../events/event.js' {
  interface DomainEventTypes extends AlertWordEventTypes {}
}

export const ALERT_WORD_EVENT_FORMATS: EventFormats<AlertWordEventTypes> = { 'alert_words.changed': 1 };
