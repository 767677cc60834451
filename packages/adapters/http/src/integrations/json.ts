import { isLosslessNumber, stringify } from 'lossless-json';
import { AnomalousPayload, codeOf, escapeText, type Integration, type Payload, topicOf } from './integration.js';

/** In UTF-16 units. */
export const MAX_TEMPLATE_LENGTH = 2000;
/** Longer JSON would be truncated at the end of the message anyway. */
const MAX_INDENTED_LENGTH = 10_000;
const PLACEHOLDER = /\{\{\s*([\w.-]{1,200})\s*\}\}/g;
const FENCE = '`'.repeat(3);

/** Replaces `{{path.to.property}}` by the escaped text of that property; missing properties become empty. */
const fillTemplate = (template: string, payload: Payload): string =>
  template.replace(PLACEHOLDER, (_, path: string) => shown(payload.exact(path)));

function shown(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'object' && !isLosslessNumber(value)) return codeOf(stringify(value) ?? '');
  return escapeText(String(value));
}

/** Any JSON, shown as a code block or through the template in the URL. */
export const JSON_WEBHOOK: Integration = {
  name: 'json',
  displayName: 'JSON',
  documentation: 'https://www.json.org/',
  eventOf: () => 'message',
  options: { template: 'Template of the message with placeholders such as `{{user.name}}`.' },
  events: {
    message: {
      topic: () => topicOf('JSON'),
      text: (payload, { template }) => {
        if (template !== undefined) return fillTemplate(template, payload);
        const value = payload.exact('');
        if (typeof value !== 'object') throw new AnomalousPayload('');
        const compact = stringify(value) ?? '';
        const text = compact.length > MAX_INDENTED_LENGTH ? compact : stringify(value, null, 2);
        // JSON escapes line breaks in strings, so no line of the text ends the code block.
        return `${FENCE}json\n${text}\n${FENCE}`;
      },
    },
  },
};
