import type { LinkifierRule } from '@parley/domain/markdown';
import { type CompiledLinkifier, Effort, type LinkifierMatch, OriginalText } from './compiled-linkifier.js';
import { EngineLinkifier } from './engine-linkifier.js';
import { LiteralIndex } from './literal-index.js';
import { PlainLinkifier } from './plain-linkifier.js';
import { PlainPattern } from './plain-pattern.js';

/** Applies an organization's linkifiers to one text with limited effort, so that no pattern can block the server. */
export class RealmLinkifiers {
  private readonly list: LinkifierList;
  private readonly effort = new Effort();

  constructor(rules: readonly LinkifierRule[]) {
    this.list = LinkifierList.of(rules);
  }

  /** Number of characters read, excluding engines. */
  get charactersRead(): number {
    return this.effort.characters;
  }

  /**
   * Yields one search per possibly matching linkifier in order of precedence. Each returns its matches, from left to
   * right, in the text left by the previous ones.
   */
  *searches(text: string): Generator<(rest: string) => readonly LinkifierMatch[]> {
    const { list, effort } = this;
    const original = new OriginalText(text);
    effort.characters += text.length;
    for (const linkifier of list.occurringIn(text, effort)) yield (rest) => linkifier.search(rest, effort, original);
  }
}

/** Index created once per version of an organization's list, which may hold a thousand linkifiers. */
class LinkifierList {
  private static readonly byRules = new WeakMap<readonly LinkifierRule[], LinkifierList>();

  private readonly linkifiers: readonly CompiledLinkifier[];
  private readonly index: LiteralIndex;
  /** Indexes of linkifiers that cannot be excluded for any text. */
  private readonly unindexed: readonly number[];
  private readonly plainUnindexed: readonly number[];

  private constructor(rules: readonly LinkifierRule[]) {
    this.linkifiers = rules.map((rule) => {
      const pattern = PlainPattern.of(rule.pattern);
      return pattern ? new PlainLinkifier(pattern, rule.urlTemplate) : new EngineLinkifier(rule);
    });
    const literals = this.linkifiers.map(({ literal }) => literal);
    this.index = new LiteralIndex(literals);
    this.unindexed = [...literals.keys()].filter((number) => literals[number] === '');
    this.plainUnindexed = this.unindexed.filter((number) => this.linkifiers[number] instanceof PlainLinkifier);
  }

  static of(rules: readonly LinkifierRule[]): LinkifierList {
    let list = LinkifierList.byRules.get(rules);
    if (!list) {
      list = new LinkifierList(rules);
      LinkifierList.byRules.set(rules, list);
    }
    return list;
  }

  /** Yields the possibly matching linkifiers in order. */
  *occurringIn(text: string, effort: Effort): Generator<CompiledLinkifier> {
    // A message can contain thousands of text nodes.
    const always = effort.isEngineSpent ? this.plainUnindexed : this.unindexed;
    const found = this.index.occurringIn(text);
    const numbers = found.length === 0 ? always : [...always, ...found].sort((a, b) => a - b);
    for (const number of numbers) yield this.linkifiers[number]!;
  }
}
