import { HUB_EVENTS } from './github.js';
import { codeOf, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

/**
 * Gitea and Forgejo send the members of GitHub's events and name reviews differently.
 * https://docs.gitea.com/usage/webhooks, https://forgejo.org/docs/latest/user/webhooks/
 */
const review = (done: string): EventTemplate => ({
  topic: (payload) =>
    topicOf(
      payload.raw('repository.name'),
      `PR #${payload.raw('pull_request.number')} ${payload.raw('pull_request.title')}`,
    ),
  text: (payload) =>
    `**${payload.text('sender.login')}** ${done} ${payload.link(`PR #${payload.text('pull_request.number')} ${payload.text('pull_request.title')}`, 'pull_request.html_url')}.${payload.quote('review.content')}`,
});

const wikiVerbs: Readonly<Record<string, string>> = { created: 'created', edited: 'edited', deleted: 'deleted' };
const wiki: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('repository.name'), 'wiki'),
  text: (payload: Payload) => {
    const action = payload.raw('action');
    if (!Object.hasOwn(wikiVerbs, action)) return null;
    return `**${payload.text('sender.login')}** ${wikiVerbs[action]} the page ${codeOf(payload.raw('page'))}.`;
  },
};

const events: Readonly<Record<string, EventTemplate>> = {
  ...HUB_EVENTS,
  pull_request_comment: HUB_EVENTS.issue_comment!,
  pull_request_approved: review('approved'),
  pull_request_rejected: review('requested changes to'),
  wiki,
};

const make = (name: string, displayName: string, eventHeader: string): Integration => ({
  name,
  displayName,
  eventHeader,
  hasBranches: true,
  eventOf: (_payload, header) => header,
  events,
});

export const GITEA = make('gitea', 'Gitea', 'X-Gitea-Event');
export const FORGEJO = make('forgejo', 'Forgejo', 'X-Forgejo-Event');
