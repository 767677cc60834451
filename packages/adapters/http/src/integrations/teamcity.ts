import { codeOf, type EventTemplate, type Integration, lookUp, type Payload, topicOf } from './integration.js';

/** Paths in the webhooks of TeamCity and of the plugin tcWebHooks. */
interface Paths {
  readonly project: string;
  readonly name: string;
  readonly number: string;
  readonly url: string;
  readonly branch: string;
  readonly text: string;
}

const OWN: Paths = {
  project: 'payload.buildType.projectName',
  name: 'payload.buildType.name',
  number: 'payload.number',
  url: 'payload.webUrl',
  branch: 'payload.branchName',
  text: 'payload.statusText',
};
const PLUGIN: Paths = {
  project: 'build.projectName',
  name: 'build.buildName',
  number: 'build.buildNumber',
  url: 'build.buildStatusUrl',
  branch: 'build.branchDisplayName',
  text: 'build.text',
};

const pathsOf = (payload: Payload): Paths => (payload.has('payload') ? OWN : PLUGIN);

const build = (done: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw(pathsOf(payload).project), payload.raw(pathsOf(payload).name)),
  text: (payload) => {
    const paths = pathsOf(payload);
    const branch = payload.maybe(paths.branch);
    const what = payload.link(`Build #${payload.text(paths.number)}`, paths.url);
    return `${what}${branch === '' ? '' : ` of ${codeOf(branch)}`} ${done(payload)}.`;
  },
});

const result = (payload: Payload): string => {
  const text = payload.has(OWN.text) ? `: ${payload.text(OWN.text)}` : '';
  return `ended with **${payload.first('payload.status', 'build.buildResult').toLowerCase()}**${text}`;
};

const PLUGIN_EVENTS: Readonly<Record<string, string>> = {
  buildStarted: 'BUILD_STARTED',
  buildFinished: 'BUILD_FINISHED',
  buildInterrupted: 'BUILD_INTERRUPTED',
};

export const TEAMCITY: Integration = {
  name: 'teamcity',
  displayName: 'TeamCity',
  documentation: 'https://www.jetbrains.com/help/teamcity/teamcity-webhooks.html',
  eventOf: (payload) => {
    if (payload.has('eventType')) return payload.raw('eventType');
    const type = payload.raw('build.notifyType');
    return lookUp(PLUGIN_EVENTS, type) ?? type;
  },
  events: {
    BUILD_STARTED: build(() => 'started'),
    BUILD_FINISHED: build(result),
    BUILD_INTERRUPTED: build(() => 'was **canceled**'),
    BUILD_PROBLEMS_CHANGED: build((payload) => `has new problems: ${payload.first(OWN.text)}`),
  },
  offByDefault: ['BUILD_STARTED', 'BUILD_PROBLEMS_CHANGED'],
  ignored: [
    ...['AGENT_REGISTRED', 'AGENT_UNREGISTERED', 'AGENT_REMOVED', 'BUILD_TYPE_ADDED_TO_QUEUE', 'CHANGES_LOADED'],
    ...['beforeBuildFinish', 'changesLoaded', 'buildAddedToQueue', 'buildRemovedFromQueue'],
  ],
};
