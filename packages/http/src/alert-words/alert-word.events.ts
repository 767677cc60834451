import type { AlertWordEventTypes } from '@parley/domain/alert-words';
import { type Presenters, toAll } from '../events/event-presenter.js';

export const ALERT_WORD_EVENTS = {
  'alert_words.changed': toAll('alert_words', ({ words }) => ({ alert_words: words })),
} satisfies Presenters<keyof AlertWordEventTypes>;
