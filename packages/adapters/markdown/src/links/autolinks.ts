import { isUnspacedAt, isUnspacedBefore } from '@parley/domain/markdown';
import type { WorkBudget } from '../budgets.js';
import { isSpace, isWord } from '../characters.js';
import { isTopLevelDomain } from './url.js';

const MAX_NESTED_PARENTHESES = 7;
const BITCOIN = /bitcoin:[13][a-km-zA-HJ-NP-Z1-9]{25,34}/y;

/** Text that looks like a URL or email address. */
export interface Autolink {
  readonly start: number;
  readonly end: number;
}

/** Quick test that excludes most texts. */
const HINT = /:\/\/|[^\s.]\.[^\s.]|@|bitcoin:/;

/** Returns false only if neither the text nor any part contains an address. */
export const mayHoldAddresses = (text: string): boolean => HINT.test(text);

/** Yields the addresses in a text from left to right. */
export function* findAutolinks(text: string, fileLinks: boolean, work: WorkBudget): Generator<Autolink> {
  if (!mayHoldAddresses(text)) return;
  const scanner = new AddressScanner(text, fileLinks, work);
  for (let start = 0; start < text.length; start++) {
    if (start > 0 && !mayPrecede(text[start - 1]!) && !isWordStart(text, start)) continue;
    const end = scanner.scan(start);
    if (end === -1) continue;
    yield { start, end };
    // The rest is treated like a new text, because nothing directly after an address can start another.
    start = end;
  }
}

const mayPrecede = (character: string) => `'"(,:<`.includes(character) || isSpace(character);

/** True between a script that is written without spaces and an ASCII word. */
const isWordStart = (text: string, at: number): boolean => isAsciiWord(text[at]) && isUnspacedBefore(text, at);

const isAsciiWord = (character: string | undefined): boolean =>
  character !== undefined && /^[A-Za-z0-9]$/.test(character);

const MAX_LABEL_LENGTH = 63;

/** Full-width punctuation and brackets, which end an address. */
const FULL_WIDTH =
  /[\u3001\u3002\u3008-\u3011\u3014-\u301b\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b\uff5d\uff5f-\uff64]/;

/** Finds the earliest possible end of an address that starts at a given position. */
class AddressScanner {
  /** Bounds of the last examined run of punctuation. */
  private runStart = 0;
  private runEnd = -1;
  /** Positions from which no path can continue without open parentheses, remembered to avoid repeated scans. */
  private readonly deadEnds = new Set<number>();
  /** End of the last examined file name. */
  private fileEnd = -1;

  constructor(
    private readonly text: string,
    private readonly fileLinks: boolean,
    private readonly work: WorkBudget,
  ) {}

  scan(start: number): number {
    if (this.beginsWithText(start)) return -1;
    const end = this.webAddress(start);
    if (end !== -1) return end;
    const mail = this.mailAddress(start);
    if (mail !== -1) return mail;
    return this.otherAddress(start);
  }

  private webAddress(start: number): number {
    const { text } = this;
    const scheme = text.startsWith('http://', start) ? 7 : text.startsWith('https://', start) ? 8 : 0;
    if (scheme > 0) {
      let end = start + scheme;
      while (end < text.length && this.isHostCharacter(end)) {
        end += this.width(end);
        const pathEnd = text[end] === '/' ? this.path(end) : -1;
        if (pathEnd !== -1) return pathEnd;
        if (this.isEnd(end) || this.isHostEnd(start + scheme, end)) return end;
      }
      this.work.spend(end - start);
    }
    return this.domainAddress(start);
  }

  /** True if a complete host, port or IP address ends before a script that is written without spaces. */
  private isHostEnd(start: number, end: number): boolean {
    if (!this.isLabelEnd(end)) return false;
    const tail = this.text.slice(Math.max(start, end - MAX_LABEL_LENGTH - 1), end);
    const last = /[.:]([^.:]*)$/.exec(tail)?.[1] ?? '';
    return /^\d+$/.test(last) || isTopLevelDomain(last);
  }

  /** Finds the longest sequence of labels separated by dots whose last label is a known top-level domain. */
  private domainAddress(start: number): number {
    const { text } = this;
    let end = start;
    while (end < text.length && (text[end] === '.' || this.isLabelCharacter(end)) && !this.isLabelEnd(end)) {
      end += this.width(end);
    }
    this.work.spend(end - start);
    const name = text.slice(start, end);
    // Labels before the last one must not be empty.
    const firstGap = name.startsWith('.') ? 0 : name.indexOf('..');
    let labelEnd = firstGap === -1 ? name.length : firstGap;
    for (let dot = name.lastIndexOf('.', labelEnd - 1); dot > 0; dot = name.lastIndexOf('.', labelEnd - 1)) {
      const found = this.domainEnd(start + labelEnd, name.slice(dot + 1, labelEnd));
      if (found !== -1) return found;
      labelEnd = dot;
    }
    return -1;
  }

  private domainEnd(end: number, label: string): number {
    const hasPath = this.text[end] === '/';
    const isEnd = this.isEnd(end) || this.isLabelEnd(end);
    if (!(hasPath || isEnd) || !isTopLevelDomain(label)) return -1;
    const pathEnd = hasPath ? this.path(end) : -1;
    if (pathEnd !== -1) return pathEnd;
    return isEnd ? end : -1;
  }

  private mailAddress(start: number): number {
    const { text } = this;
    let at = start;
    while (at < text.length && this.isLabelCharacter(at, '.') && !this.isLabelEnd(at)) at += this.width(at);
    this.work.spend(at - start);
    if (at === start || text[at] !== '@') return -1;
    let end = at + 1;
    while (end < text.length && this.isLabelCharacter(end, '.') && !this.isLabelEnd(end)) end += this.width(end);
    this.work.spend(end - at);
    // The last label contains no hyphen, and the rest must be punctuation.
    const domain = text.slice(at + 1, end);
    for (let dot = domain.lastIndexOf('.'); dot > 0; dot = domain.lastIndexOf('.', dot - 1)) {
      let last = at + 1 + dot + 1;
      while (last < end && isWord(this.character(last))) last += this.width(last);
      if (last > at + 1 + dot + 1 && (this.isEnd(last) || this.isLabelEnd(last))) return last;
    }
    return -1;
  }

  private otherAddress(start: number): number {
    let end = -1;
    if (this.text.startsWith('bitcoin:', start)) end = this.bitcoin(start);
    else if (this.fileLinks && this.text.startsWith('file:///', start)) end = this.file(start);
    return end !== -1 && this.isEnd(end) ? end : -1;
  }

  private bitcoin(start: number): number {
    BITCOIN.lastIndex = start;
    return BITCOIN.test(this.text) ? BITCOIN.lastIndex : -1;
  }

  private file(start: number): number {
    if (this.fileEnd < start) {
      const space = this.text.indexOf(' ', start);
      this.fileEnd = space === -1 ? this.text.length : space;
    }
    return this.fileEnd;
  }

  /** Accepts anything except white space and quotes with balanced parentheses. */
  private path(start: number): number {
    const { text } = this;
    const passed: number[] = [];
    let depth = 0;
    for (let end = start + 1; ; end++) {
      if (depth === 0) {
        if (this.isEnd(end)) return end;
        if (this.deadEnds.has(end)) break;
        passed.push(end);
      }
      const character = text[end];
      if (character === undefined || character === '"' || isSpace(character)) break;
      if (character === '(' && ++depth > MAX_NESTED_PARENTHESES) break;
      if (character === ')' && --depth < 0) break;
    }
    for (const position of passed) this.deadEnds.add(position);
    this.work.spend(passed.length);
    return -1;
  }

  /** True if only punctuation precedes the next white space. */
  private isEnd(position: number): boolean {
    const { text } = this;
    if (position < this.runStart || position > this.runEnd) {
      this.runStart = position;
      this.runEnd = position;
      while (this.runEnd < text.length && `!:;?),.'">`.includes(text[this.runEnd]!)) this.runEnd++;
    }
    const next = text[this.runEnd];
    return next === undefined || isSpace(next) || FULL_WIDTH.test(next);
  }

  /** True if an ASCII label ends before a script that is written without spaces. */
  private isLabelEnd(position: number): boolean {
    return isAsciiWord(this.text[position - 1]) && isUnspacedAt(this.text, position);
  }

  /** True if letters of such a script, which belong to the text before the address, would begin a label. */
  private beginsWithText(start: number): boolean {
    let end = start;
    while (end < this.text.length && isUnspacedAt(this.text, end)) end += this.width(end);
    this.work.spend(end - start);
    return end > start && isAsciiWord(this.text[end]);
  }

  private isHostCharacter(position: number): boolean {
    return '.:@-'.includes(this.text[position]!) || isWord(this.character(position));
  }

  private isLabelCharacter(position: number, also = ''): boolean {
    const character = this.text[position]!;
    return character === '-' || character === also || isWord(this.character(position));
  }

  private character(position: number): string {
    return this.width(position) === 2 ? this.text.slice(position, position + 2) : this.text[position]!;
  }

  /** In code units: two for characters beyond the basic plane. */
  private width(position: number): 1 | 2 {
    const code = this.text.charCodeAt(position);
    return code >= 0xd800 && code < 0xdc00 && position + 1 < this.text.length ? 2 : 1;
  }
}
