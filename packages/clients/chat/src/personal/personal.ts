import type { Draft, ScheduledMessage, UserSettings } from '@parley/client';
import type { ChatState, EventRules } from '../kernel/state.js';

/** The user's settings and lists. */
export const PERSONAL_RULES: Pick<
  EventRules,
  | 'alert_words'
  | 'device'
  | 'drafts'
  | 'heartbeat'
  | 'navigation_view'
  | 'onboarding_steps'
  | 'reminders'
  | 'saved_snippets'
  | 'scheduled_messages'
  | 'user_settings'
> = {
  heartbeat() {},
  alert_words: (state, event) => state.fields.set('alert_words', event.alert_words),
  onboarding_steps: (state, event) => state.fields.set('onboarding_steps', event.onboarding_steps),
  user_settings(state, { property, value }) {
    state.fields.change('user_settings', (settings) => ({ ...settings, [property]: value }) as UserSettings);
    if (property === 'enable_drafts_synchronization' && !value) state.fields.set('drafts', []);
  },
  device(state, event) {
    state.fields.change('devices', (devices) => {
      const { type: _, op, id: __, device_id, ...changed } = event;
      const { [device_id]: current, ...others } = devices;
      if (op === 'remove') return others;
      return { ...others, [device_id]: { ...(current ?? NEW_DEVICE), ...changed } };
    });
  },
  drafts(state, event) {
    if (event.op === 'add') putDrafts(state, event.drafts);
    else if (event.op === 'update') putDrafts(state, [event.draft]);
    else state.fields.change('drafts', (drafts) => drafts.filter(({ id }) => id !== event.draft_id));
  },
  saved_snippets(state, event) {
    state.fields.change('saved_snippets', (snippets) => {
      if (event.op === 'add') return [...snippets, event.saved_snippet];
      if (event.op === 'remove') return snippets.filter(({ id }) => id !== event.saved_snippet_id);
      return snippets.map((current) => (current.id === event.saved_snippet.id ? event.saved_snippet : current));
    });
  },
  navigation_view(state, event) {
    state.fields.change('navigation_views', (views) => {
      if (event.op === 'add') return [...views, event.navigation_view];
      if (event.op === 'remove') return views.filter(({ fragment }) => fragment !== event.fragment);
      return views.map((current) => (current.fragment === event.fragment ? { ...current, ...event.data } : current));
    });
  },
  reminders(state, event) {
    state.fields.change('reminders', (reminders) =>
      event.op === 'add'
        ? [...reminders, ...event.reminders].sort(
            (a, b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a.reminder_id - b.reminder_id,
          )
        : reminders.filter(({ reminder_id }) => reminder_id !== event.reminder_id),
    );
  },
  scheduled_messages(state, event) {
    if (event.op === 'add') putScheduled(state, event.scheduled_messages);
    else if (event.op === 'update') putScheduled(state, [event.scheduled_message]);
    else {
      state.fields.change('scheduled_messages', (all) =>
        all.filter(({ scheduled_message_id: id }) => id !== event.scheduled_message_id),
      );
    }
  },
};

const NEW_DEVICE = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};

/** Sorts drafts by last edit, newest first (events §3.2). */
function putDrafts(state: ChatState, changed: readonly Draft[]): void {
  const ids = new Set(changed.map(({ id }) => id));
  state.fields.change('drafts', (drafts) =>
    [...drafts.filter(({ id }) => !ids.has(id)), ...changed].sort((a, b) => b.timestamp - a.timestamp || b.id - a.id),
  );
}

/** Sorts scheduled messages by delivery, soonest first. */
function putScheduled(state: ChatState, changed: readonly ScheduledMessage[]): void {
  const ids = new Set(changed.map(({ scheduled_message_id: id }) => id));
  state.fields.change('scheduled_messages', (all) =>
    [...all.filter(({ scheduled_message_id: id }) => !ids.has(id)), ...changed].sort(
      (a, b) =>
        a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp ||
        a.scheduled_message_id - b.scheduled_message_id,
    ),
  );
}
