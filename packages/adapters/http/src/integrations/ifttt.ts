import { escapeLines, type Integration, topicOf } from './integration.js';

export const IFTTT: Integration = {
  name: 'ifttt',
  displayName: 'IFTTT',
  documentation: 'https://ifttt.com/maker_webhooks',
  setup: `Action: Make a web request
URL: ADDRESS
Method: POST
Content Type: application/json
Body: { "topic": "<<<{{EventName}}>>>", "content": "<<<{{Value1}}>>>" }`,
  eventOf: () => 'message',
  events: {
    message: {
      topic: (payload) => topicOf(payload.maybe('topic') || 'IFTTT'),
      text: (payload) => escapeLines(payload.raw('content')),
    },
  },
};
