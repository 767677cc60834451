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
    if (url === undefined || rest.slice(0, lineStart).includes(url)) return { text, files };
    files.unshift({ name, url });
    text = rest.slice(0, lineStart).trimEnd();
  }
}

/** Appends links to the listed files. The empty line ends lists and quotes of the text. */
export function joinContent(parts: ContentParts): string {
  const links = listedFiles(parts).map(({ name, url }) => linkTo(name, url));
  if (links.length === 0) return parts.text;
  return `${parts.text === '' ? '' : `${parts.text}\n\n`}${links.join('\n')}`;
}

/** Files that the text does not link to. */
export const listedFiles = ({ text, files }: ContentParts): readonly UploadedFile[] =>
  files.filter(({ url }) => !text.includes(url));
