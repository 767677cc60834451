import {
  AnomalousPayload,
  counted,
  type EventTemplate,
  type Integration,
  lookUp,
  type Payload,
  topicOf,
} from './integration.js';

const monitor = (payload: Payload): string => payload.link(payload.text('monitor_friendly_name'), 'monitor_url');
const on = (text: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('monitor_friendly_name')),
  text,
});

/** Returns the duration of an outage; empty if the alert has none. */
const duration = (payload: Payload): string => {
  if (payload.has('alert_friendly_duration')) return ` after ${payload.text('alert_friendly_duration')}`;
  const seconds = payload.has('alert_duration') ? Number(payload.raw('alert_duration')) : 0;
  if (!(seconds > 0)) return '';
  const minutes = Math.round(seconds / 60);
  return ` after ${minutes < 2 ? counted(Math.round(seconds), 'second') : counted(minutes, 'minute')}`;
};

/** Values of the variable `alertType`. */
const TYPES: Readonly<Record<string, string>> = { 1: 'down', 2: 'up', 3: 'ssl_expiry' };

export const UPTIME_ROBOT: Integration = {
  name: 'uptimerobot',
  displayName: 'UptimeRobot',
  documentation:
    'https://help.uptimerobot.com/en/articles/11361152-webhook-integration-connect-uptimerobot-alerts-to-any-custom-app-or-api',
  addedParameters: [
    ...['monitorID', 'monitorURL', 'monitorFriendlyName', 'alertType', 'alertTypeFriendlyName', 'alertDetails'],
    ...['alertDuration', 'alertFriendlyDuration', 'alertDateTime', 'monitorAlertContacts', 'sslExpiryDate'],
    'sslExpiryDaysLeft',
  ],
  setup: `{
  "monitor_url": "*monitorURL*",
  "monitor_friendly_name": "*monitorFriendlyName*",
  "alert_type": "*alertType*",
  "alert_details": "*alertDetails*",
  "alert_duration": "*alertDuration*",
  "ssl_expiry_date": "*sslExpiryDate*"
}`,
  eventOf: (payload) => {
    const type = lookUp(TYPES, payload.raw('alert_type'));
    if (type === null) throw new AnomalousPayload('alert_type');
    return type;
  },
  events: {
    down: on((payload) => `:alert: ${monitor(payload)} is **down**.${payload.quote('alert_details')}`),
    up: on((payload) => `:squared_ok: ${monitor(payload)} is **up** again${duration(payload)}.`),
    ssl_expiry: on((payload) => {
      const date = payload.has('ssl_expiry_date') ? ` on ${payload.text('ssl_expiry_date')}` : ' soon';
      return `:alert: The certificate of ${monitor(payload)} expires${date}.`;
    }),
  },
};
