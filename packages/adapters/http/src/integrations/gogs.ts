import { detailOf, forkEvent, HUB_EVENTS } from './github.js';
import { detailed, type EventTemplate, type Integration } from './integration.js';

/** Gogs uses the fields of GitHub's events, but sends fewer of them. */
const { push, create, delete: deleted, issues, issue_comment, pull_request, release } = HUB_EVENTS;
const events: Readonly<Record<string, EventTemplate>> = {
  push,
  create,
  delete: deleted,
  issues,
  'issues.edited': issues,
  'issues.label_updated': issues,
  'issues.label_cleared': issues,
  issue_comment,
  'issue_comment.edited': issue_comment,
  pull_request,
  'pull_request.edited': pull_request,
  'pull_request.label_updated': pull_request,
  'pull_request.label_cleared': pull_request,
  'pull_request.synchronized': pull_request,
  release,
  fork: forkEvent('forkee', 'repository'),
};

export const GOGS: Integration = {
  name: 'gogs',
  displayName: 'Gogs',
  documentation: 'https://github.com/gogs/docs-api/blob/master/Repositories/Webhooks.md',
  eventHeader: 'X-Gogs-Event',
  hasBranches: true,
  eventOf: (payload, header) => detailed(events, header, detailOf(payload)),
  events,
  offByDefault: Object.keys(events).filter((event) => event.includes('.')),
};
