import { escapeHtml } from '@parley/domain/kernel';
import { HTML_END, htmlStart } from '@parley/export-files';
import { printable } from '@parley/transfer/records';
import type { ImportPlan, PlanSummary, ReportedMessage } from './plan.js';
import { reportLines } from './report.js';

const STYLE = `
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid #ddd; padding: .3rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
  section { border: 1px solid #ddd; border-radius: 6px; margin: 1rem 0; padding: 0 1rem; overflow-wrap: anywhere; }
  h3 { font-size: 1rem; }
  time, .reactions { color: #666; font-size: .85rem; }
  blockquote { border-left: 3px solid #ccc; margin-left: 0; padding-left: 1rem; }
  pre { background: #f4f4f4; padding: .5rem; white-space: pre-wrap; }
  img { max-width: 100%; }
`;

/** Yields the report as an HTML page with sample messages, without links to other files. */
export async function* reportHtml({
  summary,
  samples,
}: Pick<ImportPlan, 'summary' | 'samples'>): AsyncGenerator<string> {
  yield htmlStart(`Import of ${printable(summary.organization)}`, STYLE);
  yield `<pre>${escapeHtml(reportLines(summary).join('\n'))}</pre>
<h2>Samples of messages in public channels</h2>
`;
  for await (const sample of samples()) yield `${sample.map(messageSection).join('\n')}\n<hr>\n`;
  yield `<h2>People</h2>
<table>
<tr><th>Id</th><th>Name</th><th>Email</th><th>Matched by</th></tr>
${summary.people.slice(0, MAX_PEOPLE).map(personRow).join('\n')}
</table>
${summary.people.length > MAX_PEOPLE ? `<p>and ${summary.people.length - MAX_PEOPLE} more in report.json</p>` : ''}
`;
  yield HTML_END;
}

const MAX_PEOPLE = 1000;

const shown = (text: string): string => escapeHtml(printable(text));

const personRow = ({ id, name, email, match }: PlanSummary['people'][number]): string =>
  `<tr>${[id, name, email, match].map((text) => `<td>${shown(text)}</td>`).join('')}</tr>`;

function messageSection({ channel, topic, sender, sentAt, html, reactions }: ReportedMessage): string {
  const time = new Date(sentAt * 1000).toISOString().slice(0, 16).replace('T', ' ');
  const emoji = reactions.length === 0 ? '' : `<p class="reactions">${shown(reactions.join(', '))}</p>`;
  return `<section>
<h3>#${shown(channel)}${topic === '' ? '' : ` › ${shown(topic)}`}</h3>
<p><b>${shown(sender)}</b> <time>${time}</time></p>
${html}
${emoji}</section>`;
}
