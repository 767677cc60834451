import { type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

const check = (payload: Payload): string =>
  payload.link(
    payload.text('check_name'),
    payload.has('check_params.full_url') ? 'check_params.full_url' : 'check_params.url',
  );
const host = (payload: Payload): string =>
  payload.has('check_params.hostname') ? ` (${payload.code('check_params.hostname')})` : '';

const state = (sign: string, text: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('check_name')),
  text: (payload) => `${sign} ${check(payload)}${host(payload)} ${text}.${payload.quote('long_description')}`,
});

export const PINGDOM: Integration = {
  name: 'pingdom',
  displayName: 'Pingdom',
  documentation: 'https://documentation.solarwinds.com/en/success_center/pingdom/content/topics/webhooks.htm',
  eventOf: (payload) => payload.raw('current_state'),
  events: {
    DOWN: state(':alert:', 'is **down**'),
    UP: state(':squared_ok:', 'is **up** again'),
    // Checks of transactions.
    FAILING: state(':alert:', 'is **failing**'),
    SUCCESS: state(':squared_ok:', '**succeeds** again'),
  },
  ignored: ['UNCONFIRMED_DOWN', 'UNKNOWN', 'PAUSED'],
};
