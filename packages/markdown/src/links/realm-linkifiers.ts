import type { LinkifierRule } from '@parley/domain/markdown';
import { type CompiledLinkifier, Effort, type LinkifierMatch, OriginalText } from './compiled-linkifier.js';
import { EngineLinkifier } from './engine-linkifier.js';
import { LiteralIndex } from './literal-index.js';
import { PlainLinkifier } from './plain-linkifier.js';
import { PlainPattern } from './plain-pattern.js';

/** What an organization's administrators want made links of, for one text: no pattern may stop the server. */
export class RealmLinkifiers {
  private readonly list: LinkifierList;
  private readonly effort = new Effort();

  constructor(rules: readonly LinkifierRule[]) {
    this.list = LinkifierList.of(rules);
  }

  /** How many characters were looked at, but by engines. */
  get charactersRead(): number {
    return this.effort.characters;
  }

  /**
   * One for each that may match in the text, in their order of precedence. Each finds its matches from left to right, in the
   * text or in what those before it have left of it.
   */
  *searches(text: string): Generator<(rest: string) => readonly LinkifierMatch[]> {
    const { list, effort } = this;
    const original = new OriginalText(text);
    effort.characters += text.length;
    for (const linkifier of list.occurringIn(text, effort)) yield (rest) => linkifier.search(rest, effort, original);
  }
}

/** Made once for each version of an organization's list, which may have a thousand: of those, a text has few. */
class LinkifierList {
  private static readonly byRules = new WeakMap<readonly LinkifierRule[], LinkifierList>();

  private readonly linkifiers: readonly CompiledLinkifier[];
  private readonly index: LiteralIndex;
  /** Those of which no text can be left out, by their number. */
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

  /** All that may match there, in their order. */
  *occurringIn(text: string, effort: Effort): Generator<CompiledLinkifier> {
    // A message may have thousands of texts.
    const always = effort.isEngineSpent ? this.plainUnindexed : this.unindexed;
    const found = this.index.occurringIn(text);
    const numbers = found.length === 0 ? always : [...always, ...found].sort((a, b) => a - b);
    for (const number of numbers) yield this.linkifiers[number]!;
  }
}
