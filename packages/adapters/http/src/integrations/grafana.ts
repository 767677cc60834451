import { ALERT_OPTIONS, ALERT_SIGNS, alertsText, groupOf, statusOf } from './alertmanager.js';
import { bulletsOf, codeOf, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

/** Grafana sends the fields of Alertmanager's notifications plus a title. */
const alerts: EventTemplate = {
  topic: (payload) => topicOf(groupOf(payload)),
  text: (payload, options) => `${payload.link('Grafana', 'externalURL')} reports:\n\n${alertsText(payload, options)}`,
};

/** States of the alerting that Grafana had before version 11. */
const STATES: Readonly<Record<string, string>> = {
  alerting: `${ALERT_SIGNS.firing} **ALERTING**`,
  ok: `${ALERT_SIGNS.resolved} **OK**`,
  no_data: ':warning: **NO DATA**',
};

const matchOf = (match: Payload): string => {
  const tags = match.entries('tags').map(([key, value]) => ` ${codeOf(`${key}=${value}`)}`);
  const value = match.has('value') || match.at('value') === 0 ? match.text('value') : 'no value';
  return `${match.first('metric')}${tags.join('')}: ${value}`;
};

const rule: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('ruleName')),
  text: (payload) => {
    const matches = bulletsOf(payload.list('evalMatches'), matchOf);
    return [
      `${STATES[payload.raw('state')]!} ${payload.link(payload.text('ruleName'), 'ruleUrl')}`,
      payload.has('message') ? `: ${payload.text('message')}` : '',
      matches === '' ? '' : `\n\n${matches}`,
      payload.has('imageUrl') ? `\n\n${payload.link('image', 'imageUrl')}` : '',
    ].join('');
  },
};

export const GRAFANA: Integration = {
  name: 'grafana',
  displayName: 'Grafana',
  documentation:
    'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
  options: ALERT_OPTIONS,
  eventOf: (payload) => (payload.has('status') ? statusOf(payload) : payload.raw('state')),
  events: { firing: alerts, resolved: alerts, alerting: rule, ok: rule, no_data: rule },
  ignored: ['paused', 'pending', 'unknown'],
};
