import { parseSlackMessage, writeMarkdown } from '@parley/domain/markdown';
import { isLosslessNumber } from 'lossless-json';
import { AnomalousPayload, type Integration, topicOf } from './integration.js';

/** Numbers that keep their text become text. */
function textsOf(value: unknown): unknown {
  if (isLosslessNumber(value)) return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(textsOf);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, textsOf(member)]));
}

export const SLACK: Integration = {
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
};
