import {
  AnomalousPayload,
  bulletsOf,
  codeOf,
  counted,
  type EventTemplate,
  escapeText,
  type Integration,
  type Payload,
  quoteOf,
  shortCommit,
  shortRef,
  textOfHtml,
  topicOf,
} from './integration.js';

const repository = (payload: Payload): string => payload.raw('resource.repository.name');

function refOf(payload: Payload): Payload {
  const ref = payload.list('resource.refUpdates')[0];
  if (!ref) throw new AnomalousPayload('resource.refUpdates');
  return ref;
}
const branchOf = (payload: Payload): string => shortRef(refOf(payload).raw('name'));

const push: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), branchOf(payload)),
  branch: branchOf,
  text: (payload) => {
    const [ref, user] = [refOf(payload), payload.person('resource.pushedBy.displayName')];
    const name = `the ${ref.raw('name').startsWith('refs/tags/') ? 'tag' : 'branch'} ${codeOf(branchOf(payload))}`;
    if (/^0+$/.test(ref.raw('newObjectId'))) return `${user} deleted ${name}.`;
    if (ref.raw('name').startsWith('refs/tags/')) return `${user} pushed ${name}.`;
    const commits = payload.list('resource.commits');
    const lines = bulletsOf(commits, (commit) => `${commit.line('comment')} (${shortCommit(commit.raw('commitId'))})`);
    return `${user} pushed ${counted(commits.length, 'commit')} to ${name}.\n\n${lines}`.trim();
  },
};

const pullRequest = (path: string, done: string, who = 'createdBy.displayName', quoted = ''): EventTemplate => ({
  topic: (payload) =>
    topicOf(
      payload.raw(`${path}.repository.name`),
      `PR #${payload.raw(`${path}.pullRequestId`)} ${payload.raw(`${path}.title`)}`,
    ),
  text: (payload) => {
    const name = `PR #${payload.text(`${path}.pullRequestId`)} ${payload.text(`${path}.title`)}`;
    const quote = quoted === '' ? '' : payload.quote(quoted);
    return `${payload.person(`resource.${who}`)} ${done} ${payload.link(name, `${path}._links.web.href`)}.${quote}`;
  },
});

/** Sent for new commits, votes and changes of the state; only the sentence distinguishes them. */
const pullRequestUpdated: EventTemplate = {
  topic: pullRequest('resource', '').topic,
  text: (payload) => payload.link(payload.line('message.text'), 'resource._links.web.href'),
};

/** Names of fields contain periods, such as `System.Title`. */
const fieldsOf = (payload: Payload, path: string): ReadonlyMap<string, string> => new Map(payload.entries(path));
/** Returns `Ann Example` of `Ann Example <ann@example.com>`. */
const nameOf = (person: string): string => person.replace(/ <[^<>]*>$/, '');

const workItem = (done: string, who: string, { id = 'id', fields = 'resource.fields' } = {}): EventTemplate => {
  const nameIn = (payload: Payload, found: ReadonlyMap<string, string>): string =>
    `${found.get('System.WorkItemType') ?? 'Work item'} ${payload.raw(`resource.${id}`)} ${found.get('System.Title') ?? ''}`;
  return {
    topic: (payload) => {
      const found = fieldsOf(payload, fields);
      return topicOf(found.get('System.TeamProject') ?? '', nameIn(payload, found).trim());
    },
    text: (payload) => {
      const found = fieldsOf(payload, fields);
      const person = found.get(who);
      const actor =
        person === undefined ? payload.person('resource.revisedBy.displayName') : `**${escapeText(nameOf(person))}**`;
      const state = found.get('System.State');
      const item = payload.link(escapeText(nameIn(payload, found)), 'resource._links.html.href');
      return `${actor} ${done} ${item}${state === undefined ? '' : ` (${escapeText(state)})`}.${quoteOf(textOfHtml(found.get('System.History') ?? ''))}`;
    },
  };
};

const build: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('resource.definition.name')),
  text: (payload) => {
    const commit = payload.maybe('resource.sourceVersion');
    const name = payload.link(`Build ${payload.text('resource.buildNumber')}`, 'resource._links.web.href');
    const at = commit === '' ? '' : ` at ${shortCommit(commit)}`;
    return `${name}${at} ended with **${payload.first('resource.result', 'resource.status')}**.`;
  },
};

export const AZURE_DEVOPS: Integration = {
  name: 'azuredevops',
  displayName: 'Azure DevOps',
  documentation: 'https://learn.microsoft.com/azure/devops/service-hooks/services/webhooks',
  eventOf: (payload) => payload.raw('eventType'),
  hasBranches: true,
  events: {
    'git.push': push,
    'git.pullrequest.created': pullRequest('resource', 'opened', 'createdBy.displayName', 'resource.description'),
    'git.pullrequest.updated': pullRequestUpdated,
    'git.pullrequest.merged': pullRequest('resource', 'merged', 'closedBy.displayName'),
    'ms.vss-code.git-pullrequest-comment-event': pullRequest(
      'resource.pullRequest',
      'commented on',
      'comment.author.displayName',
      'resource.comment.content',
    ),
    'workitem.created': workItem('created', 'System.CreatedBy'),
    'workitem.updated': workItem('changed', 'System.ChangedBy', {
      id: 'workItemId',
      fields: 'resource.revision.fields',
    }),
    'workitem.commented': workItem('commented on', 'System.ChangedBy'),
    'workitem.deleted': workItem('deleted', 'System.ChangedBy'),
    'workitem.restored': workItem('restored', 'System.ChangedBy'),
    'build.complete': build,
  },
  offByDefault: ['git.pullrequest.updated', 'workitem.updated'],
  ignored: [
    'tfvc.checkin',
    'git.repo.created',
    'git.repo.deleted',
    'git.repo.renamed',
    'ms.vss-release.release-created-event',
  ],
};
