import { escapeHtml } from '@parley/domain/kernel';
import type { PersonAccount, PersonMessage } from '@parley/transfer/exports';
import { HTML_END, htmlStart } from './html-page.js';

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
  td:first-child { white-space: nowrap; }
  article { border-top: 1px solid #8884; padding: .6rem 0; }
  article p { margin: 0; }
  dl { margin: 0; padding-left: 1rem; border-left: 2px solid #8884; }
  dt { font-weight: 600; }
  dd { margin: 0 0 .4rem 0; }
  time, .place { opacity: .75; font-size: .875rem; }
  pre { margin: .2rem 0 0; white-space: pre-wrap; font: inherit; }
`;

const page = (title: string, body: string): string => `${htmlStart(title, STYLE)}${body}\n${HTML_END}`;

export interface PersonCounts {
  readonly channelMessages: number;
  readonly directMessages: number;
  readonly reactions: number;
  readonly answers: number;
  readonly auditEntries: number;
  readonly files: number;
}

/** First page: what the archive contains, and the whole account. */
export function indexPage(account: PersonAccount, counts: PersonCounts, pages: readonly string[]): string {
  const { user, organization, exportedAt } = account;
  const { exportedAt: _, organization: __, ...shown } = account;
  const contents: readonly (readonly [name: string, text: string])[] = [
    ['account.json', 'the account as below, for programs'],
    ['channel-messages.jsonl', `${counts.channelMessages} messages written in channels`],
    ['direct-messages.jsonl', `${counts.directMessages} messages of direct conversations, of all participants`],
    ['reactions.jsonl', `${counts.reactions} reactions`],
    ['answers.jsonl', `${counts.answers} votes and other answers to polls and to-do lists`],
    ['audit.jsonl', `${counts.auditEntries} entries of the audit log about you`],
    ['files.jsonl', `${counts.files} uploaded files, which are in the folder files`],
    ['schema.json', 'fields of these files as JSON Schema'],
  ];
  return page(
    `Data about ${user.fullName}`,
    `<p>Stored by <bdi>${escapeHtml(organization.name)}</bdi> on ${timeOf(exportedAt)} (UTC). Each line of a .jsonl file is one record.</p>
<table>
${contents.map(([name, text]) => `<tr><td><a href="${name}">${name}</a></td><td>${text}</td></tr>`).join('\n')}
</table>
<h2>Messages to read</h2>
${pages.length === 0 ? '<p>None.</p>' : `<ul>\n${pages.map((name) => `<li><a href="${name}">${name}</a></li>`).join('\n')}\n</ul>`}
<h2>Account</h2>
${shownValue('', shown)}
<h2>Not in this archive</h2>
<p>Passwords and keys, messages of others in channels, and log files of the server.</p>`,
  );
}

export const messagesPage = (title: string, messages: readonly PersonMessage[]): string =>
  page(title, `<p><a href="index.html">All data</a></p>\n${messages.map(articleOf).join('\n')}`);

function articleOf({ sentAt, channel, participants, sender, content, earlierTexts }: PersonMessage): string {
  const earlier = earlierTexts.map(
    ({ replacedAt, content: text }) =>
      `\n<p class="place">Until ${timeOf(replacedAt)}:</p><pre>${escapeHtml(text)}</pre>`,
  );
  const place = channel
    ? `#${channel.name ?? `channel ${channel.id}`}${channel.topic ? ` › ${channel.topic}` : ''}`
    : `with ${(participants ?? []).map(({ name }) => name).join(', ')}`;
  return `<article>
<p class="place"><bdi>${escapeHtml(place)}</bdi></p>
<p><b><bdi>${escapeHtml(sender.name)}</bdi></b> ${timeOf(sentAt)}</p>
<pre dir="auto">${escapeHtml(content)}</pre>${earlier.join('')}
</article>`;
}

const timeOf = (seconds: number): string =>
  `<time>${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}</time>`;

/** Shows plain data as nested lists. Numbers in fields such as `createdAt` are times. */
function shownValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'number' && /(?:At|lastActive|lastConnected)$/.test(name)) return timeOf(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return '–';
    return value.map((each) => `<div>${shownValue(name, each)}</div>`).join('');
  }
  if (typeof value !== 'object') return `<bdi>${escapeHtml(String(value))}</bdi>`;
  const fields = Object.entries(value).map(
    ([key, each]) => `<dt>${escapeHtml(words(key))}</dt><dd>${shownValue(key, each)}</dd>`,
  );
  return fields.length === 0 ? '–' : `<dl>${fields.join('')}</dl>`;
}

/** `lastUsedAt` becomes `last used at`. */
const words = (key: string): string => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
