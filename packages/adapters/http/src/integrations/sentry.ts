import { takeCodePoints } from '@parley/domain/kernel';
import { type Block, writeMarkdown } from '@parley/domain/markdown';
import {
  AnomalousPayload,
  codeOf,
  detailed,
  type EventTemplate,
  escapeText,
  type Integration,
  lookUp,
  type Payload,
  topicOf,
} from './integration.js';

const issueTopic = (payload: Payload): string =>
  topicOf(payload.raw('data.issue.project.name'), payload.raw('data.issue.title'));

const actor = (payload: Payload): string => payload.person('actor.name');
const issue = (payload: Payload): string =>
  payload.link(
    payload.text('data.issue.title'),
    payload.has('data.issue.web_url') ? 'data.issue.web_url' : 'data.issue.permalink',
  );

const issueEvent: EventTemplate = {
  topic: issueTopic,
  text: (payload) => {
    switch (payload.raw('action')) {
      case 'created':
        return `**New issue:** ${issue(payload)}\n${culprit(payload, 'data.issue')}`.trim();
      case 'resolved':
        return `${actor(payload)} resolved ${issue(payload)}.`;
      case 'assigned':
        return `${actor(payload)} assigned ${issue(payload)} to **${payload.first('data.issue.assignedTo.name')}**.`;
      case 'archived':
      case 'ignored':
        return `${actor(payload)} archived ${issue(payload)}.`;
      case 'unresolved':
        return `${issue(payload)} is unresolved again.`;
      default:
        return null;
    }
  },
};

/** Returns facts as bullets. `path` is the path of the event, empty for the payload. */
const culprit = (payload: Payload, path: string): string => {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  return ['level', 'culprit', 'platform']
    .flatMap((name) => (payload.has(at(name)) ? [`* **${name}**: ${payload.code(at(name))}`] : []))
    .join('\n');
};

/** Frames in the traceback; the newest ones. */
const MAX_FRAMES = 8;
/** Lines of code before and after the line of the error. */
const MAX_CONTEXT = 4;
const MAX_LINE = 200;

/** Languages of code blocks, by Sentry's platform. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['csharp', 'elixir', 'go', 'java', 'javascript', 'php', 'python', 'ruby', 'rust'].map((name) => [name, name]),
  ),
  node: 'javascript',
  cocoa: 'objc',
  native: 'c',
};

const lineOf = (text: string): string => takeCodePoints(text.replace(/[\r\n]/g, ' '), MAX_LINE).trimEnd();
const linesOf = (frame: Payload, path: string): readonly string[] =>
  frame.list(path).map((line) => lineOf(line.maybe('')));

const positionOf = (frame: Payload): string => {
  const file = ['filename', 'abs_path', 'module'].find((path) => frame.has(path));
  return `${file === undefined ? 'unknown' : frame.raw(file)}${frame.has('lineno') ? `:${frame.raw('lineno')}` : ''}`;
};

/** Returns the code of the error and its traceback; empty if the event has none. */
function traceback(payload: Payload, path: string): string {
  // The last exception was not caught; the preceding ones are its causes.
  const exceptions = payload
    .list(`${path}.exception.values`)
    .filter((each) => each.list('stacktrace.frames').length > 0);
  const exception = exceptions.at(-1);
  if (!exception) return '';
  const all = exception.list('stacktrace.frames');
  const own = all.filter((frame) => frame.has('in_app'));
  const frames = (own.length > 0 ? own : all).slice(-MAX_FRAMES);
  const newest = frames.at(-1)!;
  const calls = frames.flatMap((frame) => {
    const line = frame.maybe('context_line').trim();
    return [`${positionOf(frame)} in ${frame.maybe('function') || '?'}`, ...(line === '' ? [] : [`    ${line}`])];
  });
  const error = `${exception.maybe('type')}: ${exception.maybe('value')}`;
  return `${codeOfFrame(newest, payload.maybe(`${path}.platform`))}\n\n**Traceback:**\n\n${fenced([...calls, error].map(lineOf), 'text')}`;
}

function codeOfFrame(frame: Payload, platform: string): string {
  if (!frame.has('context_line')) return '';
  const lines = [
    ...linesOf(frame, 'pre_context')
      .slice(-MAX_CONTEXT)
      .map((line) => `  ${line}`),
    `> ${lineOf(frame.maybe('context_line'))}`,
    ...linesOf(frame, 'post_context')
      .slice(0, MAX_CONTEXT)
      .map((line) => `  ${line}`),
  ];
  return `\n\n**Code** at ${codeOf(positionOf(frame))}:\n\n${fenced(lines, lookUp(LANGUAGES, platform) ?? 'text')}`;
}

const fenced = (lines: readonly string[], language: string): string => {
  const block: Block = { type: 'code', text: lines.join('\n'), language };
  return writeMarkdown([block]);
};

const eventTitle = (payload: Payload, path: string): string =>
  payload.link(payload.text(`${path}.title`), `${path}.web_url`);

const alerted: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('data.event.title')),
  text: (payload) =>
    `**Alert ${payload.first('data.triggered_rule')}:** ${eventTitle(payload, 'data.event')}\n${culprit(payload, 'data.event')}${traceback(payload, 'data.event')}`.trim(),
};

const metric: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('data.description_title')),
  text: (payload) =>
    `**${payload.text('action')}**: ${payload.link(payload.text('data.description_title'), 'data.web_url')}${payload.quote('data.description_text')}`,
};

const COMMENTED: Readonly<Record<string, string>> = { created: 'commented', updated: 'edited a comment' };

const comment: EventTemplate = {
  topic: (payload) => topicOf(payload.raw('data.project_slug')),
  text: (payload) => {
    const action = payload.raw('action');
    return Object.hasOwn(COMMENTED, action)
      ? `${actor(payload)} ${COMMENTED[action]} on issue ${payload.text('data.issue_id')}.${payload.quote('data.comment')}`
      : null;
  },
};

/** Format of the older plugin "WebHooks", which sends no header. */
const plugin: EventTemplate = {
  topic: (payload) =>
    topicOf(payload.raw(payload.has('project_name') ? 'project_name' : 'project'), pluginTitle(payload)),
  text: (payload) => {
    const link = payload.link(escapeText(pluginTitle(payload)), 'url');
    return `**Alert:** ${link}\n${culprit(payload, '')}${traceback(payload, 'event')}`.trim();
  },
};

function pluginTitle(payload: Payload): string {
  const path = ['event.title', 'message', 'culprit'].find((each) => payload.has(each));
  return payload.raw(path ?? 'message');
}

/** Members of `data` that identify the event of a request without its header. */
const DATA: Readonly<Record<string, string>> = {
  event_alert: 'event',
  issue: 'issue',
  metric_alert: 'metric_alert',
  error: 'error',
  comment: 'comment',
  installation: 'installation',
};

function eventWithoutHeader(payload: Payload): string {
  if (!payload.has('data') && payload.has('project')) return 'plugin';
  const event = Object.keys(DATA).find((name) => payload.has(`data.${DATA[name]}`));
  if (event === undefined) throw new AnomalousPayload('data');
  return event;
}

const EVENTS: Readonly<Record<string, EventTemplate>> = {
  issue: issueEvent,
  event_alert: alerted,
  metric_alert: metric,
  error: {
    topic: (payload) => topicOf(payload.raw('data.error.title')),
    text: (payload) =>
      `**New error:** ${eventTitle(payload, 'data.error')}\n${culprit(payload, 'data.error')}${traceback(payload, 'data.error')}`.trim(),
  },
  comment,
  'comment.updated': comment,
  installation: {
    topic: () => 'Sentry',
    text: (payload) => `The Sentry integration was ${payload.text('action')}.`,
  },
  plugin,
};

export const SENTRY: Integration = {
  name: 'sentry',
  displayName: 'Sentry',
  documentation: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks/',
  eventHeader: 'Sentry-Hook-Resource',
  isHeaderOptional: true,
  eventOf: (payload, header) => {
    const event = header === '' ? eventWithoutHeader(payload) : header;
    if (event === 'plugin') return event;
    if (!payload.has('action') && event !== 'event_alert') throw new AnomalousPayload('action');
    return detailed(EVENTS, event, payload.maybe('action'));
  },
  events: EVENTS,
  offByDefault: ['comment.updated'],
  ignored: ['preprod_artifact', 'seer'],
};
