import { readFileSync } from 'node:fs';
import { packageNames, shownPath, sourcesOf } from './source-code.js';

const FORBIDDEN_START = /^(?:Of|What|Whether|As|By|For|Where|How|Who|Whoever|Whose|Those|That)\b/i;
const ALLOWED_START = /^(?:For example|By default)\b/i;

/** Comment or test title. */
export interface Passage {
  readonly line: number;
  /** First line of the text. */
  readonly text: string;
}

export const isBadStart = (text: string): boolean => FORBIDDEN_START.test(text) && !ALLOWED_START.test(text);

/** Returns `file:line text` of each passage in all packages that begins with a forbidden word. */
export function badPassages(ending: string, passagesOf: (code: string) => readonly Passage[]): readonly string[] {
  return packageNames()
    .flatMap(sourcesOf)
    .filter((file) => file.endsWith(ending))
    .flatMap((file) =>
      passagesOf(readFileSync(file, 'utf8'))
        .filter(({ text }) => isBadStart(text))
        .map(({ line, text }) => `${shownPath(file)}:${line} ${text}`),
    );
}

const BLOCK_COMMENT = /^[ \t]*\/\*\*?\s*(.*?)(?:\s*\*\/.*)?$/;
const LINE_COMMENT = /(?:^[ \t]*|[;,{}()[\]] )\/\/ (.*)/;

/** Returns all comments; successive `//` lines form one comment. */
export function commentsOf(code: string): readonly Passage[] {
  const lines = code.split('\n');
  return lines.flatMap((line, index) => {
    const opened = BLOCK_COMMENT.exec(line);
    // A block may begin with an empty line.
    if (opened) return [{ line: index + 1, text: opened[1] || lines[index + 1]!.replace(/^[ \t]*\*?[ \t]*/, '') }];
    const isContinued = /^[ \t]*\/\//.test(line) && /^[ \t]*\/\//.test(lines[index - 1] ?? '');
    const text = LINE_COMMENT.exec(line)?.[1];
    return text === undefined || isContinued ? [] : [{ line: index + 1, text }];
  });
}

/**
 * Titles of `it`, `test` and `describe`, including tables, in which the title follows the end of a list or template.
 */
const TITLE = /(?:\b(?:it|test|describe)(?:\.\w+)*|\]\)|\)|`)\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/g;

export function titlesOf(code: string): readonly Passage[] {
  return [...code.matchAll(TITLE)].map(({ 0: call, 2: text, index }) => ({
    line: code.slice(0, index).split('\n').length + call.trimEnd().split('\n').length - 1,
    text: text!,
  }));
}
