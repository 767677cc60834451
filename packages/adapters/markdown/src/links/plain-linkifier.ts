import { isUnspacedBefore } from '@parley/domain/markdown';
import {
  type CompiledLinkifier,
  type Effort,
  expandUrl,
  type LinkifierMatch,
  parseUrlTemplate,
  type UrlTemplate,
} from './compiled-linkifier.js';
import type { PlainPattern } from './plain-pattern.js';

/** Allowed characters before a match, besides the start of the text. */
const BEFORE = /[\t\n\f\r \x85\p{Z}'"(,:<]/u;
const ASCII_BEFORE = Array.from({ length: 128 }, (_, code) => BEFORE.test(String.fromCharCode(code)));
const mayBegin = (text: string, start: number) =>
  start === 0 ||
  (ASCII_BEFORE[text.charCodeAt(start - 1)] ?? (BEFORE.test(text[start - 1]!) || isUnspacedBefore(text, start)));
/** Approximate speed of a literal search relative to single characters. */
const CHARACTERS_AT_ONCE = 32;

/** Linkifier whose pattern needs no engine. */
export class PlainLinkifier implements CompiledLinkifier {
  readonly literal: string;
  private template: UrlTemplate | undefined;

  constructor(
    private readonly pattern: PlainPattern,
    private readonly urlTemplate: string,
  ) {
    this.literal = pattern.literal;
  }

  search(text: string, effort: Effort): readonly LinkifierMatch[] {
    const { pattern } = this;
    const found: LinkifierMatch[] = [];
    effort.characters += Math.ceil(text.length / CHARACTERS_AT_ONCE);
    let start = 0;
    for (;;) {
      const position = text.indexOf(this.literal, start);
      if (position === -1 || position === text.length) return found;
      // A match that contains the literal starts within this range.
      for (start = pattern.earliestStart(text, position, start); start <= position && !effort.isSpent; start++) {
        effort.characters++;
        if (!mayBegin(text, start)) continue;
        const end = pattern.match(text, start);
        effort.characters += pattern.charactersRead;
        if (end === -1) continue;
        found.push(this.matchAt(text, start, end));
        // The character after a match may precede the next one.
        start = end;
      }
      if (effort.isSpent) return found;
    }
  }

  private matchAt(text: string, start: number, end: number): LinkifierMatch {
    const groups = this.pattern.caught(text);
    return {
      start,
      end,
      urlWith: (restore) => {
        this.template ??= parseUrlTemplate(this.urlTemplate);
        return expandUrl(this.template, groups, restore);
      },
    };
  }
}
