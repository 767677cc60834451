import type { MarkdownOptions } from '@parley/domain/markdown';
import { CLOSE_PLACEHOLDER, OPEN_PLACEHOLDER } from '../characters.js';
import { Element } from '../html/html.js';
import { codeSpans } from './code-spans.js';
import { emoticons, namedEmoji, unicodeEmojiCharacters } from './emoji.js';
import { deleted, emphasis, strong, strongEmphasis } from './emphasis.js';
import { math } from './formulas.js';
import { linkifiers } from './linkifiers.js';
import { autolinks, links, media } from './links.js';
import { channelLinks, groupMentions, userMentions } from './mentions.js';
import type { InlineContext, InlineRule } from './rule.js';
import { times } from './times.js';

const ENTITY = /&(?:#[0-9]+|#x[0-9a-fA-F]+|[0-9a-zA-Z]+);/g;

const entities: InlineRule = (text, { html }) =>
  text.includes('&') ? text.replace(ENTITY, (entity) => html.add(entity, entity)) : text;

const lineBreaks: InlineRule = (text, { stash }) =>
  text.includes('\n') ? text.replaceAll('\n', () => stash(new Element('br'))) : text;

/** Rules in order; each processes a whole text before the next one. */
const RULES: readonly InlineRule[] = [
  codeSpans,
  strongEmphasis,
  userMentions,
  math,
  channelLinks,
  times,
  groupMentions,
  media,
  links,
  autolinks,
  linkifiers,
  entities,
  strong,
  emphasis,
  deleted,
  namedEmoji,
  emoticons,
  lineBreaks,
  unicodeEmojiCharacters,
];

/** Quick test for syntax of any rule except linkifiers and emoticons, since most sentences contain none. */
const MAYBE_SPECIAL = /[`*@$#<[&~\n/\u00a9\u00ae\u203c-\u3299\ud800-\udbff]|:\S|\.[^\s.]/;

/** True if no rule changes the text. */
export const isPlain = (
  text: string,
  { linkifiers, translateEmoticons }: Pick<MarkdownOptions, 'linkifiers' | 'translateEmoticons'>,
): boolean => linkifiers.length === 0 && !translateEmoticons && !MAYBE_SPECIAL.test(text);

const PLACEHOLDER = new RegExp(`${OPEN_PLACEHOLDER}(\\d+)${CLOSE_PLACEHOLDER}`, 'g');

const NONE: readonly Element[] = [];

const STEPS_PER_TEXT = 50;
const STEPS_PER_PLACEHOLDER = 300;

type Services = Omit<InlineContext, 'stash' | 'formatInside' | 'restore'>;

/**
 * Formats texts in a block tree. Rules work on flat text with placeholders, which are expanded afterwards. The
 * resulting texts and tails are formatted again from the first rule, because their neighbours no longer touch them.
 * Deliberate: the reference server does so, with visible effects.
 */
export class InlineFormatter implements InlineContext {
  readonly options;
  readonly fileLinks;
  readonly names;
  readonly outcome;
  readonly html;
  readonly typesetting;
  readonly work;
  readonly linkifiers;
  private readonly stashed: (Element | string)[] = [];
  private rule = 0;

  constructor(services: Services) {
    this.options = services.options;
    this.fileLinks = services.fileLinks;
    this.names = services.names;
    this.outcome = services.outcome;
    this.html = services.html;
    this.typesetting = services.typesetting;
    this.work = services.work;
    this.linkifiers = services.linkifiers;
  }

  format(root: Element): void {
    const stack = [root];
    for (let parent = stack.pop(); parent; parent = stack.pop()) {
      const children: Element[] = [];
      for (const child of parent.children) {
        children.push(child);
        let beginning = NONE;
        if (child.text !== '' && !child.isTextFinal) {
          beginning = this.expand(this.applyRules(child.text, 0), child, 'text');
          for (const element of beginning) if (element.children.length > 0) stack.push(element);
        }
        if (child.tail !== '') {
          const tail = child.isTailFinal ? child.tail : this.applyRules(child.tail, 0);
          for (const element of this.expand(tail, child, 'tail')) children.push(element);
        }
        if (child.children.length > 0) stack.push(child);
        if (beginning.length > 0) child.children = [...beginning, ...child.children];
      }
      // Most lists are unchanged.
      if (children.length > parent.children.length) parent.children = children;
    }
    unnestLinks(root, false);
  }

  /** Property instead of a method, because rules destructure it. */
  readonly stash = (content: Element | string): string => {
    this.work.spend(STEPS_PER_PLACEHOLDER);
    return `${OPEN_PLACEHOLDER}${this.stashed.push(content) - 1}${CLOSE_PLACEHOLDER}`;
  };

  formatInside(text: string): string {
    return this.applyRules(text, this.rule + 1);
  }

  readonly restore = (text: string): string => {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    const restored = text.replace(PLACEHOLDER, (_, index) => {
      const content = this.stashed[Number(index)]!;
      return typeof content === 'string' ? content : this.restore(content.allText);
    });
    return this.html.restore(restored);
  };

  private applyRules(text: string, from: number): string {
    this.work.spend(text.length + STEPS_PER_TEXT);
    if (isPlain(text, this.options)) return text;
    const outer = this.rule;
    let result = text;
    for (this.rule = from; this.rule < RULES.length; this.rule++) {
      this.work.spend(result.length);
      result = RULES[this.rule]!(result, this);
    }
    this.rule = outer;
    return result;
  }

  /** Expands placeholders into the text or tail of an element. Returns the elements after the leading text. */
  private expand(text: string, element: Element, part: 'text' | 'tail'): readonly Element[] {
    if (!text.includes(OPEN_PLACEHOLDER)) {
      element[part] = text;
      return NONE;
    }
    const isFinal = part === 'text' ? element.isTextFinal : element.isTailFinal;
    const elements: Element[] = [];
    let leading = '';
    let done = 0;
    const add = (piece: string) => {
      const last = elements.at(-1);
      if (last) last.tail += piece;
      else leading += piece;
    };
    // Uses indexOf instead of a pattern, because there may be thousands of placeholders.
    for (let at = text.indexOf(OPEN_PLACEHOLDER); at !== -1; at = text.indexOf(OPEN_PLACEHOLDER, at + 1)) {
      const close = text.indexOf(CLOSE_PLACEHOLDER, at);
      const content = this.stashed[Number(text.slice(at + 1, close))];
      // Generated HTML stays a placeholder until it is written.
      if (content === undefined) continue;
      add(text.slice(done, at));
      done = close + 1;
      if (typeof content === 'string') {
        add(content);
        continue;
      }
      this.expandInside(content);
      elements.push(content);
    }
    const last = elements.at(-1);
    // Text before a placeholder is ordinary again, even if the whole was final.
    if (last && last.tail === '') last.isTailFinal = isFinal;
    add(text.slice(done));
    element[part] = leading;
    if (elements.length > 0) {
      if (part === 'text') element.isTextFinal = false;
      else element.isTailFinal = false;
    }
    return elements;
  }

  private expandInside(element: Element): void {
    const before = element.children;
    if (element.text.includes(OPEN_PLACEHOLDER))
      element.children = [...this.expand(element.text, element, 'text'), ...before];
    for (const part of before) {
      if (part.tail.includes(OPEN_PLACEHOLDER)) {
        element.children.splice(element.children.indexOf(part) + 1, 0, ...this.expand(part.tail, part, 'tail'));
      }
      if (part.text.includes(OPEN_PLACEHOLDER)) part.children.unshift(...this.expand(part.text, part, 'text'));
    }
  }
}

/** Replaces links inside links by their text. */
function unnestLinks(element: Element, isInLink: boolean): void {
  if (element.children.length === 0) return;
  const kept: Element[] = [];
  for (const child of element.children) {
    if (child.tag === 'a' && isInLink) {
      const text = child.allText + child.tail;
      const before = kept.at(-1);
      if (before) before.tail += text;
      else element.text += text;
      continue;
    }
    unnestLinks(child, isInLink || child.tag === 'a');
    kept.push(child);
  }
  if (kept.length < element.children.length) element.children = kept;
}
