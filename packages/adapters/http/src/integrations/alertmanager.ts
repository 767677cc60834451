import {
  AnomalousPayload,
  bulletsOf,
  codeOf,
  escapeText,
  type Integration,
  linkTo,
  type OptionValues,
  type Payload,
  topicOf,
} from './integration.js';

export const ALERT_SIGNS: Readonly<Record<string, string>> = { firing: ':alert:', resolved: ':squared_ok:' };

export function statusOf(payload: Payload): string {
  const status = payload.raw('status');
  if (!Object.hasOwn(ALERT_SIGNS, status)) throw new AnomalousPayload('status');
  return status;
}

const NAME = 'alertname';

type Labels = ReadonlyMap<string, string>;
const labelsOf = (alert: Payload): Labels => new Map(alert.entries('labels'));
const annotationsOf = (alert: Payload): Labels => new Map(alert.entries('annotations'));

/** Name of an alert, or its labels if it has no name. */
const nameOf = (labels: Labels, label: string): string =>
  labels.get(label) ?? labels.get(NAME) ?? [...labels].map(([key, value]) => `${key}=${value}`).join(', ');

function descriptionOf(alert: Payload, name: string | undefined): string {
  const annotations = annotationsOf(alert);
  if (name !== undefined) return annotations.get(name) ?? labelsOf(alert).get(name) ?? '';
  return annotations.get('summary') ?? annotations.get('description') ?? annotations.get('message') ?? '';
}

/** Maximum number of labels of one alert. */
const MAX_LABELS = 8;

/**
 * Returns the names of labels that differ within a group of alerts. For a single alert, these are the labels not used
 * for grouping.
 */
function tellingLabels(payload: Payload): ReadonlySet<string> {
  const alerts = payload.list('alerts').map(labelsOf);
  const [first, ...others] = alerts;
  const names = [...new Set(alerts.flatMap((labels) => [...labels.keys()]))];
  if (others.length > 0) {
    return new Set(names.filter((name) => others.some((labels) => labels.get(name) !== first!.get(name))));
  }
  const grouping = new Set(payload.entries('groupLabels').map(([name]) => name));
  return new Set(names.filter((name) => !grouping.has(name)));
}

/** Pages about an alert, by the path of their address. The first is an annotation, the others are Grafana's. */
const PAGES: Readonly<Record<string, string>> = {
  'annotations.runbook_url': 'runbook',
  dashboardURL: 'dashboard',
  panelURL: 'panel',
  silenceURL: 'silence',
  imageURL: 'image',
};

const pagesOf = (alert: Payload): string => {
  const links = Object.keys(PAGES)
    // Resolved alerts need no silence link.
    .filter((path) => path !== 'silenceURL' || statusOf(alert) === 'firing')
    .map((path) => linkTo(PAGES[path]!, alert.at(path)))
    .filter((link) => link.startsWith('['));
  return links.length === 0 ? '' : ` (${links.join(', ')})`;
};

function lineOf(alert: Payload, telling: ReadonlySet<string>, options: OptionValues): string {
  const status = statusOf(alert);
  const labels = labelsOf(alert);
  const label = options.name ?? NAME;
  const text = descriptionOf(alert, options.desc);
  const name = alert.link(escapeText(nameOf(labels, label) || 'alert'), 'generatorURL');
  const shown = [...labels].filter(([key]) => telling.has(key) && key !== (labels.has(label) ? label : NAME));
  const facts = labels.has(NAME) || labels.has(label) ? shown.slice(0, MAX_LABELS) : [];
  return [
    `${ALERT_SIGNS[status]} **${status.toUpperCase()}** ${name}`,
    ...facts.map(([key, value]) => ` ${codeOf(`${key}=${value}`)}`),
    text === '' ? '' : `: ${escapeText(text)}`,
    pagesOf(alert),
  ].join('');
}

export function alertsText(payload: Payload, options: OptionValues): string {
  const alerts = payload.list('alerts');
  if (alerts.length === 0) throw new AnomalousPayload('alerts');
  const telling = tellingLabels(payload);
  return bulletsOf(alerts, (alert) => lineOf(alert, telling, options));
}

export const groupOf = (payload: Payload): string => {
  const grouped = payload.entries('groupLabels');
  const name = grouped.find(([key]) => key === NAME)?.[1] ?? grouped.map(([, value]) => value).join(', ');
  return name || nameOf(labelsOf(payload.list('alerts')[0]!), NAME) || 'alerts';
};

export const ALERT_OPTIONS = {
  name: 'Label with the name of an alert, `alertname` by default.',
  desc: 'Annotation or label with the description of an alert.',
} as const;

export const ALERTMANAGER: Integration = {
  name: 'alertmanager',
  displayName: 'Prometheus Alertmanager',
  documentation: 'https://prometheus.io/docs/alerting/latest/configuration/#webhook_config',
  options: ALERT_OPTIONS,
  eventOf: statusOf,
  events: {
    firing: { topic: (payload) => topicOf(groupOf(payload)), text: alertsText },
    resolved: { topic: (payload) => topicOf(groupOf(payload)), text: alertsText },
  },
};
