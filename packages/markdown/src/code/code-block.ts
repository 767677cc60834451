import { trimCharacter } from '../characters.js';
import { escapeAttribute, escapeCode } from '../html/escape.js';
import type { CodeJob } from '../typesetting/job.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import { findLanguage } from './languages.js';

/** `#!/usr/bin/python`; with a mere `#!python` there is no path. */
const SHEBANG = /^#!(?<path>(?:\/\w+)*[/ ])?(?<word>[\w#.+-]*)/;

/** Answers what writes the block once its tokens are known. */
export function codeBlock(text: string, word: string, typesetting: Typesetting): () => string {
  const code = trimCharacter(text, '\n');
  if (word === '') return markup(code, SHEBANG.exec(code)?.groups?.word ?? '', '', typesetting);
  const name = findLanguage(word)?.name ?? word;
  return markup(code, word, ` data-code-language="${escapeAttribute(name)}"`, typesetting);
}

/** A first line `#!lang` without a path only says how to highlight, and is not shown: the reference's rule. */
export function indentedCodeBlock(text: string, typesetting: Typesetting): () => string {
  let code = trimCharacter(text, '\n');
  const shebang = SHEBANG.exec(code)?.groups;
  if (shebang && !shebang.path) code = trimCharacter(code.replace(/^.*(?:\n|$)/, ''), '\n');
  const write = markup(code, shebang?.word ?? '', '', typesetting);
  return () => `${write()}\n`;
}

function markup(source: string, word: string, attribute: string, typesetting: Typesetting): () => string {
  const grammar = findLanguage(word.toLowerCase())?.grammar ?? null;
  const job: CodeJob | null = grammar === null || source === '' ? null : { kind: 'code', source, grammar };
  if (job) typesetting.request(job);
  return () => {
    const html = (job && typesetting.resultOf(job)) ?? escapeCode(source);
    return `<div class="codehilite"${attribute}><pre><span></span><code>${html}\n</code></pre></div>`;
  };
}
