import { type EventTemplate, type Integration, type Payload, shortCommit, topicOf } from './integration.js';

const ITEM = 'data.item';

const title = (payload: Payload): string => {
  const counter = payload.has(`${ITEM}.counter`) ? `#${payload.text(`${ITEM}.counter`)} ` : '';
  const url = payload.has('data.url') ? 'data.url' : `${ITEM}.url`;
  return payload.link(`${counter}${payload.line(`${ITEM}.title`)}`, url);
};
const facts = (payload: Payload): string => {
  const level = payload.maybe(`${ITEM}.last_occurrence.level`);
  const environment = payload.has(`${ITEM}.environment`) ? payload.code(`${ITEM}.environment`) : '';
  return [level && ` (${payload.text(`${ITEM}.last_occurrence.level`)})`, environment && ` in ${environment}`].join('');
};

const item = (text: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.maybe(`${ITEM}.environment`), payload.raw(`${ITEM}.title`)),
  text: (payload) => `${text(payload)} ${title(payload)}${facts(payload)}.`,
});

export const ROLLBAR: Integration = {
  name: 'rollbar',
  displayName: 'Rollbar',
  documentation: 'https://docs.rollbar.com/docs/webhooks',
  eventOf: (payload) => payload.raw('event_name'),
  events: {
    new_item: item(() => ':alert: **New error:**'),
    occurrence: item(() => '**Occurrence:**'),
    exp_repeat_item: item((payload) => {
      const count = payload.has('data.occurrences')
        ? payload.text('data.occurrences')
        : payload.first(`${ITEM}.total_occurrences`);
      return `**Occurrence number ${count}:**`;
    }),
    item_velocity: item(() => ':alert: **High rate of occurrences:**'),
    reactivated_item: item(() => ':alert: **Occurred again:**'),
    reopened_item: item(() => '**Reopened:**'),
    resolved_item: item(() => ':squared_ok: **Resolved:**'),
    deploy: {
      topic: (payload) => topicOf(payload.raw('data.deploy.environment'), 'deployments'),
      text: (payload) =>
        `${payload.person('data.deploy.local_username')} deployed ${shortCommit(payload.raw('data.deploy.revision'))} to ${payload.code('data.deploy.environment')}.${payload.quote('data.deploy.comment')}`,
    },
    test: { topic: () => 'Rollbar', text: (payload) => payload.text('data.message') },
  },
  offByDefault: ['occurrence'],
};
