import {
  detailed,
  type EventTemplate,
  type Integration,
  lookUp,
  type Payload,
  shortCommit,
  topicOf,
} from './integration.js';

const app = (payload: Payload): string => topicOf(payload.raw('data.app.name'));
const actor = (payload: Payload): string => payload.person('data.user.email', 'actor.email');

/** Intermediate states produce no message. */
const RESULTS: Readonly<Record<string, string>> = { succeeded: 'succeeded', failed: 'failed' };

const release: EventTemplate = {
  topic: app,
  text: (payload) => {
    const result = lookUp(RESULTS, payload.raw('data.status'));
    if (result === null) return null;
    const description = payload.has('data.description') ? `: ${payload.text('data.description')}` : '';
    return `Release v${payload.text('data.version')} by ${actor(payload)} **${result}**${description}.`;
  },
};

const build: EventTemplate = {
  topic: app,
  text: (payload) => {
    const result = lookUp(RESULTS, payload.raw('data.status'));
    const commit = payload.maybe('data.source_blob.version');
    const of = commit === '' ? '' : ` of ${shortCommit(commit)}`;
    return result === null ? null : `The build${of} by ${actor(payload)} **${result}**.`;
  },
};

const DONE: Readonly<Record<string, string>> = { create: 'added', update: 'changed', destroy: 'removed' };
const changed = (what: string, name: string, topic = app): EventTemplate => ({
  topic,
  text: (payload) => {
    const done = lookUp(DONE, payload.raw('action'));
    return done === null ? null : `${payload.person('actor.email')} ${done} the ${what} ${payload.code(name)}.`;
  },
});

const appChanged = changed('app', 'data.name', (payload) => topicOf(payload.raw('data.name')));
const collaborator = changed('collaborator', 'data.user.email');
const addon = changed('add-on', 'data.name');

const events: Readonly<Record<string, EventTemplate>> = {
  release,
  build,
  'build.succeeded': build,
  app: appChanged,
  'app.update': appChanged,
  addon,
  'addon.update': addon,
  collaborator,
  'collaborator.update': collaborator,
  domain: changed('domain', 'data.hostname'),
  dyno: {
    topic: app,
    text: (payload) =>
      payload.raw('data.state') === 'crashed' ? `The dyno ${payload.code('data.name')} **crashed**.` : null,
  },
};

export const HEROKU: Integration = {
  name: 'heroku',
  displayName: 'Heroku',
  documentation: 'https://devcenter.heroku.com/articles/app-webhooks',
  eventOf: (payload) => {
    const resource = payload.raw('resource');
    return detailed(events, resource, resource === 'build' ? payload.maybe('data.status') : payload.raw('action'));
  },
  events,
  // A successful build leads to a release.
  offByDefault: ['build.succeeded', 'app.update', 'addon.update', 'collaborator.update'],
  ignored: ['addon-attachment', 'formation', 'sni-endpoint'],
};
