import { bulletsOf, type EventTemplate, type Integration, linkTo, type Payload, topicOf } from './integration.js';

const user = (payload: Payload): string =>
  payload.person('user.displayName', 'comment.updateAuthor.displayName', 'comment.author.displayName');
const topic = (payload: Payload): string =>
  topicOf(`${payload.raw('issue.key')} ${payload.maybe('issue.fields.summary')}`.trim());

/** The payload contains only the issue's address in the REST API. */
const issue = (payload: Payload): string => {
  const [server, api] = payload.maybe('issue.self').split('/rest/', 2);
  const name = `${payload.text('issue.key')} ${payload.has('issue.fields.summary') ? payload.text('issue.fields.summary') : ''}`;
  const url = api === undefined ? null : `${server}/browse/${encodeURIComponent(payload.raw('issue.key'))}`;
  return linkTo(name.trim(), url);
};

const facts = (payload: Payload): string =>
  [
    ['type', 'issue.fields.issuetype.name'],
    ['priority', 'issue.fields.priority.name'],
    ['assignee', 'issue.fields.assignee.displayName'],
  ]
    .flatMap(([name, path]) => (payload.has(path!) ? [`${name} **${payload.text(path!)}**`] : []))
    .join(', ');

const created: EventTemplate = {
  topic,
  text: (payload) => {
    const known = facts(payload);
    return `${user(payload)} created ${issue(payload)}${known === '' ? '' : ` (${known})`}.${payload.quote('issue.fields.description')}`;
  },
};

/** Other changes are edits, which are off by default. */
const CHANGES: readonly string[] = ['status', 'assignee', 'priority', 'resolution', 'Sprint', 'Fix Version'];
const changesOf = (payload: Payload): readonly Payload[] => payload.list('changelog.items');

const value = (change: Payload, path: string): string => (change.has(path) ? `**${change.text(path)}**` : '–');

const updated: EventTemplate = {
  topic,
  text: (payload) => {
    const changes = changesOf(payload);
    // Comments have their own events.
    if (changes.length === 0) return null;
    const lines = bulletsOf(
      changes,
      (change) => `${change.text('field')}: ${value(change, 'fromString')} → ${value(change, 'toString')}`,
    );
    return `${user(payload)} changed ${issue(payload)}:\n\n${lines}`;
  },
};

const commented = (done: string): EventTemplate => ({
  topic,
  text: (payload) => `${user(payload)} ${done} on ${issue(payload)}.${payload.quote('comment.body')}`,
});

/** Jira Cloud and Data Center. */
export const JIRA: Integration = {
  name: 'jira',
  displayName: 'Jira',
  documentation: 'https://developer.atlassian.com/server/jira/platform/webhooks/',
  addedParameters: ['user_id', 'user_key'],
  eventOf: (payload) => {
    const event = payload.raw('webhookEvent');
    if (event !== 'jira:issue_updated') return event;
    const isChange = changesOf(payload).some((change) => CHANGES.includes(change.maybe('field')));
    return isChange ? event : `${event}.edited`;
  },
  events: {
    'jira:issue_created': created,
    'jira:issue_updated': updated,
    'jira:issue_updated.edited': updated,
    'jira:issue_deleted': { topic, text: (payload) => `${user(payload)} deleted ${issue(payload)}.` },
    comment_created: commented('commented'),
    comment_updated: commented('edited a comment'),
    comment_deleted: commented('deleted a comment'),
  },
  offByDefault: ['jira:issue_updated.edited', 'comment_updated', 'comment_deleted'],
  ignored: [
    ...['jira:worklog_updated', 'worklog_created', 'worklog_updated', 'worklog_deleted', 'issuelink_created'],
    ...['issuelink_deleted', 'attachment_created', 'attachment_deleted', 'issue_property_set', 'user_created'],
    ...['user_updated', 'user_deleted', 'project_created', 'project_updated', 'project_deleted', 'board_created'],
    ...['board_updated', 'board_deleted', 'sprint_created', 'sprint_updated', 'sprint_deleted', 'sprint_started'],
    ...['sprint_closed', 'jira:version_released', 'jira:version_created', 'jira:version_updated'],
  ],
};
