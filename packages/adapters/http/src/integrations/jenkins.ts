import { codeOf, type EventTemplate, type Integration, type Payload, shortCommit, topicOf } from './integration.js';

/** Jenkins writes `origin/main`. */
const branchOf = (payload: Payload): string => payload.maybe('build.scm.branch').replace(/^origin\//, '');

const source = (payload: Payload): string => {
  const [branch, commit] = [branchOf(payload), payload.maybe('build.scm.commit')];
  return `${branch === '' ? '' : ` of ${codeOf(branch)}`}${commit === '' ? '' : ` at ${shortCommit(commit)}`}`;
};

const build = (done: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('name'), branchOf(payload)),
  text: (payload) =>
    `${payload.link(`Build #${payload.text('build.number')}`, 'build.full_url')}${source(payload)} ${done(payload)}.${payload.quote('build.notes')}`,
});

const ended = (payload: Payload): string => `ended with **${payload.text('build.status').toLowerCase()}**`;

/** Events of the Notification plugin. */
export const JENKINS: Integration = {
  name: 'jenkins',
  displayName: 'Jenkins',
  documentation: 'https://plugins.jenkins.io/notification/',
  eventOf: (payload) => payload.raw('build.phase').toLowerCase(),
  events: {
    queued: build(() => 'is waiting'),
    started: build(() => 'started'),
    completed: build(ended),
    // Sent after `completed`, when all steps after the build are over.
    finalized: build(ended),
  },
  offByDefault: ['queued', 'started', 'finalized'],
};
