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

const project = (payload: Payload): string => payload.raw('project.name');
const user = (payload: Payload): string => `**${payload.first('user.name', 'user_name')}**`;
const branchOf = (payload: Payload): string => shortRef(payload.raw('ref'));
const isNull = (sha: string): boolean => /^0+$/.test(sha);

const push: EventTemplate = {
  topic: (payload) => topicOf(project(payload), branchOf(payload)),
  branch: branchOf,
  text: (payload) => {
    const branch = codeOf(branchOf(payload));
    if (isNull(payload.raw('after'))) return `${user(payload)} deleted the branch ${branch}.`;
    const commits = payload.list('commits');
    const total = Number(payload.raw('total_commits_count'));
    const count = total === 1 ? '1 commit' : `${total} commits`;
    const lines = bulletsOf(
      commits,
      (commit) =>
        `${commit.line(commit.has('title') ? 'title' : 'message')} (${commit.link(shortCommit(commit.raw('id')), 'url')})`,
    );
    return `${user(payload)} pushed ${count} to branch ${branch}.\n\n${lines}`.trim();
  },
};

const tagPush: EventTemplate = {
  topic: (payload) => topicOf(project(payload), branchOf(payload)),
  text: (payload) =>
    `${user(payload)} ${isNull(payload.raw('after')) ? 'deleted' : 'pushed'} the tag ${codeOf(branchOf(payload))}.`,
};

const ACTIONS: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  // Sent for each approval of a merge request that needs several; `approved` marks the final one.
  approval: 'approved',
  approved: 'approved',
  unapproval: 'withdrew the approval of',
  unapproved: 'withdrew the approval of',
  create: 'created',
  update: 'updated',
  delete: 'deleted',
};

const OBJECT = 'object_attributes';

const named = (payload: Payload, sign: string, path = OBJECT): string =>
  `${sign}${payload.raw(`${path}.iid`)} ${payload.raw(`${path}.title`)}`;
const linked = (payload: Payload, sign: string, path = OBJECT): string =>
  payload.link(`${sign}${payload.text(`${path}.iid`)} ${payload.text(`${path}.title`)}`, `${path}.url`);

const changed = (name: string, sign: string): EventTemplate => ({
  topic: (payload) => topicOf(project(payload), named(payload, sign)),
  text: (payload) => {
    const action = payload.maybe(`${OBJECT}.action`);
    // Updates also report changes of labels and assignees.
    if (action === 'update' || !Object.hasOwn(ACTIONS, action)) return null;
    const quote = action === 'open' ? payload.quote(`${OBJECT}.description`) : '';
    return `${user(payload)} ${ACTIONS[action]} ${name} ${linked(payload, sign)}.${quote}`;
  },
});

/** Objects that can be commented on, by `noteable_type`. */
const NOTED: Readonly<Record<string, readonly [path: string, name: string, sign: string]>> = {
  Issue: ['issue', 'issue', '#'],
  MergeRequest: ['merge_request', 'merge request', '!'],
};

const note: EventTemplate = {
  topic: (payload) => {
    const type = payload.raw(`${OBJECT}.noteable_type`);
    if (!Object.hasOwn(NOTED, type)) return project(payload);
    const [path, , sign] = NOTED[type]!;
    return topicOf(project(payload), named(payload, sign, path));
  },
  text: (payload) => {
    const type = payload.raw(`${OBJECT}.noteable_type`);
    const commented = payload.link('commented', `${OBJECT}.url`);
    const quote = payload.quote(`${OBJECT}.note`);
    if (Object.hasOwn(NOTED, type)) {
      const [path, name, sign] = NOTED[type]!;
      return `${user(payload)} ${commented} on ${name} ${linked(payload, sign, path)}.${quote}`;
    }
    if (type === 'Commit') return `${user(payload)} ${commented} on ${shortCommit(payload.raw('commit.id'))}.${quote}`;
    if (type === 'Snippet')
      return `${user(payload)} ${commented} on the snippet ${payload.text('snippet.title')}.${quote}`;
    // Epics, designs and wiki pages.
    return `${user(payload)} ${commented}.${quote}`;
  },
};

/** Final results of a pipeline or job; intermediate states produce no message. */
const RESULTS: ReadonlySet<string> = new Set(['success', 'failed', 'canceled']);

const pipeline: EventTemplate = {
  topic: (payload) => topicOf(project(payload), payload.raw(`${OBJECT}.ref`)),
  text: (payload) =>
    RESULTS.has(payload.raw(`${OBJECT}.status`))
      ? `${payload.link(`Pipeline ${payload.text(`${OBJECT}.id`)}`, `${OBJECT}.url`)} of ${codeOf(payload.raw(`${OBJECT}.ref`))} ended with **${payload.text(`${OBJECT}.status`)}**.`
      : null,
};

const job: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('project_name'), payload.raw('ref')),
  text: (payload) =>
    RESULTS.has(payload.raw('build_status'))
      ? `Job ${payload.code('build_name')} of stage ${payload.code('build_stage')} ended with **${payload.text('build_status')}**.`
      : null,
};

const wiki: EventTemplate = {
  topic: (payload) => topicOf(project(payload), 'wiki'),
  text: (payload) => {
    const action = payload.raw(`${OBJECT}.action`);
    if (!Object.hasOwn(ACTIONS, action)) return null;
    return `${user(payload)} ${ACTIONS[action]} the page ${payload.link(payload.text(`${OBJECT}.title`), `${OBJECT}.url`)}.`;
  },
};

const milestone: EventTemplate = {
  topic: (payload) => topicOf(project(payload), payload.raw(`${OBJECT}.title`)),
  text: (payload) => {
    const action = payload.raw('action');
    if (action === 'update' || !Object.hasOwn(ACTIONS, action)) return null;
    return `The milestone ${payload.text(`${OBJECT}.title`)} was ${ACTIONS[action]}.`;
  },
};

const featureFlag: EventTemplate = {
  topic: (payload) => topicOf(project(payload), payload.raw(`${OBJECT}.name`)),
  text: (payload) =>
    `${user(payload)} turned the feature flag ${payload.code(`${OBJECT}.name`)} ${payload.has(`${OBJECT}.active`) ? 'on' : 'off'}.`,
};

const deployment: EventTemplate = {
  topic: (payload) => topicOf(project(payload), payload.raw('environment')),
  text: (payload) =>
    RESULTS.has(payload.raw('status'))
      ? `The ${payload.link('deployment', 'deployable_url')} of ${shortCommit(payload.raw('short_sha'))} to ${payload.code('environment')} ended with **${payload.text('status')}**.`
      : null,
};

const release: EventTemplate = {
  topic: project,
  text: (payload) =>
    payload.raw('action') === 'create'
      ? `The release ${payload.link(payload.text('name'), 'url')} was published.${payload.quote('description')}`
      : null,
};

export const GITLAB: Integration = {
  name: 'gitlab',
  displayName: 'GitLab',
  documentation: 'https://docs.gitlab.com/user/project/integrations/webhook_events/',
  eventHeader: 'X-Gitlab-Event',
  hasBranches: true,
  // The header has the form "Merge Request Hook"; confidential variants have the same fields.
  eventOf: (_payload, header) =>
    header
      .replace(/ Hook$/, '')
      .replace(/^Confidential /, '')
      .toLowerCase()
      .replaceAll(' ', '_'),
  events: {
    push,
    tag_push: tagPush,
    issue: changed('issue', '#'),
    merge_request: changed('merge request', '!'),
    note,
    pipeline,
    job,
    wiki_page: wiki,
    release,
    deployment,
    feature_flag: featureFlag,
    milestone,
  },
  ignored: ['emoji', 'resource_access_token'],
};
