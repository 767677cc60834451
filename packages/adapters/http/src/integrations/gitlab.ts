import {
  bulletsOf,
  codeOf,
  counted,
  detailed,
  type EventTemplate,
  escapeText,
  type Integration,
  linkTo,
  MAX_ENTRIES,
  type OptionValues,
  type Payload,
  shortCommit,
  shortRef,
  topicOf,
} from './integration.js';

const project = (payload: Payload): string => payload.raw('project.name');
const user = (payload: Payload): string => payload.person('user.name', 'user_name');
const branchOf = (payload: Payload): string => shortRef(payload.raw('ref'));
const isNull = (sha: string): boolean => /^0+$/.test(sha);

const push: EventTemplate = {
  topic: (payload) => topicOf(project(payload), branchOf(payload)),
  branch: branchOf,
  text: (payload) => {
    const branch = codeOf(branchOf(payload));
    if (isNull(payload.raw('after'))) return `${user(payload)} deleted the branch ${branch}.`;
    const commits = payload.list('commits');
    const lines = bulletsOf(
      commits,
      (commit) =>
        `${commit.line(commit.has('title') ? 'title' : 'message')} (${commit.link(shortCommit(commit.raw('id')), 'url')})`,
    );
    const count = counted(payload.count('total_commits_count'), 'commit');
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

const named = (payload: Payload, sign: string, path: string, { use_merge_request_title }: OptionValues): string => {
  const title = payload.raw(`${path}.title`);
  return `${sign}${payload.raw(`${path}.iid`)}${sign === '!' && use_merge_request_title === false ? '' : ` ${title}`}`;
};
const linked = (payload: Payload, sign: string, path = OBJECT): string =>
  payload.link(`${sign}${payload.text(`${path}.iid`)} ${payload.text(`${path}.title`)}`, `${path}.url`);

/** Changes of people and of the draft state have separate events; other changes are edits. */
const REASSIGNED: Readonly<Record<string, string>> = { assignees: 'assigned', reviewers: 'requested a review of' };

/** Returns the sentence for an update; `changes` and `oldrev` determine its kind. */
function updateText(payload: Payload, object: string): string {
  if (payload.has(`${OBJECT}.oldrev`)) return `${user(payload)} pushed new commits to ${object}.`;
  const member = Object.keys(REASSIGNED).find((each) => payload.has(`changes.${each}`));
  if (member !== undefined) {
    const people = payload.list(`changes.${member}.current`).slice(0, MAX_ENTRIES);
    const names = people.map((person) => person.person('name', 'username')).join(', ');
    if (names === '') return `${user(payload)} removed the ${member} of ${object}.`;
    return `${user(payload)} ${REASSIGNED[member]} ${object} ${member === 'assignees' ? 'to' : 'from'} ${names}.`;
  }
  if (payload.has('changes.draft')) {
    const state = payload.has('changes.draft.current') ? 'a draft' : 'ready for review';
    return `${user(payload)} marked ${object} as ${state}.`;
  }
  return `${user(payload)} ${payload.has('changes.labels') ? 'changed the labels of' : 'edited'} ${object}.`;
}

/** True if an update changes people or the draft state but nothing that `updateText` prefers. */
const isReassigned = (payload: Payload): boolean =>
  !payload.has(`${OBJECT}.oldrev`) &&
  [...Object.keys(REASSIGNED), 'draft'].some((each) => payload.has(`changes.${each}`));

/** Branches of a merge request, with the namespace of a fork; empty for issues. */
function branches(payload: Payload): string {
  if (!payload.has(`${OBJECT}.source_branch`)) return '';
  const isFork = payload.at(`${OBJECT}.source_project_id`) !== payload.at(`${OBJECT}.target_project_id`);
  const owner = isFork ? `${payload.firstRaw(`${OBJECT}.source.namespace`)}:` : '';
  const source = codeOf(`${owner}${payload.raw(`${OBJECT}.source_branch`)}`);
  return ` from ${source} to ${payload.code(`${OBJECT}.target_branch`)}`;
}

const changed = (name: string, sign: string): EventTemplate => ({
  topic: (payload, options) => topicOf(project(payload), named(payload, sign, OBJECT, options)),
  text: (payload) => {
    const action = payload.maybe(`${OBJECT}.action`);
    if (!Object.hasOwn(ACTIONS, action)) return null;
    const object = `${name} ${linked(payload, sign)}`;
    if (action === 'update') return updateText(payload, object);
    const quote = action === 'open' ? payload.quote(`${OBJECT}.description`) : '';
    return `${user(payload)} ${ACTIONS[action]} ${object}${branches(payload)}.${quote}`;
  },
});

/** Objects that can be commented on, by `noteable_type`. */
const NOTED: Readonly<Record<string, readonly [path: string, name: string, sign: string]>> = {
  Issue: ['issue', 'issue', '#'],
  MergeRequest: ['merge_request', 'merge request', '!'],
};

const note: EventTemplate = {
  topic: (payload, options) => {
    const type = payload.raw(`${OBJECT}.noteable_type`);
    if (!Object.hasOwn(NOTED, type)) return project(payload);
    const [path, , sign] = NOTED[type]!;
    return topicOf(project(payload), named(payload, sign, path, options));
  },
  text: (payload) => {
    const type = payload.raw(`${OBJECT}.noteable_type`);
    const isEdit = payload.maybe(`${OBJECT}.action`) === 'update';
    const commented = payload.link(isEdit ? 'edited a comment' : 'commented', `${OBJECT}.url`);
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
  text: (payload) => {
    const status = payload.raw(`${OBJECT}.status`);
    if (!RESULTS.has(status)) return null;
    const jobs = [...payload.list('builds')].sort((a, b) => Number(a.at('id')) - Number(b.at('id')));
    const lines = bulletsOf(jobs, (job) => {
      const address = `${payload.maybe('project.web_url')}/-/jobs/${job.raw('id')}`;
      return `${linkTo(job.code('name'), address)} of stage ${job.code('stage')}: ${job.text('status')}`;
    });
    const link = payload.link(`Pipeline ${payload.text(`${OBJECT}.id`)}`, `${OBJECT}.url`);
    return `${link} of ${codeOf(payload.raw(`${OBJECT}.ref`))} ended with **${escapeText(status)}**.\n\n${lines}`.trim();
  },
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
  text: (payload) => {
    const status = payload.raw('status');
    if (status !== 'running' && !RESULTS.has(status)) return null;
    const did = status === 'running' ? 'has started' : `ended with **${status}**`;
    return `The ${payload.link('deployment', 'deployable_url')} of ${shortCommit(payload.raw('short_sha'))} to ${payload.code('environment')} ${did}.`;
  },
};

const RELEASED: Readonly<Record<string, string>> = { create: 'published', update: 'edited', delete: 'deleted' };

const release: EventTemplate = {
  topic: project,
  text: (payload) => {
    const action = payload.raw('action');
    if (!Object.hasOwn(RELEASED, action)) return null;
    const quote = action === 'create' ? payload.quote('description') : '';
    return `The release ${payload.link(payload.text('name'), 'url')} was ${RELEASED[action]}.${quote}`;
  },
};

/** User, project or group in a system hook or group hook. */
const member = (payload: Payload): string => payload.person('user_name', 'user_username', 'name', 'username');
const projectPath = (payload: Payload): string =>
  codeOf(payload.raw(payload.has('path_with_namespace') ? 'path_with_namespace' : 'project_path_with_namespace'));
const groupPath = (payload: Payload): string => {
  const path = ['full_path', 'group_path', 'path'].find((each) => payload.has(each));
  return codeOf(payload.raw(path ?? 'full_path'));
};
const role = (payload: Payload): string => payload.first('access_level', 'project_access', 'group_access');

const about = (topic: (payload: Payload) => string, text: (payload: Payload) => string): EventTemplate => ({
  topic,
  text,
});
const aboutProject = (text: (payload: Payload) => string): EventTemplate =>
  about((payload) => topicOf(payload.raw(payload.has('project_name') ? 'project_name' : 'name')), text);
const aboutGroup = (text: (payload: Payload) => string): EventTemplate =>
  about((payload) => topicOf(payload.raw(payload.has('group_name') ? 'group_name' : 'name')), text);
const aboutUser = (text: (payload: Payload) => string): EventTemplate => about(() => 'users', text);

/** Events of system hooks and group hooks, by `event_name`. */
const ADMINISTRATION: Readonly<Record<string, EventTemplate>> = {
  project_create: aboutProject((payload) => `The project ${projectPath(payload)} was created.`),
  project_destroy: aboutProject((payload) => `The project ${projectPath(payload)} was deleted.`),
  project_rename: aboutProject(
    (payload) => `The project ${payload.code('old_path_with_namespace')} was renamed to ${projectPath(payload)}.`,
  ),
  project_transfer: aboutProject(
    (payload) => `The project ${payload.code('old_path_with_namespace')} was moved to ${projectPath(payload)}.`,
  ),
  project_update: aboutProject((payload) => `The project ${projectPath(payload)} was edited.`),
  user_add_to_team: aboutProject(
    (payload) => `${member(payload)} was added to the project ${projectPath(payload)} as ${role(payload)}.`,
  ),
  user_update_for_team: aboutProject(
    (payload) => `${member(payload)} is now ${role(payload)} in the project ${projectPath(payload)}.`,
  ),
  user_remove_from_team: aboutProject(
    (payload) => `${member(payload)} was removed from the project ${projectPath(payload)}.`,
  ),
  user_access_request_to_project: aboutProject(
    (payload) => `${member(payload)} requested access to the project ${projectPath(payload)}.`,
  ),
  group_create: aboutGroup((payload) => `The group ${groupPath(payload)} was created.`),
  group_destroy: aboutGroup((payload) => `The group ${groupPath(payload)} was deleted.`),
  group_rename: aboutGroup(
    (payload) => `The group ${payload.code('old_full_path')} was renamed to ${groupPath(payload)}.`,
  ),
  subgroup_create: aboutGroup((payload) => `The group ${groupPath(payload)} was created.`),
  subgroup_destroy: aboutGroup((payload) => `The group ${groupPath(payload)} was deleted.`),
  user_add_to_group: aboutGroup(
    (payload) => `${member(payload)} was added to the group ${groupPath(payload)} as ${role(payload)}.`,
  ),
  user_update_for_group: aboutGroup(
    (payload) => `${member(payload)} is now ${role(payload)} in the group ${groupPath(payload)}.`,
  ),
  user_remove_from_group: aboutGroup(
    (payload) => `${member(payload)} was removed from the group ${groupPath(payload)}.`,
  ),
  user_access_request_to_group: aboutGroup(
    (payload) => `${member(payload)} requested access to the group ${groupPath(payload)}.`,
  ),
  user_create: aboutUser((payload) => `The account of ${member(payload)} was created.`),
  user_destroy: aboutUser((payload) => `The account of ${member(payload)} was deleted.`),
  user_rename: aboutUser(
    (payload) => `The user ${payload.code('old_username')} was renamed to ${payload.code('username')}.`,
  ),
  user_failed_login: aboutUser(
    (payload) => `${member(payload)} could not log in: the account is ${payload.text('state')}.`,
  ),
  key_create: aboutUser((payload) => `**${payload.text('username')}** added an SSH key.`),
  key_destroy: aboutUser((payload) => `**${payload.text('username')}** removed an SSH key.`),
};

const EVENTS: Readonly<Record<string, EventTemplate>> = {
  push,
  tag_push: tagPush,
  issue: changed('issue', '#'),
  'issue.update': changed('issue', '#'),
  merge_request: changed('merge request', '!'),
  'merge_request.update': changed('merge request', '!'),
  note,
  'note.update': note,
  pipeline,
  'pipeline.success': pipeline,
  job,
  'job.success': job,
  wiki_page: wiki,
  release,
  'release.update': release,
  deployment,
  'deployment.running': deployment,
  'deployment.success': deployment,
  feature_flag: featureFlag,
  milestone,
  ...ADMINISTRATION,
};

/** Hooks for several events, which the payload names. */
const SHARED_HOOKS: ReadonlySet<string> = new Set(['system', 'test', 'member', 'subgroup', 'project']);

function eventOf(payload: Payload, header: string): string {
  // The header has the form "Merge Request Hook"; confidential variants have the same fields.
  const hook = header.replace(/ Hook$/, '').replace(/^Confidential /, '');
  const name = hook.toLowerCase().replaceAll(' ', '_');
  const kind = SHARED_HOOKS.has(name) ? payload.raw(payload.has('object_kind') ? 'object_kind' : 'event_name') : name;
  const detail = DETAILS.map((path) => payload.maybe(path)).find((each) => each !== '') ?? '';
  // Jobs were called builds.
  return detailed(EVENTS, kind === 'build' ? 'job' : kind, isReassigned(payload) ? '' : detail);
}

/** Paths of actions and results that have their own events. */
const DETAILS = [`${OBJECT}.action`, `${OBJECT}.status`, 'build_status', 'status', 'action'];

export const GITLAB: Integration = {
  name: 'gitlab',
  displayName: 'GitLab',
  documentation: 'https://docs.gitlab.com/user/project/integrations/webhook_events/',
  eventHeader: 'X-Gitlab-Event',
  hasBranches: true,
  options: { use_merge_request_title: '`false` for topics of merge requests without the title.' },
  eventOf,
  events: EVENTS,
  offByDefault: [
    ...Object.keys(EVENTS).filter((event) => event.endsWith('.update')),
    ...['job.success', 'deployment.running', 'deployment.success', 'project_update', 'key_create', 'key_destroy'],
  ],
  ignored: [
    ...['emoji', 'resource_access_token', 'repository_update', 'user_access_request_revoked_for_group'],
    'user_access_request_revoked_for_project',
  ],
};
