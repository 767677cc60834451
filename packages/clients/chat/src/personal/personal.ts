import type { Draft, Reminder, ScheduledMessage, UserSettings } from '@parley/client';
import { applyToList } from '../kernel/lists.js';
import type { EventRules } from '../kernel/state.js';

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
  /** Last edited first (events §3.2). */
  drafts: (state, event) => applyToList<Draft>(state, event, (a, b) => b.timestamp - a.timestamp || b.id - a.id),
  navigation_view(state, event) {
    state.fields.change('navigation_views', (views) => {
      if (event.op === 'add') return [...views, event.navigation_view];
      if (event.op === 'remove') return views.filter(({ fragment }) => fragment !== event.fragment);
      return views.map((current) => (current.fragment === event.fragment ? { ...current, ...event.data } : current));
    });
  },
  reminders: (state, event) =>
    applyToList<Reminder>(
      state,
      event,
      (a, b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a.reminder_id - b.reminder_id,
    ),
  /** Soonest first. */
  scheduled_messages: (state, event) =>
    applyToList<ScheduledMessage>(
      state,
      event,
      (a, b) =>
        a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp ||
        a.scheduled_message_id - b.scheduled_message_id,
    ),
};

const NEW_DEVICE = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};
