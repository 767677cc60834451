import { type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

const actor = (payload: Payload): string => payload.person('actor.name', 'data.user.name');

/** Comments refer to their issue. */
const titleOf = (payload: Payload, path: string): string =>
  `${payload.has(`${path}.identifier`) ? `${payload.text(`${path}.identifier`)} ` : ''}${payload.text(`${path}.title`)}`;

const issueTopic = (path: string) => (payload: Payload) =>
  topicOf(`${payload.maybe(`${path}.identifier`)} ${payload.raw(`${path}.title`)}`.trim());

const state = (payload: Payload): string => {
  const facts = [
    ['', 'data.state.name'],
    ['priority ', 'data.priorityLabel'],
    ['assigned to ', 'data.assignee.name'],
  ] as const;
  const known = facts.flatMap(([name, path]) => (payload.has(path) ? [`${name}**${payload.text(path)}**`] : []));
  return known.length === 0 ? '' : ` (${known.join(', ')})`;
};

const issue = (done: string, quoted = ''): EventTemplate => ({
  topic: issueTopic('data'),
  text: (payload) =>
    `${actor(payload)} ${done} ${payload.link(titleOf(payload, 'data'), 'url')}${state(payload)}.${quoted === '' ? '' : payload.quote(quoted)}`,
});

const comment = (done: string): EventTemplate => ({
  topic: issueTopic('data.issue'),
  text: (payload) =>
    `${actor(payload)} ${payload.link(done, 'url')} on ${titleOf(payload, 'data.issue')}.${payload.quote('data.body')}`,
});

const project = (done: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('data.name')),
  text: (payload) =>
    `${actor(payload)} ${done} the project ${payload.link(payload.text('data.name'), 'url')}${state(payload)}.`,
});

const projectUpdate: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('data.project.name')),
  text: (payload) => {
    const health = payload.has('data.health') ? ` (**${payload.text('data.health')}**)` : '';
    return `${actor(payload)} ${payload.link('reported', 'url')} on the project ${payload.text('data.project.name')}${health}.${payload.quote('data.body')}`;
  },
};

const events: Readonly<Record<string, EventTemplate>> = {
  'Issue.create': issue('created', 'data.description'),
  'Issue.update': issue('changed'),
  'Issue.edited': issue('edited'),
  'Issue.remove': issue('deleted'),
  'Comment.create': comment('commented'),
  'Comment.update': comment('edited a comment'),
  'Comment.remove': comment('deleted a comment'),
  'Project.create': project('created'),
  'Project.update': project('changed'),
  'Project.remove': project('deleted'),
  'ProjectUpdate.create': projectUpdate,
};

/** Members of `updatedFrom` in other changes of an issue than edits. */
const CHANGES: readonly string[] = ['stateId', 'assigneeId', 'priority'];

export const LINEAR: Integration = {
  name: 'linear',
  displayName: 'Linear',
  documentation: 'https://linear.app/developers/webhooks',
  eventOf: (payload) => {
    const [type, action] = [payload.raw('type'), payload.raw('action')];
    const before = Object.keys(Object(payload.at('updatedFrom')));
    const isEdit = type === 'Issue' && action === 'update' && !before.some((name) => CHANGES.includes(name));
    const event = `${type}.${isEdit ? 'edited' : action}`;
    return Object.hasOwn(events, event) ? event : type;
  },
  events,
  offByDefault: ['Issue.edited', 'Comment.update', 'Comment.remove', 'Project.update'],
  ignored: [
    ...['Attachment', 'AuditEntry', 'Customer', 'CustomerNeed', 'Cycle', 'Document', 'Initiative', 'InitiativeUpdate'],
    ...['IssueLabel', 'IssueSLA', 'OAuthApp', 'ProjectUpdate', 'Reaction', 'User'],
  ],
};
