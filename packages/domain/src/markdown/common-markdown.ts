import { firstOf } from '../kernel/work.js';
/** Invisible separator between marks that would otherwise combine. */
export const JOINER = '\u2060';

const SPECIAL_LANGUAGES: ReadonlySet<string> = new Set(['quote', 'quoted', 'math', 'spoiler']);

/** Returns the language of a code block. Without one, a fence would take the organization's default, such as `quote`. */
export const codeLanguage = (language: string): string =>
  /^[\w+./#-]{1,50}$/.test(language) && !SPECIAL_LANGUAGES.has(language.toLowerCase()) ? language : 'text';

const FENCE = /^(`{3,}|~{3,})[ ]*([^\n]*)$/;

/**
 * Rewrites CommonMark in the dialect (markdown §1): emphasis by `_`, images, backslash escapes and fences. Creates no
 * mentions. Takes linear time.
 */
export function rewriteMarkdown(markdown: string): string {
  let open = '';
  const lines = markdown.split('\n').map((line) => {
    const [, fence, info] = FENCE.exec(line) ?? [];
    if (fence === undefined) return withoutMentions(open === '' ? rewriteLine(line) : line);
    if (open === '') {
      open = fence;
      return fence + codeLanguage(firstOf(info!.trim().split(' ', 1)));
    }
    if (!fence.startsWith(open) || info!.trim() !== '') return withoutMentions(line);
    // Both fences have the same length in the dialect.
    const closing = open;
    open = '';
    return closing;
  });
  return [...lines, ...(open === '' ? [] : [open])].join('\n');
}

const withoutMentions = (line: string): string => line.replace(/([@#]_?)(?=\*)/g, `$1${JOINER}`);

/** Code, addresses, escapes, images and emphasis; code and addresses stay as they are. */
const INLINE =
  /(`{1,10})[^`]*\1(?!`)|\]\([^()\s]{0,2000}\)|https?:\/\/[^\s)]+|\\([!-/:-@[-`{-~])|(!)(?=\[[^\]]{0,300}\]\()|(?<![\p{L}\p{N}_])__(?=\S)([^_]+)(?<=\S)__(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}_])_(?=\S)([^_]+)(?<=\S)_(?![\p{L}\p{N}_])/gu;

const rewriteLine = (line: string): string =>
  line.replace(INLINE, (whole, _code, escaped?: string, image?: string, strong?: string, em?: string) => {
    if (escaped !== undefined) return `&#${escaped.charCodeAt(0)};`;
    if (image !== undefined) return '';
    if (strong !== undefined) return `**${strong}**`;
    return em === undefined ? whole : `*${em}*`;
  });
