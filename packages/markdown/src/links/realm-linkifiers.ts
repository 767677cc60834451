import type { LinkifierRule } from '@parley/domain/markdown';
import { Effort, Linkifier, type LinkifierMatch } from './linkifier.js';
import { LiteralIndex } from './literal-index.js';

/** Applies an organization's linkifiers to one message: no pattern may stop the server. */
export class RealmLinkifiers {
  private readonly list: LinkifierList;

  constructor(
    rules: readonly LinkifierRule[],
    private readonly effort = new Effort(),
  ) {
    this.list = LinkifierList.of(rules);
  }

  get steps(): number {
    return this.effort.steps;
  }

  /**
   * Yields one search for each linkifier that may match in the text, in their order of precedence. Each finds its matches from
   * left to right, in the text or in what those before it have left of it.
   */
  *searches(text: string): Generator<(rest: string) => readonly LinkifierMatch[]> {
    // A message may have thousands of texts.
    if (this.effort.isSpent) return;
    this.effort.steps += text.length;
    for (const linkifier of this.list.occurringIn(text)) yield (rest) => linkifier.search(rest, this.effort);
  }
}

/** Made once for each version of an organization's list, which may have a thousand: of those, a text has few. */
class LinkifierList {
  private static readonly byRules = new WeakMap<readonly LinkifierRule[], LinkifierList>();

  private readonly linkifiers: readonly Linkifier[];
  private readonly index: LiteralIndex;
  /** Numbers of the linkifiers without a literal, which any text may match. */
  private readonly unindexed: readonly number[];

  private constructor(rules: readonly LinkifierRule[]) {
    this.linkifiers = rules.map((rule) => new Linkifier(rule));
    const literals = this.linkifiers.map(({ literal }) => literal);
    this.index = new LiteralIndex(literals);
    this.unindexed = [...literals.keys()].filter((number) => literals[number] === '');
  }

  static of(rules: readonly LinkifierRule[]): LinkifierList {
    let list = LinkifierList.byRules.get(rules);
    if (!list) {
      list = new LinkifierList(rules);
      LinkifierList.byRules.set(rules, list);
    }
    return list;
  }

  /** Returns all that may match there, in their order. */
  occurringIn(text: string): readonly Linkifier[] {
    const found = this.index.occurringIn(text);
    const numbers = found.length === 0 ? this.unindexed : [...this.unindexed, ...found].sort((a, b) => a - b);
    return numbers.map((number) => this.linkifiers[number]!);
  }
}
