import { AnomalousPayload, bulletsOf, escapeText, type Integration, type Payload, topicOf } from './integration.js';

const SIGNS: Readonly<Record<string, string>> = { firing: ':alert:', resolved: ':squared_ok:' };

export function statusOf(payload: Payload): string {
  const status = payload.raw('status');
  if (!Object.hasOwn(SIGNS, status)) throw new AnomalousPayload('status');
  return status;
}

/** Name of an alert, or its labels if it has no name. */
const nameOf = (alert: Payload): string => {
  const labels = alert.entries('labels');
  const name = labels.find(([key]) => key === 'alertname')?.[1];
  return name ?? labels.map(([key, value]) => `${key}=${value}`).join(', ');
};

const description = (alert: Payload): string => {
  const annotations = new Map(alert.entries('annotations'));
  return annotations.get('summary') ?? annotations.get('description') ?? annotations.get('message') ?? '';
};

function lineOf(alert: Payload): string {
  const status = statusOf(alert);
  const text = description(alert);
  const name = alert.link(escapeText(nameOf(alert) || 'alert'), 'generatorURL');
  return `${SIGNS[status]} **${status.toUpperCase()}** ${name}${text === '' ? '' : `: ${escapeText(text)}`}`;
}

export function alertsText(payload: Payload): string {
  const alerts = payload.list('alerts');
  if (alerts.length === 0) throw new AnomalousPayload('alerts');
  return bulletsOf(alerts, lineOf);
}

export const groupOf = (payload: Payload): string => {
  const grouped = payload.entries('groupLabels');
  const name = grouped.find(([key]) => key === 'alertname')?.[1] ?? grouped.map(([, value]) => value).join(', ');
  return name || nameOf(payload.list('alerts')[0]!) || 'alerts';
};

export const ALERTMANAGER: Integration = {
  name: 'alertmanager',
  displayName: 'Prometheus Alertmanager',
  documentation: 'https://prometheus.io/docs/alerting/latest/configuration/#webhook_config',
  eventOf: statusOf,
  events: {
    firing: { topic: (payload) => topicOf(groupOf(payload)), text: alertsText },
    resolved: { topic: (payload) => topicOf(groupOf(payload)), text: alertsText },
  },
};
