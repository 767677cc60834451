import { parseSlackMessage, writeMarkdown } from '@parley/domain/markdown';
import { AnomalousPayload, type Integration, topicOf } from './integration.js';

export const SLACK: Integration = {
  name: 'slack_incoming',
  displayName: 'Slack-compatible webhook',
  documentation: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/',
  eventOf: () => 'message',
  events: {
    message: {
      topic: (payload) => topicOf(payload.maybe('channel').replace(/^#/, '')) || '(no topic)',
      text: (payload) => {
        const text = writeMarkdown(parseSlackMessage(payload.at('')));
        if (text === '') throw new AnomalousPayload('text');
        return text;
      },
    },
  },
};
