import { type EventTemplate, type Integration, topicOf } from './integration.js';

const words = (status: string): string => status.replaceAll('_', ' ');

const incident = (name: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('incident.name')),
  text: (payload) => {
    const title = payload.link(payload.text('incident.name'), 'incident.shortlink');
    const impact = payload.maybe('incident.impact');
    const shown = ['', 'none', 'maintenance'].includes(impact) ? '' : ` (${payload.text('incident.impact')} impact)`;
    // The newest update is the first one.
    return `**${name}** ${title}${shown}: ${words(payload.text('incident.status'))}.${payload.quote('incident.incident_updates.0.body')}`;
  },
});

const component: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('component.name')),
  text: (payload) => {
    const from = payload.has('component_update.old_status')
      ? ` from **${words(payload.text('component_update.old_status'))}**`
      : '';
    return `${payload.text('component.name')} changed${from} to **${words(payload.text('component_update.new_status'))}**.`;
  },
};

export const STATUSPAGE: Integration = {
  name: 'statuspage',
  displayName: 'Statuspage',
  documentation: 'https://support.atlassian.com/statuspage/docs/enable-webhook-notifications/',
  eventOf: (payload) => {
    if (payload.has('component_update')) return 'component_update';
    payload.raw('incident.name');
    return payload.maybe('incident.impact') === 'maintenance' ? 'maintenance' : 'incident';
  },
  events: { incident: incident('Incident'), maintenance: incident('Maintenance'), component_update: component },
};
