import { alertsText, groupOf, statusOf } from './alertmanager.js';
import { type EventTemplate, type Integration, topicOf } from './integration.js';

/** Grafana sends the fields of Alertmanager's notifications plus a title. */
const alerts: EventTemplate = {
  topic: (payload) => topicOf(groupOf(payload)),
  text: (payload) => `${payload.link('Grafana', 'externalURL')} reports:\n\n${alertsText(payload)}`,
};

export const GRAFANA: Integration = {
  name: 'grafana',
  displayName: 'Grafana',
  documentation:
    'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
  eventOf: statusOf,
  events: { firing: alerts, resolved: alerts },
};
