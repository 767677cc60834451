import { HOSTILE_TEXTS } from '@parley/testkit';
import { Bytes } from '../encode.js';
import { type Inputs, lengthened } from '../input-context.js';

const jsonBody = (value: unknown) => new Bytes(Buffer.from(JSON.stringify(value)));

export const INPUTS: Inputs = {
  'POST /external/:integration': {
    'a long text': () => ({ integration: 'slack_incoming', body: jsonBody({ text: '*a_b~<@c>`'.repeat(90_000) }) }),
    'many blocks': () => ({
      integration: 'slack_incoming',
      body: jsonBody({ blocks: Array(2000).fill({ type: 'section', text: { text: '*x* '.repeat(10) } }) }),
    }),
    'long HTML': () => ({
      integration: 'intercom',
      body: jsonBody({
        topic: 'conversation.user.created',
        data: { item: { id: 1, source: { subject: '<br'.repeat(150_000), body: '<&amp;'.repeat(75_000) } } },
      }),
    }),
    'many lines': () => ({ integration: 'zapier', body: jsonBody({ content: '*\n'.repeat(300_000) }) }),
    'blanks without an end': () => ({
      integration: 'datadog',
      body: jsonBody({ title: `${' '.repeat(450_000)}x`, body: `%%%${' '.repeat(450_000)}x` }),
    }),
    'nested lists': () => ({ integration: 'json', body: jsonBody(Array(600).fill(Array(9).fill([[1]]))) }),
  },
  'GET /external/:integration': { 'a service': () => ({ integration: 'trello' }) },
  'POST /bots': {
    'an outgoing webhook': ({ n, organization: { channelNames } }) => ({
      full_name: lengthened(`Bot ${n} `, 100),
      short_name: `bot${n}`,
      bot_type: 3,
      payload_url: JSON.stringify(`https://example.com/${'x'.repeat(1900)}`),
      default_sending_stream: channelNames[0],
      default_events_register_stream: channelNames[1],
    }),
  },
  'PATCH /bots/:bot_id': {
    'a new one': async ({ addBot, n }) => ({ bot_id: await addBot(), full_name: `Renamed ${n}`, role: 100 }),
  },
  'DELETE /bots/:bot_id': { 'a new one': async ({ addBot }) => ({ bot_id: await addBot() }) },
  'GET /bots/:bot_id/api_key': { 'a new one': async ({ addBot }) => ({ bot_id: await addBot() }) },
  'POST /bots/:bot_id/api_key/regenerate': { 'a new one': async ({ addBot }) => ({ bot_id: await addBot() }) },
  'PUT /bot_storage': {
    'one text': () => ({ storage: { key: 'value' } }),
    // `JSON.parse` of nine million escaped characters takes 85 to 115 ms in one piece (performance.md).
    'a long text of escaped characters': () => ({ storage: { key: '"'.repeat(7_000_000) } }),
    'the longest text': () => ({ storage: { key: 'x'.repeat(9_000_000) } }),
    'the longest text of three bytes each': () => ({ storage: { key: '€'.repeat(8_000_000) } }),
    // Generated inputs have stored up to a million characters under other keys.
    'the longest text of two bytes each': () => ({ storage: { key: 'ś'.repeat(9_000_000) } }),
    'ten thousand texts': ({ n }) => ({
      storage: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${n} ${index}`, 'é漢'.repeat(350)])),
    }),
  },
  'POST /realm/test_welcome_bot_custom_message': {
    'a text': () => ({ welcome_message_custom_text: HOSTILE_TEXTS.mixed!.slice(0, 8000) }),
  },
};
