import {
  AnomalousPayload,
  bulletsOf,
  codeOf,
  type EventTemplate,
  type Integration,
  lookUp,
  MAX_ENTRIES,
  type Payload,
  shortCommit,
  topicOf,
} from './integration.js';

const actor = (payload: Payload): string => payload.person('actor.displayName', 'actor.name');
const repository = (payload: Payload): string => payload.raw('repository.name');

const DONE: Readonly<Record<string, string>> = { ADD: 'created', UPDATE: 'pushed to', DELETE: 'deleted' };

function changesOf(payload: Payload): readonly Payload[] {
  const changes = payload.list('changes');
  if (changes.length === 0) throw new AnomalousPayload('changes');
  return changes;
}

function changeText(change: Payload): string {
  const type = change.raw('type');
  const at = type === 'DELETE' ? '' : ` at ${shortCommit(change.raw('toHash'))}`;
  const kind = change.raw('ref.type') === 'TAG' ? 'tag' : 'branch';
  return `${lookUp(DONE, type) ?? 'changed'} the ${kind} ${codeOf(change.raw('ref.displayId'))}${at}`;
}

/** The payload lists no commits, only the last one of each branch. */
const push: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), changesOf(payload)[0]!.raw('ref.displayId')),
  branch: (payload) => changesOf(payload)[0]!.raw('ref.displayId'),
  text: (payload) => {
    const changes = changesOf(payload);
    if (changes.length === 1) return `${actor(payload)} ${changeText(changes[0]!)}.`;
    return `${actor(payload)} pushed:\n\n${bulletsOf(changes, changeText)}`;
  },
};

const PATH = 'pullRequest';
const project = (payload: Payload): string => payload.raw(`${PATH}.toRef.repository.name`);
const linked = (payload: Payload): string =>
  payload.link(`PR #${payload.text(`${PATH}.id`)} ${payload.text(`${PATH}.title`)}`, `${PATH}.links.self.0.href`);

const topic = (payload: Payload): string =>
  topicOf(project(payload), `PR #${payload.raw(`${PATH}.id`)} ${payload.raw(`${PATH}.title`)}`);
const changed = (done: string, quoted = ''): EventTemplate => ({
  topic,
  text: (payload) => `${actor(payload)} ${done} ${linked(payload)}.${quoted === '' ? '' : payload.quote(quoted)}`,
});

const comment = (done: string): EventTemplate => changed(`${done} on`, 'comment.text');
const commitComment = (done: string): EventTemplate => ({
  topic: repository,
  text: (payload) =>
    `${actor(payload)} ${done} on ${shortCommit(payload.raw('commit'))}.${payload.quote('comment.text')}`,
});

const reviewers = (payload: Payload): string => {
  const named = (path: string): string =>
    payload
      .list(path)
      .slice(0, MAX_ENTRIES)
      .map((reviewer) => reviewer.person('displayName', 'name'))
      .join(', ');
  const [added, removed] = [named('addedReviewers'), named('removedReviewers')];
  return [added && `asked ${added} to review`, removed && `withdrew the review request of ${removed} for`]
    .filter((part) => part !== '')
    .join(' and ');
};

/** Bitbucket Server and Data Center. */
export const BITBUCKET_SERVER: Integration = {
  name: 'bitbucket3',
  displayName: 'Bitbucket Data Center',
  documentation: 'https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html',
  eventHeader: 'X-Event-Key',
  hasBranches: true,
  eventOf: (_payload, header) => header,
  events: {
    'repo:refs_changed': push,
    'repo:forked': {
      topic: (payload) => payload.raw('repository.origin.name'),
      text: (payload) =>
        `${actor(payload)} forked the repository to ${payload.code('repository.project.key')}/${payload.code('repository.slug')}.`,
    },
    'repo:modified': {
      topic: (payload) => payload.raw('new.name'),
      text: (payload) => `${actor(payload)} renamed the repository from ${payload.code('old.name')}.`,
    },
    'repo:comment:added': commitComment('commented'),
    'repo:comment:edited': commitComment('edited a comment'),
    'repo:comment:deleted': commitComment('deleted a comment'),
    'pr:opened': changed('opened', `${PATH}.description`),
    'pr:modified': changed('edited'),
    'pr:from_ref_updated': changed('pushed new commits to'),
    'pr:reviewer:updated': {
      topic,
      text: (payload) => {
        const done = reviewers(payload);
        return done === '' ? null : `${actor(payload)} ${done} ${linked(payload)}.`;
      },
    },
    'pr:reviewer:approved': changed('approved'),
    'pr:reviewer:unapproved': changed('withdrew the approval of'),
    'pr:reviewer:needs_work': changed('requested changes to'),
    'pr:merged': changed('merged'),
    'pr:declined': changed('declined'),
    'pr:deleted': changed('deleted'),
    'pr:comment:added': comment('commented'),
    'pr:comment:edited': comment('edited a comment'),
    'pr:comment:deleted': comment('deleted a comment'),
  },
  offByDefault: [
    ...['repo:comment:edited', 'repo:comment:deleted', 'pr:modified', 'pr:from_ref_updated'],
    ...['pr:comment:edited', 'pr:comment:deleted'],
  ],
  ignored: ['diagnostics:ping', 'mirror:repo_synchronized', 'repo:secret_detected'],
};
