import { codeOf, type EventTemplate, type Integration, type Payload, shortCommit, topicOf } from './integration.js';

/** Repositories of GitHub and Bitbucket; other ones describe the source in `trigger_parameters`. */
const BRANCHES = ['pipeline.vcs.branch', 'pipeline.vcs.tag', 'pipeline.trigger_parameters.git.branch'];
const COMMITS = ['pipeline.vcs.revision', 'pipeline.trigger_parameters.git.checkout_sha'];
const textAt = (payload: Payload, paths: readonly string[]): string =>
  paths.map((path) => payload.maybe(path)).find((text) => text !== '') ?? '';

const ended = (name: string, path: string, url: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('project.name'), textAt(payload, BRANCHES)),
  text: (payload) => {
    const [branch, commit] = [textAt(payload, BRANCHES), textAt(payload, COMMITS)];
    const source = `${branch === '' ? '' : ` of ${codeOf(branch)}`}${commit === '' ? '' : ` at ${shortCommit(commit)}`}`;
    const what = payload.link(`${name} ${payload.text(`${path}.name`)}`, url);
    return `${what}${source} ended with **${payload.text(`${path}.status`)}**.`;
  },
});

export const CIRCLECI: Integration = {
  name: 'circleci',
  displayName: 'CircleCI',
  documentation: 'https://circleci.com/docs/guides/integration/outbound-webhooks/',
  eventOf: (payload) => payload.raw('type'),
  events: {
    'workflow-completed': ended('Workflow', 'workflow', 'workflow.url'),
    'job-completed': ended('Job', 'job', 'workflow.url'),
    ping: {
      topic: () => 'CircleCI',
      text: (payload) => `The CircleCI webhook ${payload.text('webhook.name')} has been successfully configured.`,
    },
  },
  // The result of the workflow includes those of its jobs.
  offByDefault: ['job-completed'],
};
