import type { FeatureParts } from '../kernel/event.js';

export interface AlertWordEventTypes {
  /** To whose words they are: all of them. */
  'alert_words.changed': { readonly words: readonly string[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends AlertWordEventTypes {}
}

export const ALERT_WORD_FEATURE = {
  eventFormats: { 'alert_words.changed': 1 },
} satisfies FeatureParts<AlertWordEventTypes>;
