import { type EventTemplate, type Integration, lookUp, type Payload, topicOf } from './integration.js';

/** Results by number. */
const RESULTS: Readonly<Record<string, string>> = {
  0: 'success',
  1: 'warnings',
  2: 'failure',
  3: 'skipped',
  4: 'exception',
  5: 'retry',
  6: 'canceled',
};

const result = (payload: Payload): string => {
  const number = payload.raw('results');
  return `ended with **${lookUp(RESULTS, number) ?? payload.text('results')}**`;
};

const build = (done: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.maybe('project'), payload.raw('buildername')),
  text: (payload) => `${payload.link(`Build #${payload.text('buildid')}`, 'url')} ${done(payload)}.`,
});

/** Events of the built-in reporter `ZulipStatusPush`. */
export const BUILDBOT: Integration = {
  name: 'buildbot',
  displayName: 'Buildbot',
  documentation: 'https://docs.buildbot.net/latest/manual/configuration/reporters/zulip_status.html',
  eventOf: (payload) => payload.raw('event'),
  events: {
    new: build(() => 'started'),
    finished: build(result),
  },
  offByDefault: ['new'],
};
