import { parseSlackMessage, writeMarkdown } from '@parley/domain/markdown';
import { isLosslessNumber } from 'lossless-json';
import { detailOf, forkEvent, HUB_EVENTS } from './github.js';
import {
  AnomalousPayload,
  codeOf,
  detailed,
  type EventTemplate,
  escapeLines,
  escapeText,
  type Integration,
  lookUp,
  type Payload,
  shortCommit,
  topicOf,
} from './integration.js';

const sourceOf = (branch: string, commit: string): string =>
  `${branch === '' ? '' : ` of ${codeOf(branch)}`}${commit === '' ? '' : ` at ${shortCommit(commit)}`}`;

/** Events of a service that sends only texts, by default with its own name as the topic. */
const onlyMessages = (
  service: string,
  text: EventTemplate['text'] = (payload) => escapeLines(payload.raw('content')),
): Pick<Integration, 'eventOf' | 'events'> => ({
  eventOf: () => 'message',
  events: { message: { topic: (payload) => topicOf(payload.maybe('topic') || service), text } },
});

/** Results of builds by number. */
const BUILDBOT_RESULTS: Readonly<Record<string, string>> = {
  0: 'success',
  1: 'warnings',
  2: 'failure',
  3: 'skipped',
  4: 'exception',
  5: 'retry',
  6: 'canceled',
};

const buildbotResult = (payload: Payload): string => {
  const number = payload.raw('results');
  return `ended with **${lookUp(BUILDBOT_RESULTS, number) ?? payload.text('results')}**`;
};

const buildbotBuild = (done: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.maybe('project'), payload.raw('buildername')),
  text: (payload) => `${payload.link(`Build #${payload.text('buildid')}`, 'url')} ${done(payload)}.`,
});

/** Repositories of GitHub and Bitbucket; other ones describe the source in `trigger_parameters`. */
const CIRCLECI_BRANCHES = ['pipeline.vcs.branch', 'pipeline.vcs.tag', 'pipeline.trigger_parameters.git.branch'];
const CIRCLECI_COMMITS = ['pipeline.vcs.revision', 'pipeline.trigger_parameters.git.checkout_sha'];
const textAt = (payload: Payload, paths: readonly string[]): string =>
  paths.map((path) => payload.maybe(path)).find((text) => text !== '') ?? '';

const circleciEnd = (name: string, path: string, url: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('project.name'), textAt(payload, CIRCLECI_BRANCHES)),
  text: (payload) => {
    const what = payload.link(`${name} ${payload.text(`${path}.name`)}`, url);
    const source = sourceOf(textAt(payload, CIRCLECI_BRANCHES), textAt(payload, CIRCLECI_COMMITS));
    return `${what}${source} ended with **${payload.text(`${path}.status`)}**.`;
  },
});

/** Gogs uses the fields of GitHub's events, but sends fewer of them. */
const { push, create, delete: deleted, issues, issue_comment, pull_request, release } = HUB_EVENTS;
const GOGS_EVENTS: Readonly<Record<string, EventTemplate>> = {
  push,
  create,
  delete: deleted,
  issues,
  'issues.edited': issues,
  'issues.label_updated': issues,
  'issues.label_cleared': issues,
  issue_comment,
  'issue_comment.edited': issue_comment,
  pull_request,
  'pull_request.edited': pull_request,
  'pull_request.label_updated': pull_request,
  'pull_request.label_cleared': pull_request,
  'pull_request.synchronized': pull_request,
  release,
  fork: forkEvent('forkee', 'repository'),
};

/** Jenkins writes `origin/main`. */
const jenkinsBranch = (payload: Payload): string => payload.maybe('build.scm.branch').replace(/^origin\//, '');
const jenkinsEnd = (payload: Payload): string => `ended with **${payload.text('build.status').toLowerCase()}**`;

const jenkinsBuild = (done: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('name'), jenkinsBranch(payload)),
  text: (payload) => {
    const what = payload.link(`Build #${payload.text('build.number')}`, 'build.full_url');
    const source = sourceOf(jenkinsBranch(payload), payload.maybe('build.scm.commit'));
    return `${what}${source} ${done(payload)}.${payload.quote('build.notes')}`;
  },
});

const pingdomState = (sign: string, text: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('check_name')),
  text: (payload) => {
    const url = payload.has('check_params.full_url') ? 'check_params.full_url' : 'check_params.url';
    const check = payload.link(payload.text('check_name'), url);
    const host = payload.has('check_params.hostname') ? ` (${payload.code('check_params.hostname')})` : '';
    return `${sign} ${check}${host} ${text}.${payload.quote('long_description')}`;
  },
});

/** Numbers that keep their text become text. */
function textsOf(value: unknown): unknown {
  if (isLosslessNumber(value)) return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(textsOf);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, textsOf(member)]));
}

const words = (status: string): string => status.replaceAll('_', ' ');

const statuspageIncident = (name: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('incident.name')),
  text: (payload) => {
    const title = payload.link(payload.text('incident.name'), 'incident.shortlink');
    const impact = payload.maybe('incident.impact');
    const shown = ['', 'none', 'maintenance'].includes(impact) ? '' : ` (${payload.text('incident.impact')} impact)`;
    // The newest update is the first one.
    return `**${name}** ${title}${shown}: ${words(payload.text('incident.status'))}.${payload.quote('incident.incident_updates.0.body')}`;
  },
});

const statuspageComponent: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('component.name')),
  text: (payload) => {
    const from = payload.has('component_update.old_status')
      ? ` from **${words(payload.text('component_update.old_status'))}**`
      : '';
    return `${payload.text('component.name')} changed${from} to **${words(payload.text('component_update.new_status'))}**.`;
  },
};

/** Integrations of a few lines each. */
export const SHORT_INTEGRATIONS: readonly Integration[] = [
  {
    // Events of the built-in reporter `ZulipStatusPush`.
    name: 'buildbot',
    displayName: 'Buildbot',
    documentation: 'https://docs.buildbot.net/latest/manual/configuration/reporters/zulip_status.html',
    eventOf: (payload) => payload.raw('event'),
    events: { new: buildbotBuild(() => 'started'), finished: buildbotBuild(buildbotResult) },
    offByDefault: ['new'],
  },
  {
    name: 'circleci',
    displayName: 'CircleCI',
    documentation: 'https://circleci.com/docs/guides/integration/outbound-webhooks/',
    eventOf: (payload) => payload.raw('type'),
    events: {
      'workflow-completed': circleciEnd('Workflow', 'workflow', 'workflow.url'),
      'job-completed': circleciEnd('Job', 'job', 'workflow.url'),
      ping: {
        topic: () => 'CircleCI',
        text: (payload) => `The CircleCI webhook ${payload.text('webhook.name')} has been successfully configured.`,
      },
    },
    // The result of the workflow includes those of its jobs.
    offByDefault: ['job-completed'],
  },
  {
    name: 'gogs',
    displayName: 'Gogs',
    documentation: 'https://github.com/gogs/docs-api/blob/master/Repositories/Webhooks.md',
    eventHeader: 'X-Gogs-Event',
    hasBranches: true,
    eventOf: (payload, header) => detailed(GOGS_EVENTS, header, detailOf(payload)),
    events: GOGS_EVENTS,
    offByDefault: Object.keys(GOGS_EVENTS).filter((event) => event.includes('.')),
  },
  {
    // Notifications of the platform `rest`.
    name: 'homeassistant',
    displayName: 'Home Assistant',
    documentation: 'https://www.home-assistant.io/integrations/notify.rest/',
    setup: `notify:
  - name: Parley
    platform: rest
    resource: "ADDRESS"
    method: POST_JSON
    title_param_name: title`,
    ...onlyMessages('Home Assistant', (payload) => {
      const title = payload.maybe('title');
      return `${title === '' ? '' : `**${escapeText(title)}**\n`}${escapeLines(payload.raw('message'))}`;
    }),
  },
  {
    name: 'ifttt',
    displayName: 'IFTTT',
    documentation: 'https://ifttt.com/maker_webhooks',
    setup: `Action: Make a web request
URL: ADDRESS
Method: POST
Content Type: application/json
Body: { "topic": "<<<{{EventName}}>>>", "content": "<<<{{Value1}}>>>" }`,
    ...onlyMessages('IFTTT'),
  },
  {
    // Events of the Notification plugin.
    name: 'jenkins',
    displayName: 'Jenkins',
    documentation: 'https://plugins.jenkins.io/notification/',
    eventOf: (payload) => payload.raw('build.phase').toLowerCase(),
    events: {
      queued: jenkinsBuild(() => 'is waiting'),
      started: jenkinsBuild(() => 'started'),
      completed: jenkinsBuild(jenkinsEnd),
      // Sent after `completed`, when all steps after the build are over.
      finalized: jenkinsBuild(jenkinsEnd),
    },
    offByDefault: ['queued', 'started', 'finalized'],
  },
  {
    name: 'pingdom',
    displayName: 'Pingdom',
    documentation: 'https://documentation.solarwinds.com/en/success_center/pingdom/content/topics/webhooks.htm',
    eventOf: (payload) => payload.raw('current_state'),
    events: {
      DOWN: pingdomState(':alert:', 'is **down**'),
      UP: pingdomState(':squared_ok:', 'is **up** again'),
      // Checks of transactions.
      FAILING: pingdomState(':alert:', 'is **failing**'),
      SUCCESS: pingdomState(':squared_ok:', '**succeeds** again'),
    },
    ignored: ['UNCONFIRMED_DOWN', 'UNKNOWN', 'PAUSED'],
  },
  {
    name: 'slack_incoming',
    displayName: 'Slack-compatible webhook',
    documentation: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/',
    eventOf: () => 'message',
    events: {
      message: {
        topic: (payload) => topicOf(payload.maybe('channel').replace(/^#/, '')) || '(no topic)',
        text: (payload) => {
          const text = writeMarkdown(parseSlackMessage(textsOf(payload.exact(''))));
          if (text === '') throw new AnomalousPayload('text');
          return text;
        },
      },
    },
  },
  {
    name: 'statuspage',
    displayName: 'Statuspage',
    documentation: 'https://support.atlassian.com/statuspage/docs/enable-webhook-notifications/',
    eventOf: (payload) => {
      if (payload.has('component_update')) return 'component_update';
      payload.raw('incident.name');
      return payload.maybe('incident.impact') === 'maintenance' ? 'maintenance' : 'incident';
    },
    events: {
      incident: statuspageIncident('Incident'),
      maintenance: statuspageIncident('Maintenance'),
      component_update: statuspageComponent,
    },
  },
  {
    name: 'zapier',
    displayName: 'Zapier',
    documentation: 'https://help.zapier.com/hc/en-us/articles/8496326446989-Send-webhooks-in-Zaps',
    setup: `Action: Webhooks by Zapier, POST
URL: ADDRESS
Payload Type: json
Data: topic, content`,
    ...onlyMessages('Zapier'),
    eventOf: (payload) => (payload.maybe('type') === 'auth' ? 'auth' : 'message'),
    // Zapier's own app sends it to test the URL.
    ignored: ['auth'],
  },
];
