import { takeCodePoints } from '@parley/domain/kernel';
import { AnomalousPayload, bulletsOf, escapeText, type Integration, type Payload, topicOf } from './integration.js';

/** Maximum length of one text; same as for a message. */
const MAX_LENGTH = 10_000;

/** Links, mentions and entities in Slack's markup. */
const PARTS = /<([^<>\n]{1,2000})>|([^<]+|<)/g;
const decode = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Converts Slack's markup to Markdown without mentions. Supports bold, italic, strikethrough, code and links. */
function markdownOf(text: string): string {
  return takeCodePoints(text, MAX_LENGTH)
    .split(/(```[\s\S]*?```|`[^`\n]+`)/)
    .map((part, index) => (index % 2 === 1 ? codeOf(part) : proseOf(part)))
    .join('');
}

const codeOf = (part: string): string =>
  part.startsWith('```') ? `\n\`\`\`\n${decode(part.slice(3, -3)).trim()}\n\`\`\`\n` : decode(part);

/** Generated bold markers must not combine with preceding text to a mention or channel link. */
const proseOf = (text: string): string =>
  [...text.matchAll(PARTS)]
    .map(([, angled, plain]) => (angled === undefined ? formatted(plain!) : linkOf(angled)))
    .join('')
    .replace(/([@#]_?)\*/g, '$1&#42;');

function linkOf(angled: string): string {
  const [target, label] = angled.split('|', 2) as [string, string?];
  if (/^(?:https?|mailto):/.test(target)) {
    const url = decode(target)
      .replace(/[()\s[\]<>*`]/g, encodeURIComponent)
      .replace(/[()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    return label === undefined ? url : `[${escapeText(decode(label))}](${url})`;
  }
  // Mentions such as `<!channel>` and `<@U123>` refer to users of another system.
  return escapeText(decode(label ?? target.replace(/^([!@#])/, '')));
}

/** Keeps line breaks. Each line is escaped before Slack's formatting is converted. */
const formatted = (text: string): string =>
  text
    .split('\n')
    .map((line) => {
      const [, before, middle, after] = /^(\s*)(.*?)(\s*)$/s.exec(decode(line))!;
      return (
        before! +
        escapeText(middle!, MAX_LENGTH)
          .replace(/(?<!\w)&#42;(?=\S)([^&]*[^&\s])&#42;(?!\w)/g, '**$1**')
          .replace(/(?<!\w)_(?=\S)([^_&]*[^_&\s])_(?!\w)/g, '*$1*')
          .replace(/(?<![\w~])~(?=\S)([^~&]*[^~&\s])~(?!\w)/g, '~~$1~~') +
        after!
      );
    })
    .join('\n');

/** Maximum number of blocks, attachments, fields or elements; Slack's limits are similar. */
const MAX_PARTS = 50;
const listed = (payload: Payload, path: string): readonly Payload[] => payload.list(path).slice(0, MAX_PARTS);

const blocksText = (payload: Payload): string =>
  markdownOf(
    listed(payload, 'blocks')
      .map(blockText)
      .filter((text) => text !== '')
      .join('\n\n'),
  );

/** Returns the text of `section`, `header`, `context` and `rich_text` blocks; other kinds have no text. */
function blockText(block: Payload): string {
  const own = block.maybe('text.text');
  const fields = listed(block, 'fields').map((field) => field.maybe('text'));
  const elements = listed(block, 'elements').map((element) => element.maybe('text') || blockText(element));
  return [own, ...fields, ...elements].filter((text) => text !== '').join('\n');
}

function attachmentText(attachment: Payload): string {
  const title = attachment.maybe('title');
  const lines = [
    markdownOf(attachment.maybe('pretext')),
    title === '' ? '' : `**${attachment.link(escapeText(title), 'title_link')}**`,
    markdownOf(attachment.maybe('text')),
    bulletsOf(
      listed(attachment, 'fields'),
      (field) => `**${escapeText(field.maybe('title'))}**: ${escapeText(field.maybe('value'))}`,
    ),
    blocksText(attachment),
  ].filter((line) => line.trim() !== '');
  return lines.length > 0 ? lines.join('\n') : escapeText(attachment.maybe('fallback'));
}

function textOf(payload: Payload): string {
  // With blocks, `text` is only a fallback for notifications.
  const main = blocksText(payload) || markdownOf(payload.maybe('text'));
  const parts = [main, ...listed(payload, 'attachments').map(attachmentText)].filter((text) => text.trim() !== '');
  if (parts.length === 0) throw new AnomalousPayload('text');
  return parts.join('\n\n');
}

export const SLACK: Integration = {
  name: 'slack_incoming',
  displayName: 'Slack-compatible webhook',
  documentation: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/',
  eventOf: () => 'message',
  events: {
    message: { topic: (payload) => topicOf(payload.maybe('channel').replace(/^#/, '')) || '(no topic)', text: textOf },
  },
};
