import { firstOf, lastOf } from '../kernel/work.js';
import { slackEmoji } from './foreign-emoji.js';
import { type Block, type Emphasis, type Inline, isTime, type Mention, paragraph, plain } from './rich-text.js';

/** Parses Slack's mrkdwn: quotes, code, emphasis, links, mentions, emoji and dates. Takes linear time. */
export function parseMrkdwn(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const segments = text.replace(/\r\n?/g, '\n').split(/```([\s\S]*?)```/);
  for (const [index, segment] of segments.entries()) {
    const isCode = index % 2 === 1;
    if (!isCode) {
      const rest = addProse(blocks, trimLineBreaks(segment));
      if (rest === null) continue;
      // `>>>` quotes everything up to the end, code too.
      const quoted = [
        rest,
        ...segments.slice(index + 1).map((each, i) => (i % 2 === 0 ? `\`\`\`${each}\`\`\`` : each)),
      ];
      blocks.push({ type: 'quote', children: parseUnquoted(quoted.join('')) });
      return blocks;
    }
    if (segment.trim() !== '') blocks.push(codeBlock(segment));
  }
  return blocks;
}

const codeBlock = (text: string): Block => ({ type: 'code', text: trimLineBreaks(codeText(text)), language: '' });

/** Code and paragraphs. */
const parseUnquoted = (text: string): readonly Block[] =>
  text.split(/```([\s\S]*?)```/).flatMap((segment, index): readonly Block[] => {
    if (segment.trim() === '') return [];
    return [index % 2 === 1 ? codeBlock(segment) : paragraph(parseInline(trimLineBreaks(segment)))];
  });

const trimLineBreaks = (text: string): string => text.replace(/^\n+/, '').replace(/(?<!\n)\n+$/, '');

const QUOTED_REST = /^(?:&gt;|>){3} ?/;
const QUOTED = /^(?:&gt;|>) ?/;

/** Adds paragraphs and quotes; returns the text after `>>>`, or null if there is none. */
function addProse(blocks: Block[], text: string): string | null {
  const lines = text.split('\n');
  let start = 0;
  const addUpTo = (end: number, isQuote: boolean) => {
    const group = lines.slice(start, end);
    const content = group.map((line) => (isQuote ? line.replace(QUOTED, '') : line)).join('\n');
    start = end;
    if (content.trim() === '') return;
    const block = paragraph(parseInline(trimLineBreaks(content)));
    blocks.push(isQuote ? { type: 'quote', children: [block] } : block);
  };
  let isQuote = false;
  for (const [index, line] of lines.entries()) {
    if (QUOTED_REST.test(line)) {
      addUpTo(index, isQuote);
      return [line.replace(QUOTED_REST, ''), ...lines.slice(index + 1)].join('\n');
    }
    if (QUOTED.test(line) !== isQuote) {
      addUpTo(index, isQuote);
      isQuote = !isQuote;
    }
  }
  addUpTo(lines.length, isQuote);
  return null;
}

const TOKEN =
  /`([^`\n]+)`|<([^<>\n]{1,4000})>|:([a-z0-9_+'-]{1,100}):(?::skin-tone-([2-6]):)?|https?:\/\/[^\s<>|`"]+|&(?:amp|lt|gt);|\n|([*_~])\5*/g;

/** Services send `**` too, although Slack does not know it. */
const EMPHASIS: Readonly<Record<string, Emphasis>> = { '*': 'strong', '**': 'strong', _: 'em', '~': 'del' };

const WORD_CHARACTER = /[\p{L}\p{N}]/u;
const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && WORD_CHARACTER.test(character);
const isGap = (character: string | undefined): boolean => character === undefined || /\s/.test(character);

/** Open emphasis with the nodes after its mark. */
interface Frame {
  readonly mark: string;
  readonly children: Inline[];
}

class InlineBuilder {
  private readonly frames: Frame[] = [{ mark: '', children: [] }];

  add(...nodes: readonly Inline[]): void {
    lastOf(this.frames).children.push(...nodes);
  }

  isOpen(mark: string): boolean {
    return this.frames.some((frame) => frame.mark === mark);
  }

  /** Opens a kind of emphasis that is not open, so that the nesting is bounded. */
  open(mark: string): void {
    this.frames.push({ mark, children: [] });
  }

  close(mark: string): void {
    while (lastOf(this.frames).mark !== mark) this.dissolve();
    const { children } = this.frames.pop()!;
    this.add({ type: EMPHASIS[mark]!, children });
  }

  /** Emphasis ends at the end of a line; marks without a partner are text. */
  closeAll(): readonly Inline[] {
    while (this.frames.length > 1) this.dissolve();
    return firstOf(this.frames).children;
  }

  endLine(): void {
    this.closeAll();
    this.add(plain('\n'));
  }

  private dissolve(): void {
    const { mark, children } = this.frames.pop()!;
    const parent = lastOf(this.frames).children;
    parent.push(plain(mark));
    for (const child of children) parent.push(child);
  }
}

/** Parses lines without quotes and code blocks. Without formatting, only links, mentions and emoji have a meaning. */
export function parseInline(text: string, isFormatted = true): readonly Inline[] {
  const builder = new InlineBuilder();
  let done = 0;
  const tokens = new RegExp(TOKEN);
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const { index } = match;
    const before = text[index - 1];
    const isText = !isFormatted && (match[1] ?? match[5]) !== undefined;
    const token = isText ? null : readToken(match, before, text[tokens.lastIndex], builder);
    // Text between angle brackets or colons may contain other tokens.
    if (token === null) {
      tokens.lastIndex = index + 1;
      continue;
    }
    if (index > done) builder.add(plain(text.slice(done, index)));
    // An address ends before its punctuation, which may be a mark.
    if (token.length !== undefined) tokens.lastIndex = index + token.length;
    done = tokens.lastIndex;
    token.apply();
  }
  if (done < text.length) builder.add(plain(text.slice(done)));
  return builder.closeAll();
}

interface Token {
  readonly apply: () => void;
  /** Length of the token if it is shorter than the match. */
  readonly length?: number;
}

/** Returns null if the match is text. */
function readToken(
  [whole, code, angled, emoji, tone, mark]: RegExpExecArray,
  before: string | undefined,
  after: string | undefined,
  builder: InlineBuilder,
): Token | null {
  const adding = (...nodes: readonly Inline[]): Token => ({ apply: () => builder.add(...nodes) });
  if (code !== undefined) return adding({ type: 'code', text: codeText(code) });
  if (angled !== undefined) {
    const nodes = parseAngled(angled);
    return nodes && adding(...nodes);
  }
  if (emoji !== undefined) {
    const node = isWordCharacter(before) ? null : emojiNode(emoji, tone);
    return node && adding(node);
  }
  if (whole === '\n') return { apply: () => builder.endLine() };
  if (mark !== undefined) return readMark(whole, before, after, builder);
  if (whole.startsWith('&')) return adding(plain(decode(whole)));
  const url = addressOf(whole);
  return { ...adding(isWordCharacter(before) ? plain(decode(url)) : linkTo(url)), length: url.length };
}

const linkTo = (url: string): Inline => ({ type: 'link', url: decode(url), children: [] });

/** Other runs such as `__` are text, and so are marks inside words. */
function readMark(
  whole: string,
  before: string | undefined,
  after: string | undefined,
  builder: InlineBuilder,
): Token | null {
  if (!Object.hasOwn(EMPHASIS, whole)) return { apply: () => builder.add(plain(whole)) };
  const isOpen = builder.isOpen(whole);
  if (isOpen && !isGap(before) && !isWordCharacter(after)) return { apply: () => builder.close(whole) };
  if (!isOpen && !isGap(after) && !isWordCharacter(before)) return { apply: () => builder.open(whole) };
  return { apply: () => builder.add(plain(whole)) };
}

/** Removes punctuation after an address, and a closing parenthesis without its partner. */
function addressOf(match: string): string {
  let end = match.length;
  let open = 0;
  for (const character of match) {
    if (character === '(') open++;
    else if (character === ')') open--;
  }
  for (; end > 0; end--) {
    const last = match[end - 1]!;
    if (last === ')' && open < 0) open++;
    else if (!/[.,;:!?'*_~\]}]/.test(last)) break;
  }
  return match.slice(0, end);
}

const PLAIN_TOKEN = /:([a-z0-9_+'-]{1,100}):(?::skin-tone-([2-6]):)?|https?:\/\/[^\s<>|`"]+/g;

/** Parses plain text, in which Slack still links addresses and shows emoji. */
export function parsePlain(text: string, hasEmoji = true): readonly Inline[] {
  const tokens = new RegExp(PLAIN_TOKEN);
  const nodes: Inline[] = [];
  let done = 0;
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const [whole, name, tone] = match;
    const { index } = match;
    const isInWord = isWordCharacter(text[index - 1]);
    if (name !== undefined) {
      const node = hasEmoji && !isInWord ? emojiNode(name, tone) : null;
      if (node) nodes.push(plain(decode(text.slice(done, index))), node);
      else tokens.lastIndex = index + 1;
      if (node) done = tokens.lastIndex;
    } else if (!isInWord) {
      const url = addressOf(whole);
      nodes.push(plain(decode(text.slice(done, index))), linkTo(url));
      done = index + url.length;
      tokens.lastIndex = done;
    }
  }
  nodes.push(plain(decode(text.slice(done))));
  return nodes;
}

/** Returns null for names of digits, as in `10:30:45`. */
export function emojiNode(name: string, tone?: string): Inline | null {
  const character = slackEmoji(name, tone === undefined ? undefined : Number(tone));
  return character === null && !/[a-z]/.test(name) ? null : { type: 'emoji', name, character };
}

const decode = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Code shows the label of a link, or its address. */
const codeText = (text: string): string =>
  decode(
    text.replace(/<((?:https?:\/\/|mailto:|[@#!])[^<>|\n]{1,4000})(?:\|([^<>\n]{0,4000}))?>/g, (_, target, label) =>
      label === undefined ? target : label,
    ),
  );

const MENTIONED: Readonly<Record<string, Mention['of']>> = { '@': 'user', '#': 'channel' };
const BROADCASTS: ReadonlySet<string> = new Set(['here', 'channel', 'everyone', 'group']);

/** Parses an expression in angle brackets; null if it is plain text. */
function parseAngled(angled: string): readonly Inline[] | null {
  const bar = angled.indexOf('|');
  const target = bar === -1 ? angled : angled.slice(0, bar);
  const label = bar === -1 ? '' : angled.slice(bar + 1);
  const [, sign, id] = /^([@#])([A-Z0-9]+)$/.exec(target) ?? [];
  if (sign !== undefined) {
    return [{ type: 'mention', of: MENTIONED[sign]!, id: id!, name: decode(label).replace(/^[@#]/, '') || id! }];
  }
  if (target.startsWith('!')) return parseSpecial(target.slice(1), label);
  if (/^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:|tel:)/i.test(target)) {
    return [{ type: 'link', url: decode(target), children: label === '' ? [] : parsePlain(label) }];
  }
  return label === '' ? null : [plain(decode(label))];
}

function parseSpecial(target: string, label: string): readonly Inline[] | null {
  const name = decode(label).replace(/^@/, '');
  if (BROADCASTS.has(target)) return [{ type: 'mention', of: 'everyone', id: target, name: name || target }];
  const group = /^subteam\^([A-Z0-9]+)$/.exec(target)?.[1];
  if (group !== undefined) return [{ type: 'mention', of: 'group', id: group, name: name || group }];
  const date = /^date\^(\d{1,12})\^([^^]*)(?:\^(.*))?$/.exec(target);
  if (date) return dateNodes(Number(date[1]), date[2]!, date[3] ?? '', label);
  return label === '' ? null : [plain(decode(label))];
}

const DATE_PART = /\{[a-z_]+\}/g;
/** Words between two parts of one date, as in `{date} at {time}`. */
const BETWEEN_PARTS = /^\W{0,3}\p{L}{0,3}\W{0,3}$/u;

/** Returns a date with the text around it. Neighbouring parts, such as date and time, become one time. */
export function dateNodes(at: number, format: string, url: string, fallback: string): readonly Inline[] {
  if (!isTime(at)) return [plain(decode(fallback))];
  const children: Inline[] = [];
  let done = 0;
  for (const { 0: part, index } of format.matchAll(DATE_PART)) {
    const between = format.slice(done, index);
    if (children.at(-1)?.type !== 'time' || !BETWEEN_PARTS.test(between)) {
      if (between !== '') children.push(plain(decode(between)));
      children.push({ type: 'time', at });
    }
    done = index + part.length;
  }
  if (children.length === 0) children.push({ type: 'time', at });
  else if (done < format.length) children.push(plain(decode(format.slice(done))));
  return url === '' ? children : [{ type: 'link', url: decode(url), children }];
}
