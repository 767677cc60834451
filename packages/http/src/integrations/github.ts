import {
  bulletsOf,
  codeOf,
  type EventTemplate,
  type Integration,
  type Payload,
  shortCommit,
  shortRef,
  topicOf,
} from './integration.js';

/**
 * GitHub events; Gitea and Forgejo use the same fields.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */

const repository = (payload: Payload): string => payload.raw('repository.name');
const sender = (payload: Payload): string => `**${payload.first('sender.login', 'pusher.login', 'pusher.name')}**`;
const branchOf = (payload: Payload): string => shortRef(payload.raw('ref'));

/** Actions that produce a message, in the past tense. */
const ISSUE_ACTIONS: Readonly<Record<string, string>> = {
  opened: 'opened',
  // Discussions only.
  created: 'created',
  answered: 'chose an answer to',
  closed: 'closed',
  reopened: 'reopened',
  deleted: 'deleted',
  transferred: 'transferred',
  assigned: 'assigned',
  unassigned: 'unassigned',
  ready_for_review: 'marked as ready for review',
  converted_to_draft: 'converted to a draft',
  review_requested: 'requested a review of',
  published: 'published',
  released: 'released',
};

const numberedTopic = (path: string) => (payload: Payload) =>
  topicOf(
    repository(payload),
    `${nameOf(payload, path)} #${payload.raw(`${path}.number`)} ${payload.raw(`${path}.title`)}`,
  );
const NAMES: Readonly<Record<string, string>> = { issue: 'issue', pull_request: 'PR', discussion: 'discussion' };

/** GitHub reports a comment on a pull request as an issue comment. */
const nameOf = (payload: Payload, path: string): string =>
  NAMES[payload.has(`${path}.pull_request`) ? 'pull_request' : path]!;

const numbered = (payload: Payload, path: string): string =>
  payload.link(
    `${nameOf(payload, path)} #${payload.text(`${path}.number`)} ${payload.text(`${path}.title`)}`,
    `${path}.html_url`,
  );

const changed = (path: string): EventTemplate => ({
  topic: numberedTopic(path),
  text: (payload) => {
    const action = payload.raw('action');
    const isMerged = action === 'closed' && payload.has(`${path}.merged`);
    const done = isMerged ? 'merged' : Object.hasOwn(ISSUE_ACTIONS, action) ? ISSUE_ACTIONS[action] : undefined;
    if (done === undefined) return null;
    const quote = action === 'opened' || action === 'created' ? payload.quote(`${path}.body`) : '';
    return `${sender(payload)} ${done} ${numbered(payload, path)}.${quote}`;
  },
});

const commented = (path: string): EventTemplate => ({
  topic: numberedTopic(path),
  text: (payload) =>
    payload.raw('action') === 'created'
      ? `${sender(payload)} ${payload.link('commented', 'comment.html_url')} on ${numbered(payload, path)}.${payload.quote('comment.body')}`
      : null,
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
    const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`;
    const compare = payload.has('compare') ? 'compare' : 'compare_url';
    const lines = bulletsOf(
      commits,
      (commit) => `${commit.line('message')} (${commit.link(shortCommit(commit.raw('id')), 'url')})`,
    );
    return `${sender(payload)} ${payload.link(pushed, compare)} ${count} to branch ${branch}.\n\n${lines}`.trim();
  },
};

const refEvent = (done: string): EventTemplate => ({
  topic: (payload) => topicOf(repository(payload), branchOf(payload)),
  text: (payload) => `${sender(payload)} ${done} the ${payload.text('ref_type')} ${codeOf(branchOf(payload))}.`,
});

/** Shared by GitHub and compatible services. */
export const HUB_EVENTS: Readonly<Record<string, EventTemplate>> = {
  push: pushEvent,
  create: refEvent('created'),
  delete: refEvent('deleted'),
  issues: changed('issue'),
  issue_comment: commented('issue'),
  pull_request: changed('pull_request'),
  release: {
    topic: repository,
    text: (payload) =>
      ['published', 'released'].includes(payload.raw('action'))
        ? `${sender(payload)} published the release ${payload.link(payload.first('release.name', 'release.tag_name'), 'release.html_url')}.${payload.quote('release.body')}`
        : null,
  },
  repository: {
    topic: repository,
    text: (payload) => `${sender(payload)} ${payload.text('action')} the repository.`,
  },
  status: {
    topic: (payload) => topicOf(repository(payload), payload.raw('context')),
    text: (payload) =>
      payload.raw('state') === 'pending'
        ? null
        : `${payload.link(payload.text('context'), 'target_url')} reports **${payload.text('state')}** at ${shortCommit(payload.raw('sha'))}.`,
  },
};

/** `from` and `to` name the payload fields of the two repositories. */
const forkEvent = (from: string, to: string): EventTemplate => ({
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

/** Conclusions of a workflow run in words; unfinished runs produce no message. */
const runEvent = (path: string): EventTemplate => ({
  topic: (payload) => topicOf(repository(payload), payload.first(`${path}.head_branch`, `${path}.name`)),
  text: (payload) =>
    payload.raw('action') === 'completed'
      ? `${payload.link(payload.first(`${path}.name`, `${path}.app.name`), `${path}.html_url`)} ended with **${payload.text(`${path}.conclusion`)}** at ${shortCommit(payload.raw(`${path}.head_sha`))}.`
      : null,
});

export const GITHUB: Integration = {
  name: 'github',
  displayName: 'GitHub',
  eventHeader: 'X-GitHub-Event',
  hasBranches: true,
  eventOf: (_payload, header) => header,
  events: {
    ...HUB_EVENTS,
    ping: {
      topic: (payload) => (payload.has('repository') ? repository(payload) : payload.raw('organization.login')),
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
    pull_request_review: {
      topic: numberedTopic('pull_request'),
      text: (payload) => {
        const state = payload.raw('review.state').toLowerCase();
        const done = Object.hasOwn(REVIEWS, state) ? REVIEWS[state]! : null;
        return (
          done &&
          `${sender(payload)} ${payload.link(done, 'review.html_url')} ${numbered(payload, 'pull_request')}.${payload.quote('review.body')}`
        );
      },
    },
    pull_request_review_comment: commented('pull_request'),
    discussion: changed('discussion'),
    discussion_comment: commented('discussion'),
    watch: { topic: repository, text: (payload) => `${sender(payload)} starred the repository.` },
    member: {
      topic: repository,
      text: (payload) =>
        `${sender(payload)} ${payload.text('action')} **${payload.text('member.login')}** as a collaborator.`,
    },
    fork: forkEvent('repository', 'forkee'),
    public: { topic: repository, text: (payload) => `${sender(payload)} made the repository public.` },
    gollum: {
      topic: (payload) => topicOf(repository(payload), 'wiki'),
      text: (payload) => {
        const pages = payload.list('pages');
        const lines = bulletsOf(pages, (page) => `${page.text('action')} ${page.link(page.text('title'), 'html_url')}`);
        return `${sender(payload)} changed the wiki:\n\n${lines}`;
      },
    },
    deployment_status: {
      topic: (payload) => topicOf(repository(payload), payload.raw('deployment.environment')),
      text: (payload) => {
        const state = payload.raw('deployment_status.state');
        if (!['success', 'failure', 'error'].includes(state)) return null;
        const deployment = payload.link('deployment', 'deployment_status.target_url');
        return `The ${deployment} of ${shortCommit(payload.raw('deployment.sha'))} to ${payload.code('deployment.environment')} ended with **${state}**.`;
      },
    },
    workflow_run: runEvent('workflow_run'),
    check_run: runEvent('check_run'),
    check_suite: runEvent('check_suite'),
  },
  ignored: ['deployment', 'label', 'meta', 'milestone', 'page_build', 'star', 'workflow_job'],
};

/**
 * Gitea and Forgejo use the fields of GitHub's events but name reviews differently.
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
  fork: forkEvent('forkee', 'repository'),
  pull_request_comment: review('reviewed'),
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
  ignored: ['package', 'workflow_job', 'workflow_run'],
});

export const GITEA = make('gitea', 'Gitea', 'X-Gitea-Event');
export const FORGEJO = make('forgejo', 'Forgejo', 'X-Forgejo-Event');
