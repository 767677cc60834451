import { escapeLines, type Integration, topicOf } from './integration.js';

export const ZAPIER: Integration = {
  name: 'zapier',
  displayName: 'Zapier',
  documentation: 'https://help.zapier.com/hc/en-us/articles/8496326446989-Send-webhooks-in-Zaps',
  setup: `Action: Webhooks by Zapier, POST
URL: ADDRESS
Payload Type: json
Data: topic, content`,
  eventOf: (payload) => (payload.maybe('type') === 'auth' ? 'auth' : 'message'),
  events: {
    message: {
      topic: (payload) => topicOf(payload.maybe('topic') || 'Zapier'),
      text: (payload) => escapeLines(payload.raw('content')),
    },
  },
  // Zapier's own app sends it to test the URL.
  ignored: ['auth'],
};
