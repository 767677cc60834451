import type { FeatureParts } from '../events/event.js';

export interface AlertWordEventTypes {
  /** To whose words they are: all of them. */
  'alert_words.changed': { readonly words: readonly string[] };
}

declare module '../events/event.js' {
  interface DomainEventTypes extends AlertWordEventTypes {}
}

export const ALERT_WORD_FEATURE = {
  eventFormats: { 'alert_words.changed': 1 },
} satisfies FeatureParts<AlertWordEventTypes>;
