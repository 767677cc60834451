import { AnomalousPayload, codeOf, escapeText, type Integration, type Payload, topicOf } from './integration.js';

/** In UTF-16 units. */
export const MAX_TEMPLATE_LENGTH = 2000;
/** Longer JSON is cut at the end of a message anyway. */
const MAX_INDENTED_LENGTH = 10_000;
const PLACEHOLDER = /\{\{\s*([\w.-]{1,200})\s*\}\}/g;
const FENCE = '`'.repeat(3);

/** Replaces `{{path.of.a.member}}` by the escaped text of that member; missing ones are left out. */
export const fillTemplate = (template: string, payload: Payload): string =>
  template.replace(PLACEHOLDER, (_, path: string) => shown(payload.at(path)));

function shown(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'object') return codeOf(JSON.stringify(value));
  return escapeText(String(value));
}

/** Any JSON, as a code block or through the template of the URL. */
export const JSON_WEBHOOK: Integration = {
  name: 'json',
  displayName: 'JSON',
  eventOf: () => 'message',
  events: {
    message: {
      topic: () => topicOf('JSON'),
      text: (payload) => {
        const value = payload.at('');
        if (typeof value !== 'object') throw new AnomalousPayload('');
        const compact = JSON.stringify(value);
        const text = compact.length > MAX_INDENTED_LENGTH ? compact : JSON.stringify(value, null, 2);
        // Strings cannot contain line breaks here, so no line of the text ends the block.
        return `${FENCE}json\n${text}\n${FENCE}`;
      },
    },
  },
};
