import { WORD } from '../characters.js';
import { codeOf, unicodeEmoji } from '../emoji/unicode-emoji.js';
import { Element } from '../html/html.js';
import type { InlineContext, InlineRule } from './rule.js';

const NAMED = new RegExp(`:([${WORD}\\-+]+):`, 'gu');

/** Zulip's own emoji, which no standard contains. */
const ZULIP_IMAGE = '/static/generated/emoji/images/emoji/unicode/zulip.png';

const EMOTICONS: Readonly<Record<string, string>> = {
  ':)': 'smile',
  '(:': 'smile',
  ':(': 'frown',
  '<3': 'heart',
  ':|': 'neutral',
  ':/': 'confused',
  ';)': 'wink',
  ':D': 'grinning',
  ':o': 'open_mouth',
  ':O': 'open_mouth',
  ':p': 'stuck_out_tongue',
  ':P': 'stuck_out_tongue',
};
const EMOTICON = /(?<![^,.;?!()[\] "'\n\t])(?::[)(|/DoOpP]|\(:|<3|;\))(?![^,.;?!()[\] "'\n\t])/g;

/** Unicode's pattern of possible emoji (TR51). */
const PART = '\\p{Emoji}(?:\\p{Emoji_Modifier}|\\uFE0F\\u20E3?|[\\u{E0020}-\\u{E007E}]+\\u{E007F})?';
const SEQUENCE = `(?:\\p{RI}\\p{RI}|${PART})`;
const POSSIBLE = new RegExp(`${SEQUENCE}(?:\\u200D${SEQUENCE})*`, 'gu');
/** Quick test that excludes common letters; high surrogates stand for all characters beyond the first plane. */
const HINT = /[\u00a9\u00ae\u203c-\u3299\ud800-\udbff]/;
const PRESENTED_AS_TEXT = /^\P{Emoji_Presentation}$/u;

/** Replaces names such as `:smile:`. Unknown names are not examined again. */
export const namedEmoji: InlineRule = (text, context) =>
  text.includes(':') ? text.replace(NAMED, (typed, name: string) => context.stash(emoji(name, typed, context))) : text;

export const emoticons: InlineRule = (text, context) => {
  if (!context.options.translateEmoticons) return text;
  let end = -1;
  return text.replace(EMOTICON, (typed, offset: number) => {
    // The preceding emoji has been replaced and is not a boundary.
    if (offset === end) return typed;
    end = offset + typed.length;
    const name = EMOTICONS[typed]!;
    return context.stash(emoji(name, `:${name}:`, context));
  });
};

export const unicodeEmojiCharacters: InlineRule = (text, { stash }) => {
  if (!HINT.test(text)) return text;
  return text.replace(POSSIBLE, (typed) => {
    if (PRESENTED_AS_TEXT.test(typed)) return typed;
    const found = matchOf(typed);
    return found ? stash(emojiSpan(found.code, found.name, found.text)) : typed;
  });
};

interface EmojiMatch {
  readonly code: string;
  readonly name: string;
  readonly text: string;
}

/** Cache of emoji by source text, because a message may repeat one emoji thousands of times. */
const matches = new Map<string, EmojiMatch>();

function matchOf(typed: string): EmojiMatch | undefined {
  let emoji = matches.get(typed);
  if (!emoji) {
    const code = codeOf(typed);
    const name = unicodeEmoji().namesByCode.get(code)?.[0];
    if (name === undefined) return undefined;
    emoji = { code, name, text: `:${name}:` };
    matches.set(typed, emoji);
  }
  return emoji;
}

function emoji(name: string, typed: string, { names }: InlineContext): Element | string {
  const url = names.customEmojiUrl(name) ?? (name === 'zulip' ? ZULIP_IMAGE : undefined);
  if (url !== undefined) return new Element('img', { alt: typed, class: 'emoji', src: url, title: spaced(name) });
  const code = unicodeEmoji().codesByName.get(name);
  return code === undefined ? typed : emojiSpan(code, name, typed);
}

function emojiSpan(code: string, name: string, text: string): Element {
  const element = new Element('span', attributesOf(code, name));
  element.text = text;
  element.isTextFinal = true;
  return element;
}

/** Cached attributes of emoji by name. */
const attributes = new Map<string, Readonly<Record<string, string>>>();

function attributesOf(code: string, name: string): Readonly<Record<string, string>> {
  let existing = attributes.get(name);
  if (!existing) {
    const label = spaced(name);
    existing = { 'aria-label': label, class: `emoji emoji-${code}`, role: 'img', title: label };
    attributes.set(name, existing);
  }
  return existing;
}

const spaced = (name: string) => name.replaceAll('_', ' ');
