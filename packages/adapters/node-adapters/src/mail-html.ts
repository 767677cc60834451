import { convert, type DomNode, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';

/** Parsing time grows with the length, and faster than linearly with the depth. */
const MAX_HTML_LENGTH = 300_000;
const MAX_HTML_DEPTH = 300;

/** Elements in which mail programs quote the original email. */
const QUOTES = ['blockquote', 'div.gmail_quote', 'div.moz-cite-prefix', 'div.yahoo_quoted'];
/** Elements of Outlook's programs below which the original email stands. */
const QUOTE_STARTS = [
  'div#divRplyFwdMsg',
  'div#appendonsend',
  'div#mail-editor-reference-message-container',
  'div[style^="border:none;border-top:solid #E1E1E1 1.0pt"]',
  'div[style^="border:none;border-top:solid #B5C4DF 1.0pt"]',
];
/** Character that control-character filters have removed from the HTML. */
const QUOTE_START = '\u0001';

const formatQuoteStart: FormatCallback = (_element, _walk, builder) => builder.addLiteral(QUOTE_START);

/** Shows the text that stands for an image. */
const formatImage: FormatCallback = ({ attribs }, _walk, builder) => {
  if (attribs?.alt) builder.addInline(attribs.alt);
};

/** Shows a table of data as Markdown, and other tables, which only arrange text, as lines. */
const formatTable: FormatCallback = (table, walk, builder) => {
  const addCell = (nodes: readonly DomNode[]): void => {
    builder.openTableCell();
    walk([...nodes], builder);
    builder.closeTableCell();
  };
  const addRows = (nodes: readonly DomNode[]): void => {
    for (const node of nodes) {
      if (isBlank(node)) continue;
      if (/^(?:thead|tbody|tfoot|center|form)$/.test(node.name ?? '')) {
        addRows(node.children);
        continue;
      }
      builder.openTableRow();
      if (node.name !== 'tr') addCell([node]);
      else for (const cell of node.children) if (!isBlank(cell)) addCell(isCell(cell) ? cell.children : [cell]);
      builder.closeTableRow();
    }
  };
  builder.openTable();
  addRows(table.children);
  builder.closeTable({ tableToString: (rows) => tableText(rows.map((row) => row.map(textOfCell))) });
};

const isCell = ({ name }: DomNode): boolean => name === 'td' || name === 'th';
const isBlank = ({ type, data = '' }: DomNode): boolean => type !== 'tag' && (type !== 'text' || data.trim() === '');

/** The declared type of the library names another property. */
const textOfCell = (cell: object): string => {
  const { text, lines } = cell as { readonly text?: string; readonly lines?: readonly string[] };
  return (text ?? lines?.join('\n') ?? '').trim();
};

function tableText(rows: readonly (readonly string[])[]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ''));
  const width = Math.max(0, ...filled.map((row) => row.length));
  const isData =
    filled.length > 1 && filled.every((row) => row.length > 1 && row.every((cell) => !cell.includes('\n')));
  if (!isData) return filled.map(lineOf).join('\n');
  const lines = filled.map((row) => markdownRow(Array.from({ length: width }, (_, column) => row[column] ?? '')));
  return [lines[0], `|${' --- |'.repeat(width)}`, ...lines.slice(1)].join('\n');
}

const markdownRow = (cells: readonly string[]): string =>
  `|${cells.map((cell) => ` ${cell.replaceAll('|', '&#124;')} |`).join('')}`;

function lineOf(row: readonly string[]): string {
  const cells = row.filter((cell) => cell !== '');
  return cells.join(cells.some((cell) => cell.includes('\n')) ? '\n' : ' | ');
}

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  formatters: { altText: formatImage, mailTable: formatTable, quoteStart: formatQuoteStart },
  limits: { maxDepth: 100, maxChildNodes: 2000, ellipsis: '\u2026' },
  selectors: [
    {
      selector: 'a',
      options: { hideLinkHrefIfSameAsText: true, ignoreHref: false, linkBrackets: ['(', ')'], noAnchorUrl: true },
    },
    { selector: 'img', format: 'altText' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'mailTable' },
  ],
};

const WITHOUT_QUOTES: HtmlToTextOptions = {
  ...OPTIONS,
  selectors: [
    ...OPTIONS.selectors!,
    ...QUOTES.map((selector) => ({ selector, format: 'skip' })),
    ...QUOTE_STARTS.map((selector) => ({ selector, format: 'quoteStart' })),
  ],
};

const TOO_LONG = '(The rest of the email is too long.)';

/** Returns the text of HTML. `reply`: without text that email clients mark as quoted. */
export function textsOfHtml(html: string): { readonly all: string; readonly reply: string } {
  const content = html.length > MAX_HTML_LENGTH ? withoutInvisible(html) : html;
  const shown = content.slice(0, MAX_HTML_LENGTH);
  const rest = shown.length < content.length ? `\n${TOO_LONG}` : '';
  const isDeep = depthOf(shown) > MAX_HTML_DEPTH;
  const textOf = (options: HtmlToTextOptions) =>
    (isDeep ? shown.replace(/<[^<>]*>/g, ' ') : convert(shown, options)) + rest;
  const [reply, quote] = textOf(WITHOUT_QUOTES).split(QUOTE_START, 2) as [string, string | undefined];
  // Outlook draws a line between the two.
  return { all: textOf(OPTIONS), reply: quote === undefined ? reply : reply.replace(/\s*-{20,}\s*$/, '') };
}

const INVISIBLE_ENDS: Readonly<Record<string, string>> = { '<style': '</style', '<script': '</script', '<!--': '-->' };

/** Removes style sheets, scripts, comments and embedded images in linear time. */
function withoutInvisible(html: string): string {
  const folded = html.toLowerCase();
  const kept: string[] = [];
  let start = 0;
  for (const { 0: opening, index } of folded.matchAll(/<style|<script|<!--/g)) {
    if (index < start) continue;
    kept.push(html.slice(start, index));
    const end = folded.indexOf('>', folded.indexOf(INVISIBLE_ENDS[opening]!, index));
    start = end < index ? html.length : end + 1;
  }
  kept.push(html.slice(start));
  return kept.join('').replace(/\bdata:[\w/+.-]{1,80};base64,[\w+/=]*/g, '');
}

/** Estimates the nesting depth. Ignores elements with no or an optional end tag. */
function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, end, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (/^(?:br|hr|img|meta|link|input|col|area|base|wbr|p|li|tr|th|td|dd|dt|option)$/i.test(name!)) continue;
    depth += end === '/' ? -1 : 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
