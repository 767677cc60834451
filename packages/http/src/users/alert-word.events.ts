import type { AlertWordEventTypes } from '@parley/domain/users';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';

export const ALERT_WORD_EVENTS = {
  'alert_words.changed': toAll(form('alert_words', { alert_words: wire.listOf(wire.text()) }), ({ words }) => ({
    alert_words: words,
  })),
} satisfies Presenters<keyof AlertWordEventTypes>;
