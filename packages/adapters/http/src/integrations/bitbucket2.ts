import {
  AnomalousPayload,
  bulletsOf,
  codeOf,
  counted,
  detailed,
  type EventTemplate,
  type Integration,
  lookUp,
  MAX_ENTRIES,
  type Payload,
  shortCommit,
  topicOf,
} from './integration.js';

const repository = (payload: Payload): string => payload.raw('repository.name');
const actor = (payload: Payload): string => payload.person('actor.display_name', 'actor.nickname');

/** Returns the branches and tags of a push. */
function changesOf(payload: Payload): readonly Payload[] {
  const changes = payload.list('push.changes');
  if (changes.length === 0) throw new AnomalousPayload('push.changes');
  return changes;
}
const refOf = (change: Payload): string => (change.has('new') ? 'new' : 'old');
const nameOf = (change: Payload): string => change.raw(`${refOf(change)}.name`);

function changeText(payload: Payload, change: Payload): string {
  const type = change.raw(`${refOf(change)}.type`) === 'tag' ? 'tag' : 'branch';
  const name = codeOf(nameOf(change));
  if (!change.has('new')) return `${actor(payload)} deleted the ${type} ${name}.`;
  if (type === 'tag') return `${actor(payload)} pushed the tag ${name}.`;
  const commits = change.list('commits');
  const pushed = change.link(change.has('forced') ? 'force pushed' : 'pushed', 'links.html.href');
  // Bitbucket lists at most five commits.
  const count = `${change.has('truncated') ? 'more than ' : ''}${counted(commits.length, 'commit')}`;
  const lines = bulletsOf(
    commits,
    (commit) => `${commit.line('message')} (${commit.link(shortCommit(commit.raw('hash')), 'links.html.href')})`,
  );
  return `${actor(payload)} ${pushed} ${count} to branch ${name}.\n\n${lines}`.trim();
}

const push: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), nameOf(changesOf(payload)[0]!)),
  branch: (payload) => nameOf(changesOf(payload)[0]!),
  text: (payload) =>
    changesOf(payload)
      .slice(0, MAX_ENTRIES)
      .map((change) => changeText(payload, change))
      .join('\n\n'),
};

const NAMES: Readonly<Record<string, string>> = { issue: 'issue', pullrequest: 'PR' };
const titleOf = (payload: Payload, path: string): string =>
  `#${payload.raw(`${path}.id`)} ${payload.raw(`${path}.title`)}`;
const linked = (payload: Payload, path: string): string =>
  payload.link(
    `${NAMES[path]} #${payload.text(`${path}.id`)} ${payload.text(`${path}.title`)}`,
    `${path}.links.html.href`,
  );

const changed = (path: string, done: string, quoted = ''): EventTemplate => ({
  topic: (payload) => topicOf(repository(payload), `${NAMES[path]} ${titleOf(payload, path)}`),
  text: (payload) => `${actor(payload)} ${done} ${linked(payload, path)}.${quoted === '' ? '' : payload.quote(quoted)}`,
});

const commented = (path: string, done = 'commented'): EventTemplate => ({
  topic: changed(path, '').topic,
  text: (payload) =>
    `${actor(payload)} ${payload.link(done, 'comment.links.html.href')} on ${linked(payload, path)}.${payload.quote('comment.content.raw')}`,
});

const RESULTS: Readonly<Record<string, string>> = { SUCCESSFUL: 'success', FAILED: 'failure', STOPPED: 'stopped' };
const status: EventTemplate = {
  topic: (payload) =>
    topicOf(repository(payload), payload.maybe('commit_status.refname') || payload.raw('commit_status.key')),
  text: (payload) => {
    const result = lookUp(RESULTS, payload.raw('commit_status.state'));
    const name = payload.link(payload.first('commit_status.name', 'commit_status.key'), 'commit_status.url');
    const commit = payload.maybe('commit_status.commit.hash');
    const at = commit === '' ? '' : ` at ${shortCommit(commit)}`;
    return result === null ? null : `${name} ended with **${result}**${at}.`;
  },
};

const events: Readonly<Record<string, EventTemplate>> = {
  'repo:push': push,
  'repo:fork': {
    topic: repository,
    text: (payload) =>
      `${actor(payload)} forked the repository to ${payload.link(payload.text('fork.full_name'), 'fork.links.html.href')}.`,
  },
  'repo:updated': { topic: repository, text: (payload) => `${actor(payload)} changed the repository's settings.` },
  'repo:commit_comment_created': {
    topic: repository,
    text: (payload) =>
      `${actor(payload)} ${payload.link('commented', 'comment.links.html.href')} on ${shortCommit(payload.raw('commit.hash'))}.${payload.quote('comment.content.raw')}`,
  },
  'repo:commit_status_created': status,
  'repo:commit_status_updated': status,
  'repo:commit_status_created.SUCCESSFUL': status,
  'repo:commit_status_updated.SUCCESSFUL': status,
  'issue:created': changed('issue', 'opened', 'issue.content.raw'),
  'issue:updated': changed('issue', 'edited'),
  'issue:comment_created': commented('issue'),
  'pullrequest:created': changed('pullrequest', 'opened', 'pullrequest.description'),
  'pullrequest:updated': changed('pullrequest', 'edited'),
  'pullrequest:approved': changed('pullrequest', 'approved'),
  'pullrequest:unapproved': changed('pullrequest', 'withdrew the approval of'),
  'pullrequest:changes_request_created': changed('pullrequest', 'requested changes to'),
  'pullrequest:changes_request_removed': changed('pullrequest', 'withdrew the requested changes to'),
  'pullrequest:fulfilled': changed('pullrequest', 'merged'),
  'pullrequest:rejected': changed('pullrequest', 'declined', 'pullrequest.reason'),
  'pullrequest:comment_created': commented('pullrequest'),
  'pullrequest:comment_updated': commented('pullrequest', 'edited a comment'),
  'pullrequest:comment_deleted': commented('pullrequest', 'deleted a comment'),
};

/** Bitbucket Cloud. */
export const BITBUCKET: Integration = {
  name: 'bitbucket2',
  displayName: 'Bitbucket Cloud',
  documentation: 'https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/',
  eventHeader: 'X-Event-Key',
  hasBranches: true,
  eventOf: (payload, header) => detailed(events, header, payload.maybe('commit_status.state')),
  events,
  offByDefault: Object.keys(events).filter(
    (event) => /SUCCESSFUL|updated$|comment_deleted$/.test(event) && event !== 'repo:commit_status_updated',
  ),
  ignored: ['repo:imported', 'repo:transfer', 'pullrequest:comment_resolved', 'pullrequest:comment_reopened'],
};
