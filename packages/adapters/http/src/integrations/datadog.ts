import { type EventTemplate, type Integration, lookUp, type Payload, quoteOf, topicOf } from './integration.js';

/** Datadog encloses Markdown in `%%%`. */
const bodyOf = (payload: Payload): string =>
  payload
    .maybe('body')
    .trim()
    .replace(/^%%%|%%%$/g, '');

const on = (text: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.maybe('alert_title') || payload.raw('title')),
  text: (payload) => {
    const priority = payload.has('priority') ? ` (${payload.text('priority')})` : '';
    const host = payload.has('hostname') ? ` on ${payload.code('hostname')}` : '';
    return `${text} ${payload.link(payload.text('title'), 'link')}${priority}${host}.${quoteOf(bodyOf(payload))}`;
  },
});

/** Values of the variable `$ALERT_TRANSITION`. */
const TRANSITIONS: Readonly<Record<string, string>> = {
  Triggered: 'triggered',
  'Re-Triggered': 'triggered',
  Warn: 'warn',
  'Re-Warn': 'warn',
  'No Data': 'no_data',
  'Re-No Data': 'no_data',
  Renotify: 'renotify',
  Recovered: 'recovered',
};

export const DATADOG: Integration = {
  name: 'datadog',
  displayName: 'Datadog',
  documentation: 'https://docs.datadoghq.com/integrations/webhooks/',
  setup: `{
  "title": "$EVENT_TITLE",
  "body": "$TEXT_ONLY_MSG",
  "alert_title": "$ALERT_TITLE",
  "transition": "$ALERT_TRANSITION",
  "priority": "$ALERT_PRIORITY",
  "hostname": "$HOSTNAME",
  "link": "$LINK"
}`,
  eventOf: (payload) => {
    const transition = payload.maybe('transition');
    // The default body contains no transition, and only alerts have one.
    return transition === '' ? 'event' : (lookUp(TRANSITIONS, transition) ?? transition);
  },
  events: {
    triggered: on(':alert: **Alert:**'),
    warn: on(':alert: **Warning:**'),
    no_data: on(':alert: **No data:**'),
    renotify: on('**Still active:**'),
    recovered: on(':squared_ok: **Recovered:**'),
    event: on('**Event:**'),
  },
  offByDefault: ['renotify'],
};
