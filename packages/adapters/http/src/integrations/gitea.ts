import { detailOf, forkEvent, HUB_EVENTS, numbered, runEvent, sender } from './github.js';
import { codeOf, detailed, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

/** Gitea and Forgejo use the fields of GitHub's events but name reviews differently. */
const review = (done: string): EventTemplate => ({
  topic: HUB_EVENTS.pull_request.topic,
  text: (payload) =>
    `${sender(payload)} ${done} ${numbered(payload, 'pull_request')}.${payload.quote('review.content')}`,
});

const wikiVerbs: Readonly<Record<string, string>> = { created: 'created', edited: 'edited', deleted: 'deleted' };
const wiki: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('repository.name'), 'wiki'),
  text: (payload: Payload) => {
    const action = payload.raw('action');
    if (!Object.hasOwn(wikiVerbs, action)) return null;
    return `${sender(payload)} ${wikiVerbs[action]} the page ${codeOf(payload.raw('page'))}.`;
  },
};

const events: Readonly<Record<string, EventTemplate>> = {
  ...HUB_EVENTS,
  'issues.label_updated': HUB_EVENTS.issues,
  'issues.label_cleared': HUB_EVENTS.issues,
  'pull_request.label_updated': HUB_EVENTS.pull_request,
  'pull_request.label_cleared': HUB_EVENTS.pull_request,
  'pull_request.synchronized': HUB_EVENTS.pull_request,
  'release.updated': HUB_EVENTS.release,
  fork: forkEvent('forkee', 'repository'),
  pull_request_comment: review('reviewed'),
  pull_request_approved: review('approved'),
  pull_request_rejected: review('requested changes to'),
  wiki,
  workflow_run: runEvent('workflow_run'),
  'workflow_run.success': runEvent('workflow_run'),
};

const shared: Pick<Integration, 'hasBranches' | 'eventOf' | 'events' | 'offByDefault' | 'ignored'> = {
  hasBranches: true,
  eventOf: (payload, header) => detailed(events, header, detailOf(payload)),
  events,
  offByDefault: Object.keys(events).filter((event) =>
    /\.(edited|label_\w+|synchronized|updated)$|^status\.success$/.test(event),
  ),
  ignored: ['package', 'workflow_job'],
};

export const GITEA: Integration = {
  name: 'gitea',
  displayName: 'Gitea',
  documentation: 'https://docs.gitea.com/usage/webhooks',
  eventHeader: 'X-Gitea-Event',
  ...shared,
};

export const FORGEJO: Integration = {
  name: 'forgejo',
  displayName: 'Forgejo',
  documentation: 'https://forgejo.org/docs/latest/user/webhooks/',
  eventHeader: 'X-Forgejo-Event',
  ...shared,
};
