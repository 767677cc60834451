import { linkTo, type UploadedFile } from '../services/uploads.js';

/** Message content as shown by its field. */
export interface ContentParts {
  readonly text: string;
  readonly files: readonly UploadedFile[];
}

const FILE_LINE = /^\[([^[\]]+)\]\((\/user_uploads\/[^\s()]+)\)$/;

/** Separates the text from the last lines that are only links to uploads. */
export function splitContent(content: string): ContentParts {
  const files: UploadedFile[] = [];
  let text = content;
  for (;;) {
    const rest = text.trimEnd();
    const lineStart = rest.lastIndexOf('\n') + 1;
    const [, name = '', url] = FILE_LINE.exec(rest.slice(lineStart)) ?? [];
    // Files linked in the text are not listed.
    const before = rest.slice(0, lineStart);
    if (url === undefined || before.includes(url) || closingFences(before) !== '') return { text, files };
    files.unshift({ name, url });
    text = before.trimEnd();
  }
}

/** Appends links to the listed files. The empty line ends lists and quotes of the text. */
export function joinContent(parts: ContentParts): string {
  const links = listedFiles(parts).map(({ name, url }) => linkTo(name, url));
  if (links.length === 0) return parts.text;
  return `${parts.text === '' ? '' : `${parts.text}${closingFences(parts.text)}\n\n`}${links.join('\n')}`;
}

/** The server removes newlines before the text. */
const WIDGET = /^\n*\/(poll|todo)(\s|$)/;

/**
 * Returns the message to send first, and the remaining content: later lines of polls and to-do lists are options and
 * tasks, so their files precede them.
 */
export function nextMessage(content: string): readonly [message: string, rest: string] {
  const { text, files } = splitContent(content);
  return files.length > 0 && WIDGET.test(text) ? [joinContent({ text: '', files }), text] : [content, ''];
}

const FENCE = /^(~{3,}|`{3,})(?=[^~`]*$) *(?:\{?\.?(quoted?|spoiler)\b)?/i;

/** Lines that close the open blocks of a text (markdown §5); code blocks would show links as code. */
function closingFences(text: string): string {
  const open: { readonly fence: string; readonly isCode: boolean }[] = [];
  for (const line of text.split('\n')) {
    const current = open.at(-1);
    if (line.trimEnd() === current?.fence) open.pop();
    else if (!current?.isCode) {
      const [, fence, container] = FENCE.exec(line) ?? [];
      if (fence !== undefined) open.push({ fence, isCode: container === undefined });
    }
  }
  return open
    .map(({ fence }) => `\n${fence}`)
    .reverse()
    .join('');
}

/** Files that the text does not link to. */
export const listedFiles = ({ text, files }: ContentParts): readonly UploadedFile[] =>
  files.filter(({ url }) => !text.includes(url));
