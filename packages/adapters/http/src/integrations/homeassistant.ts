import { escapeLines, escapeText, type Integration, topicOf } from './integration.js';

/** Notifications of the platform `rest`. */
export const HOME_ASSISTANT: Integration = {
  name: 'homeassistant',
  displayName: 'Home Assistant',
  documentation: 'https://www.home-assistant.io/integrations/notify.rest/',
  setup: `notify:
  - name: Parley
    platform: rest
    resource: "ADDRESS"
    method: POST_JSON
    title_param_name: title`,
  eventOf: () => 'message',
  events: {
    message: {
      topic: (payload) => topicOf(payload.maybe('topic') || 'Home Assistant'),
      text: (payload) => {
        const title = payload.maybe('title');
        return `${title === '' ? '' : `**${escapeText(title)}**\n`}${escapeLines(payload.raw('message'))}`;
      },
    },
  },
};
