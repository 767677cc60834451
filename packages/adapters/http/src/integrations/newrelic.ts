import { bulletsOf, type EventTemplate, type Integration, lookUp, type Payload, topicOf } from './integration.js';

const issue = (payload: Payload): string =>
  payload.link(payload.text('title'), payload.has('issueUrl') ? 'issueUrl' : 'issuePageUrl');

const facts = (payload: Payload): string => {
  const lists = [
    ['Entities', 'impactedEntities'],
    ['Conditions', 'alertConditionNames'],
    ['Policies', 'alertPolicyNames'],
  ] as const;
  const known = lists.filter(([, path]) => payload.list(path).length > 0);
  return known
    .map(([name, path]) => `\n\n${name}:\n${bulletsOf(payload.list(path), (entry) => entry.code(''))}`)
    .join('');
};

const on = (text: string, hasFacts = false): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('title')),
  text: (payload) => {
    const priority = payload.has('priority') ? ` (${payload.text('priority').toLowerCase()})` : '';
    return `${text} ${issue(payload)}${priority}.${hasFacts ? facts(payload) : ''}`;
  },
});

const STATES: Readonly<Record<string, string>> = {
  CREATED: 'created',
  ACTIVATED: 'activated',
  ACKNOWLEDGED: 'acknowledged',
  CLOSED: 'closed',
};

/** Payloads of the default template of workflows. */
export const NEW_RELIC: Integration = {
  name: 'newrelic',
  displayName: 'New Relic',
  documentation: 'https://docs.newrelic.com/docs/alerts/get-notified/notification-integrations/#webhook',
  eventOf: (payload) => {
    const state = payload.raw('state');
    const trigger = payload.maybe('trigger');
    // Incidents that join or leave an issue do not change its state.
    if (trigger.startsWith('INCIDENT_') || trigger === 'PRIORITY_CHANGED') return 'updated';
    return lookUp(STATES, state) ?? state;
  },
  events: {
    created: on(':alert: **New issue:**', true),
    activated: on(':alert: **Active issue:**', true),
    acknowledged: on('**Acknowledged:**'),
    updated: on('**Changed:**', true),
    closed: on(':squared_ok: **Closed:**'),
  },
  // An issue is created and activated at nearly the same time.
  offByDefault: ['created', 'updated'],
};
