import { type EventTemplate, type Integration, MAX_ENTRIES, type Payload, topicOf } from './integration.js';

const agent = (payload: Payload): string => payload.person('event.agent.summary', 'event.client.name');

/** Events about other objects than the incident itself contain a reference to it. */
const pathOf = (payload: Payload): string =>
  payload.has('event.data.incident') ? 'event.data.incident' : 'event.data';

const topic = (payload: Payload): string => {
  const path = pathOf(payload);
  const title = payload.maybe(`${path}.title`) || payload.raw(`${path}.summary`);
  return topicOf(payload.maybe(`${path}.service.summary`), title);
};

const incident = (payload: Payload): string => {
  const path = pathOf(payload);
  const number = payload.has(`${path}.number`) ? ` #${payload.text(`${path}.number`)}` : '';
  return payload.link(`incident${number} ${payload.first(`${path}.title`, `${path}.summary`)}`, `${path}.html_url`);
};

const names = (payload: Payload, path: string): string =>
  payload
    .list(path)
    .slice(0, MAX_ENTRIES)
    .map((entry) => entry.person('summary'))
    .join(', ');

const assignees = (payload: Payload): string => {
  const assigned = names(payload, 'event.data.assignees');
  return assigned === '' ? '' : ` to ${assigned}`;
};

const changed = (text: (payload: Payload) => string): EventTemplate => ({ topic, text });
const done = (verb: string): EventTemplate => changed((payload) => `${agent(payload)} ${verb} ${incident(payload)}.`);

const urgency = (payload: Payload): string =>
  payload.has('event.data.urgency') ? ` (${payload.text('event.data.urgency')} urgency)` : '';

const responder = (payload: Payload): string => payload.person('event.data.user.summary');

/** Webhooks of version 3. */
export const PAGERDUTY: Integration = {
  name: 'pagerduty',
  displayName: 'PagerDuty',
  documentation: 'https://support.pagerduty.com/main/docs/webhooks',
  eventOf: (payload) => payload.raw('event.event_type'),
  events: {
    'incident.triggered': changed((payload) => {
      const assigned = assignees(payload);
      const to = assigned === '' ? '' : `, assigned${assigned}`;
      return `:alert: **Triggered:** ${incident(payload)}${urgency(payload)}${to}.`;
    }),
    'incident.acknowledged': done('acknowledged'),
    'incident.unacknowledged': changed((payload) => `Nobody works on ${incident(payload)} any longer.`),
    'incident.resolved': changed((payload) => `:squared_ok: ${agent(payload)} **resolved** ${incident(payload)}.`),
    'incident.reopened': done('reopened'),
    'incident.reassigned': changed(
      (payload) => `${agent(payload)} reassigned ${incident(payload)}${assignees(payload)}.`,
    ),
    'incident.delegated': done('changed the escalation policy of'),
    'incident.escalated': changed((payload) => `Escalated ${incident(payload)}${assignees(payload)}.`),
    'incident.priority_updated': changed((payload) => {
      const priority = payload.has('event.data.priority.summary')
        ? payload.text('event.data.priority.summary')
        : 'none';
      return `${agent(payload)} changed the priority of ${incident(payload)} to **${priority}**.`;
    }),
    'incident.annotated': changed(
      (payload) => `${agent(payload)} added a note to ${incident(payload)}.${payload.quote('event.data.content')}`,
    ),
    'incident.status_update_published': changed(
      (payload) =>
        `${agent(payload)} published a status of ${incident(payload)}.${payload.quote('event.data.message')}`,
    ),
    'incident.responder.added': changed(
      (payload) => `${agent(payload)} asked ${responder(payload)} to help with ${incident(payload)}.`,
    ),
    'incident.responder.replied': changed(
      (payload) =>
        `${responder(payload)} ${payload.text('event.data.state')} the request to help with ${incident(payload)}.`,
    ),
    'pagey.ping': { topic: () => 'PagerDuty', text: (payload) => payload.text('event.data.message') },
  },
  offByDefault: ['incident.priority_updated', 'incident.delegated'],
  ignored: [
    ...['incident.conference_bridge.updated', 'incident.custom_field_values.updated', 'incident.incident_type.changed'],
    ...['incident.service_updated', 'incident.workflow.started', 'incident.workflow.completed'],
    ...['service.created', 'service.updated', 'service.deleted', 'service.custom_field_values.updated'],
  ],
};
