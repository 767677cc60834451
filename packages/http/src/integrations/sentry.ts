import { AnomalousPayload, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

const issueTopic = (payload: Payload): string =>
  topicOf(payload.raw('data.issue.project.name'), payload.raw('data.issue.title'));

const actor = (payload: Payload): string => `**${payload.first('actor.name')}**`;
const issue = (payload: Payload): string =>
  payload.link(
    payload.text('data.issue.title'),
    payload.has('data.issue.web_url') ? 'data.issue.web_url' : 'data.issue.permalink',
  );

const issueEvent: EventTemplate = {
  topic: issueTopic,
  text: (payload) => {
    switch (payload.raw('action')) {
      case 'created':
        return `**New issue:** ${issue(payload)}\n${culprit(payload, 'data.issue')}`.trim();
      case 'resolved':
        return `${actor(payload)} resolved ${issue(payload)}.`;
      case 'assigned':
        return `${actor(payload)} assigned ${issue(payload)} to **${payload.first('data.issue.assignedTo.name')}**.`;
      case 'archived':
      case 'ignored':
        return `${actor(payload)} archived ${issue(payload)}.`;
      case 'unresolved':
        return `${issue(payload)} is unresolved again.`;
      default:
        return null;
    }
  },
};

const culprit = (payload: Payload, path: string): string => {
  const facts = [
    ['level', `${path}.level`],
    ['culprit', `${path}.culprit`],
    ['platform', `${path}.platform`],
  ] as const;
  return facts.flatMap(([name, at]) => (payload.has(at) ? [`* **${name}**: ${payload.code(at)}`] : [])).join('\n');
};

const eventTitle = (payload: Payload, path: string): string =>
  payload.link(payload.text(`${path}.title`), `${path}.web_url`);

const alerted: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('data.event.title')),
  text: (payload) =>
    `**Alert ${payload.first('data.triggered_rule')}:** ${eventTitle(payload, 'data.event')}\n${culprit(payload, 'data.event')}`.trim(),
};

const metric: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('data.description_title')),
  text: (payload) =>
    `**${payload.text('action')}**: ${payload.link(payload.text('data.description_title'), 'data.web_url')}${payload.quote('data.description_text')}`,
};

export const SENTRY: Integration = {
  name: 'sentry',
  displayName: 'Sentry',
  documentation: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks/',
  eventHeader: 'Sentry-Hook-Resource',
  eventOf: (payload, header) => {
    if (!payload.has('action') && header !== 'event_alert') throw new AnomalousPayload('action');
    return header;
  },
  events: {
    issue: issueEvent,
    event_alert: alerted,
    metric_alert: metric,
    error: {
      topic: (payload) => topicOf(payload.raw('data.error.title')),
      text: (payload) =>
        `**New error:** ${eventTitle(payload, 'data.error')}\n${culprit(payload, 'data.error')}`.trim(),
    },
    comment: {
      topic: (payload) => topicOf(payload.raw('data.project_slug')),
      text: (payload) =>
        payload.raw('action') === 'created'
          ? `${actor(payload)} commented on issue ${payload.text('data.issue_id')}.${payload.quote('data.comment')}`
          : null,
    },
    installation: {
      topic: () => 'Sentry',
      text: (payload) => `The Sentry integration was ${payload.text('action')}.`,
    },
  },
};
