import {
  bulletsOf,
  codeOf,
  counted,
  detailed,
  type EventTemplate,
  type Integration,
  type Payload,
  shortCommit,
  shortRef,
  topicOf,
} from './integration.js';

// GitHub events; Gitea and Forgejo use the same fields.

const repository = (payload: Payload): string => payload.raw('repository.name');
const organization = (payload: Payload): string => payload.raw('organization.login');
export const sender = (payload: Payload): string => payload.person('sender.login', 'pusher.login', 'pusher.name');
const branchOf = (payload: Payload): string => shortRef(payload.raw('ref'));

/** Actions that produce a message, in the past tense. `@` stands for the name of the person, team or label. */
const ACTIONS: Readonly<Record<string, string>> = {
  opened: 'opened',
  // Discussions only.
  created: 'created',
  answered: 'chose an answer to',
  closed: 'closed',
  reopened: 'reopened',
  deleted: 'deleted',
  transferred: 'transferred',
  assigned: 'assigned @ to',
  unassigned: 'unassigned @ from',
  ready_for_review: 'marked as ready for review',
  converted_to_draft: 'converted to a draft',
  review_requested: 'requested a review from @ for',
  edited: 'edited',
  labeled: 'added the label @ to',
  unlabeled: 'removed the label @ from',
  synchronize: 'pushed new commits to',
  // Gitea and Forgejo.
  synchronized: 'pushed new commits to',
  label_updated: 'changed the labels of',
  label_cleared: 'removed the labels of',
};

/** Returns the subject of an action: a label, a reviewer or an assignee. */
const subjectOf = (payload: Payload, path: string): string =>
  payload.has('label.name')
    ? payload.code('label.name')
    : `**${payload.first('requested_reviewer.login', 'requested_team.name', 'assignee.login', `${path}.assignee.login`)}**`;

const numberedTopic = (path: string) => (payload: Payload) =>
  topicOf(
    repository(payload),
    `${nameOf(payload, path)} #${payload.raw(`${path}.number`)} ${payload.raw(`${path}.title`)}`,
  );
const NAMES: Readonly<Record<string, string>> = { issue: 'issue', pull_request: 'PR', discussion: 'discussion' };

/** GitHub reports a comment on a pull request as an issue comment. */
const nameOf = (payload: Payload, path: string): string =>
  NAMES[payload.has(`${path}.pull_request`) ? 'pull_request' : path]!;

export const numbered = (payload: Payload, path: string): string =>
  payload.link(
    `${nameOf(payload, path)} #${payload.text(`${path}.number`)} ${payload.text(`${path}.title`)}`,
    `${path}.html_url`,
  );

/** Branches of a pull request; empty for other objects, and for actions on a person or label. */
function branches(payload: Payload, path: string, action: string): string {
  const [head, base] = [`${path}.head`, `${path}.base`];
  if (/@|label/.test(ACTIONS[action]!) || !payload.has(`${head}.ref`) || !payload.has(`${base}.ref`)) return '';
  const target = payload.maybe(`${base}.repo.full_name`);
  const isFork = target !== '' && target !== payload.maybe(`${head}.repo.full_name`);
  const owner = isFork ? `${payload.firstRaw(`${head}.user.login`, `${head}.repo.owner.login`)}:` : '';
  return ` from ${codeOf(`${owner}${payload.raw(`${head}.ref`)}`)} to ${payload.code(`${base}.ref`)}`;
}

const changed = (path: string): EventTemplate => ({
  topic: numberedTopic(path),
  text: (payload) => {
    const action = payload.raw('action');
    const isMerged = action === 'closed' && payload.has(`${path}.merged`);
    if (!Object.hasOwn(ACTIONS, action)) return null;
    const done = isMerged ? 'merged' : ACTIONS[action]!.replace('@', () => subjectOf(payload, path));
    const quote = action === 'opened' || action === 'created' ? payload.quote(`${path}.body`) : '';
    return `${sender(payload)} ${done} ${numbered(payload, path)}${branches(payload, path, action)}.${quote}`;
  },
});

const COMMENTED: Readonly<Record<string, string>> = { created: 'commented', edited: 'edited a comment' };

const commented = (path: string): EventTemplate => ({
  topic: numberedTopic(path),
  text: (payload) => {
    const action = payload.raw('action');
    if (!Object.hasOwn(COMMENTED, action)) return null;
    const comment = payload.link(COMMENTED[action]!, 'comment.html_url');
    return `${sender(payload)} ${comment} on ${numbered(payload, path)}.${payload.quote('comment.body')}`;
  },
});

export const pushEvent: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), branchOf(payload)),
  branch: branchOf,
  text: (payload) => {
    const branch = codeOf(branchOf(payload));
    if (payload.raw('ref').startsWith('refs/tags/')) {
      return `${sender(payload)} ${payload.has('deleted') ? 'deleted' : 'pushed'} the tag ${branch}.`;
    }
    if (payload.has('deleted')) return `${sender(payload)} deleted the branch ${branch}.`;
    const commits = payload.list('commits');
    const pushed = payload.has('forced') ? 'force pushed' : 'pushed';
    const compare = payload.has('compare') ? 'compare' : 'compare_url';
    const lines = bulletsOf(
      commits,
      (commit) => `${commit.line('message')} (${commit.link(shortCommit(commit.raw('id')), 'url')})`,
    );
    return `${sender(payload)} ${payload.link(pushed, compare)} ${counted(commits.length, 'commit')} to branch ${branch}.\n\n${lines}`.trim();
  },
};

const refEvent = (done: string): EventTemplate => ({
  topic: (payload) => topicOf(repository(payload), branchOf(payload)),
  text: (payload) => `${sender(payload)} ${done} the ${payload.text('ref_type')} ${codeOf(branchOf(payload))}.`,
});

const RELEASED: Readonly<Record<string, string>> = {
  published: 'published',
  // Also sent together with `published`.
  released: 'published',
  edited: 'edited',
  updated: 'edited',
};

const release: EventTemplate = {
  topic: repository,
  text: (payload) => {
    const action = payload.raw('action');
    if (!Object.hasOwn(RELEASED, action)) return null;
    const name = payload.link(payload.first('release.name', 'release.tag_name'), 'release.html_url');
    return `${sender(payload)} ${RELEASED[action]} the release ${name}.${payload.quote('release.body')}`;
  },
};

const status: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), payload.raw('context')),
  text: (payload) =>
    payload.raw('state') === 'pending'
      ? null
      : `${payload.link(payload.text('context'), 'target_url')} reports **${payload.text('state')}** at ${shortCommit(payload.raw('sha'))}.`,
};

/** Shared by GitHub and compatible services. */
export const HUB_EVENTS = {
  push: pushEvent,
  create: refEvent('created'),
  delete: refEvent('deleted'),
  issues: changed('issue'),
  'issues.edited': changed('issue'),
  issue_comment: commented('issue'),
  'issue_comment.edited': commented('issue'),
  pull_request: changed('pull_request'),
  'pull_request.edited': changed('pull_request'),
  release,
  repository: {
    topic: repository,
    text: (payload) => {
      const name = payload.maybe('changes.repository.name.from');
      const from = name === '' ? '' : ` from ${codeOf(name)}`;
      return `${sender(payload)} ${payload.text('action').replaceAll('_', ' ')} the repository${from}.`;
    },
  },
  status,
  'status.success': status,
} satisfies Readonly<Record<string, EventTemplate>>;

/** `from` and `to` name the payload fields of the two repositories. */
export const forkEvent = (from: string, to: string): EventTemplate => ({
  topic: (payload) => payload.raw(`${from}.name`),
  text: (payload) =>
    `${sender(payload)} forked the repository to ${payload.link(payload.text(`${to}.full_name`), `${to}.html_url`)}.`,
});

const REVIEWS: Readonly<Record<string, string>> = {
  approved: 'approved',
  changes_requested: 'requested changes to',
  commented: 'reviewed',
  dismissed: 'dismissed a review of',
};

/** Returns the branch of a run, with the owner of a fork; the run's name if it has no branch. */
function runBranch(payload: Payload, path: string): string {
  const branch = payload.maybe(`${path}.head_branch`);
  const source = payload.maybe(`${path}.head_repository.full_name`);
  if (branch === '') return payload.firstRaw(`${path}.name`);
  return ['', payload.maybe('repository.full_name')].includes(source) ? branch : `${source.split('/', 1)[0]}:${branch}`;
}

/** Unfinished runs produce no message. */
export const runEvent = (path: string): EventTemplate => ({
  topic: (payload) => topicOf(repository(payload), runBranch(payload, path)),
  text: (payload) => {
    if (payload.raw('action') !== 'completed') return null;
    const name = payload.first(`${path}.name`, `${path}.app.name`, `${path}.display_title`);
    const result = payload.has(`${path}.conclusion`)
      ? `with **${payload.text(`${path}.conclusion`)}**`
      : 'without a result';
    return `${payload.link(name, `${path}.html_url`)} ended ${result} at ${shortCommit(payload.raw(`${path}.head_sha`))}.`;
  },
});

const review: EventTemplate = {
  topic: numberedTopic('pull_request'),
  text: (payload) => {
    const state = payload.raw('review.state').toLowerCase();
    if (!Object.hasOwn(REVIEWS, state)) return null;
    const done = payload.raw('action') === 'edited' ? 'edited a review of' : REVIEWS[state]!;
    return `${sender(payload)} ${payload.link(done, 'review.html_url')} ${numbered(payload, 'pull_request')}.${payload.quote('review.body')}`;
  },
};

const star: EventTemplate = {
  topic: repository,
  text: (payload) =>
    `${sender(payload)} ${payload.raw('action') === 'deleted' ? 'unstarred' : 'starred'} the repository.`,
};

const wiki: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), 'wiki'),
  text: (payload) => {
    const pages = payload.list('pages');
    const lines = bulletsOf(pages, (page) => `${page.text('action')} ${page.link(page.text('title'), 'html_url')}`);
    return `${sender(payload)} changed the wiki:\n\n${lines}`;
  },
};

const deployment: EventTemplate = {
  topic: (payload) => topicOf(repository(payload), payload.raw('deployment.environment')),
  text: (payload) =>
    `${sender(payload)} started the deployment of ${shortCommit(payload.raw('deployment.sha'))} to ${payload.code('deployment.environment')}.`,
};

const deploymentStatus: EventTemplate = {
  topic: deployment.topic,
  text: (payload) => {
    const state = payload.raw('deployment_status.state');
    if (!['success', 'failure', 'error'].includes(state)) return null;
    const link = payload.link('deployment', 'deployment_status.target_url');
    return `The ${link} of ${shortCommit(payload.raw('deployment.sha'))} to ${payload.code('deployment.environment')} ended with **${state}**.`;
  },
};

const member: EventTemplate = {
  topic: repository,
  text: (payload) => {
    const person = `**${payload.first('member.login')}**`;
    return payload.raw('action') === 'edited'
      ? `${sender(payload)} changed the permissions of ${person}.`
      : `${sender(payload)} ${payload.text('action')} ${person} as a collaborator.`;
  },
};

const MOVED: Readonly<Record<string, string>> = { added: 'added @ to', removed: 'removed @ from' };

/** Returns the sentence for an added or removed person; null for other actions. */
const movedTo = (payload: Payload, action: string, person: string, group: string): string | null =>
  Object.hasOwn(MOVED, action)
    ? `${sender(payload)} ${MOVED[action]!.replace('@', () => `**${payload.first(person)}**`)} ${group}.`
    : null;

const team = (payload: Payload): string => `the team ${payload.link(payload.text('team.name'), 'team.html_url')}`;

const TEAM_ACTIONS: Readonly<Record<string, string>> = { created: 'created', deleted: 'deleted', edited: 'edited' };
const teamChanged: EventTemplate = {
  topic: (payload) => payload.firstRaw('organization.login', 'team.name'),
  text: (payload) => {
    const action = payload.raw('action');
    if (Object.hasOwn(TEAM_ACTIONS, action)) return `${sender(payload)} ${TEAM_ACTIONS[action]} ${team(payload)}.`;
    const [verb, ...rest] = action.split('_');
    if (!['to_repository', 'from_repository'].includes(rest.join('_'))) return null;
    return `${sender(payload)} ${verb} ${team(payload)} ${rest[0]} the repository ${payload.code('repository.full_name')}.`;
  },
};

const SPONSORED: Readonly<Record<string, string>> = {
  created: 'started to sponsor @',
  cancelled: 'stopped sponsoring @',
  tier_changed: 'changed the tier of the sponsorship of @',
  edited: 'edited the sponsorship of @',
  pending_cancellation: 'is going to stop sponsoring @',
  pending_tier_change: 'is going to change the tier of the sponsorship of @',
};
const sponsorship: EventTemplate = {
  topic: (payload) => topicOf('sponsors', payload.raw('sponsorship.sponsorable.login')),
  text: (payload) => {
    const action = payload.raw('action');
    if (!Object.hasOwn(SPONSORED, action)) return null;
    const done = SPONSORED[action]!.replace('@', () => `**${payload.first('sponsorship.sponsorable.login')}**`);
    const tier = payload.has('sponsorship.tier.name') ? ` (${payload.text('sponsorship.tier.name')})` : '';
    return `${payload.person('sponsorship.sponsor.login', 'sender.login')} ${done}${tier}.`;
  },
};

const events: Readonly<Record<string, EventTemplate>> = {
  ...HUB_EVENTS,
  'issues.labeled': changed('issue'),
  'issues.unlabeled': changed('issue'),
  'pull_request.labeled': changed('pull_request'),
  'pull_request.unlabeled': changed('pull_request'),
  'pull_request.synchronize': changed('pull_request'),
  'release.edited': release,
  'repository.edited': HUB_EVENTS.repository,
  'release.released': release,
  ping: {
    topic: (payload) => (payload.has('repository') ? repository(payload) : organization(payload)),
    text: (payload) => {
      payload.raw('hook_id');
      return 'GitHub webhook has been successfully configured.';
    },
  },
  commit_comment: {
    topic: repository,
    text: (payload) =>
      `${sender(payload)} ${payload.link('commented', 'comment.html_url')} on ${shortCommit(payload.raw('comment.commit_id'))}.${payload.quote('comment.body')}`,
  },
  pull_request_review: review,
  'pull_request_review.edited': review,
  pull_request_review_comment: commented('pull_request'),
  'pull_request_review_comment.edited': commented('pull_request'),
  discussion: changed('discussion'),
  'discussion.edited': changed('discussion'),
  discussion_comment: commented('discussion'),
  'discussion_comment.edited': commented('discussion'),
  star,
  watch: star,
  member,
  'member.edited': member,
  membership: {
    topic: organization,
    text: (payload) => movedTo(payload, payload.raw('action'), 'member.login', team(payload)),
  },
  organization: {
    topic: organization,
    text: (payload) =>
      movedTo(payload, payload.raw('action').replace(/^member_/, ''), 'membership.user.login', 'the organization'),
  },
  team: teamChanged,
  'team.edited': teamChanged,
  team_add: {
    topic: repository,
    text: (payload) => `${sender(payload)} added ${team(payload)} to the repository.`,
  },
  sponsorship,
  'sponsorship.edited': sponsorship,
  fork: forkEvent('repository', 'forkee'),
  public: { topic: repository, text: (payload) => `${sender(payload)} made the repository public.` },
  gollum: wiki,
  deployment,
  deployment_status: deploymentStatus,
  'deployment_status.success': deploymentStatus,
  workflow_run: runEvent('workflow_run'),
  'workflow_run.success': runEvent('workflow_run'),
  check_run: runEvent('check_run'),
  'check_run.success': runEvent('check_run'),
  check_suite: runEvent('check_suite'),
  'check_suite.success': runEvent('check_suite'),
};

/** Paths of results and actions that have their own events. */
const DETAILS = [
  'deployment_status.state',
  'workflow_run.conclusion',
  'check_run.conclusion',
  'check_suite.conclusion',
  'action',
  'state',
];
/** Results that count as successes. */
const PASSED: readonly string[] = ['neutral', 'skipped'];

/** Returns the action or result of an event. */
export function detailOf(payload: Payload): string {
  const detail = DETAILS.map((path) => payload.maybe(path)).find((each) => each !== '') ?? '';
  return PASSED.includes(detail) ? 'success' : detail;
}

/** Paths of the branch of an event. */
const BRANCHES = [
  ...['ref', 'workflow_run.head_branch', 'check_run.check_suite.head_branch', 'check_suite.head_branch'],
  ...['deployment.ref', 'branches.0.name'],
];
/** True for branches that GitHub creates and deletes for its merge queue. */
const isOfMergeQueue = (payload: Payload): boolean =>
  BRANCHES.some((path) => shortRef(payload.maybe(path)).startsWith('gh-readonly-queue/'));

export const GITHUB: Integration = {
  name: 'github',
  displayName: 'GitHub',
  documentation: 'https://docs.github.com/en/webhooks/webhook-events-and-payloads',
  eventHeader: 'X-GitHub-Event',
  hasBranches: true,
  options: { ignore_private_repositories: '`true` to post nothing about private repositories.' },
  isExcluded: (payload, { ignore_private_repositories }) =>
    isOfMergeQueue(payload) || (ignore_private_repositories === true && payload.has('repository.private')),
  eventOf: (payload, header) => detailed(events, header, detailOf(payload)),
  events,
  offByDefault: [
    ...Object.keys(events).filter((event) => event.endsWith('.edited') || event.endsWith('labeled')),
    ...['pull_request.synchronize', 'release.released', 'star', 'watch', 'team_add'],
    ...['deployment', 'deployment_status.success', 'status.success', 'check_run.success', 'check_suite.success'],
  ],
  ignored: ['label', 'merge_group', 'meta', 'milestone', 'page_build', 'workflow_job'],
};
