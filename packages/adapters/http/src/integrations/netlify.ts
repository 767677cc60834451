import { codeOf, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

const branch = (payload: Payload): string => (payload.has('branch') ? ` of ${payload.code('branch')}` : '');

const deploy = (done: string, url = 'admin_url'): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('name'), payload.maybe('branch')),
  text: (payload) => {
    const what = payload.link('deploy', payload.has(url) ? url : 'deploy_url');
    const title = payload.has('title') ? `: ${payload.line('title')}` : '';
    return `The ${what}${branch(payload)} ${done}${title}.${payload.quote('error_message')}`;
  },
});

const submission: EventTemplate = {
  topic: (payload) => topicOf(payload.maybe('site_name') || 'Netlify', payload.raw('form_name')),
  text: (payload) => {
    const name = payload.maybe('name');
    const from = name === '' ? '' : ` from ${codeOf(name)}`;
    return `New submission of the form ${payload.code('form_name')}${from}.${payload.quote('summary')}`;
  },
};

export const NETLIFY: Integration = {
  name: 'netlify',
  displayName: 'Netlify',
  documentation: 'https://docs.netlify.com/deploy/deploy-notifications/',
  eventHeader: 'X-Netlify-Event',
  eventOf: (_payload, header) => header,
  events: {
    deploy_building: deploy('started'),
    deploy_created: deploy('**succeeded**', 'deploy_ssl_url'),
    deploy_failed: deploy('**failed**'),
    deploy_deleted: deploy('was deleted'),
    deploy_locked: deploy('was locked'),
    deploy_unlocked: deploy('was unlocked'),
    deploy_restored: deploy('was published by hand'),
    deploy_request_pending: deploy('waits for approval'),
    deploy_request_accepted: deploy('was approved'),
    deploy_request_rejected: deploy('was rejected'),
    submission_created: submission,
  },
  offByDefault: ['deploy_building', 'deploy_deleted'],
};
