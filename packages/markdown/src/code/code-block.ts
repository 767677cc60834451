import { trimCharacter } from '../characters.js';
import { escapeAttribute } from '../html/escape.js';
import type { Watchdog } from '../watchdog.js';
import { highlight } from './highlight.js';
import { findLanguage } from './languages.js';

/** `#!/usr/bin/python`; with a mere `#!python` there is no path. */
const SHEBANG = /^#!(?<path>(?:\/\w+)*[/ ])?(?<word>[\w#.+-]*)/;

export function codeBlock(text: string, word: string, watchdog: Watchdog): string {
  const code = trimCharacter(text, '\n');
  if (word === '') return markup(code, SHEBANG.exec(code)?.groups?.word ?? '', '', watchdog);
  const name = findLanguage(word)?.name ?? word;
  return markup(code, word, ` data-code-language="${escapeAttribute(name)}"`, watchdog);
}

/** A first line `#!lang` without a path only says how to highlight, and is not shown: the reference's rule. */
export function indentedCodeBlock(text: string, watchdog: Watchdog): string {
  let code = trimCharacter(text, '\n');
  const shebang = SHEBANG.exec(code)?.groups;
  if (shebang && !shebang.path) code = trimCharacter(code.replace(/^.*(?:\n|$)/, ''), '\n');
  return `${markup(code, shebang?.word ?? '', '', watchdog)}\n`;
}

function markup(code: string, word: string, attribute: string, watchdog: Watchdog): string {
  const html = highlight(code, findLanguage(word.toLowerCase())?.grammar ?? null, watchdog);
  return `<div class="codehilite"${attribute}><pre><span></span><code>${html}\n</code></pre></div>`;
}
