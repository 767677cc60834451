/** Maximum indexed length. The index selects literals to search for but does not locate them. */
const MAX_LENGTH = 12;

interface Entry {
  /** Literals of one length. */
  readonly byText: Map<string, number[]>;
  readonly length: number;
}

/** Finds the short texts that may occur in a text, in time independent of their number. */
export class LiteralIndex {
  /** Keyed by first character; few lengths each. */
  private readonly entries = new Map<number, Entry[]>();

  /** @param literals texts to find; empty texts are never found */
  constructor(literals: readonly string[]) {
    for (const [number, literal] of literals.entries()) {
      if (literal !== '') this.add(literal.slice(0, MAX_LENGTH), number);
    }
  }

  /** Returns the indexes of literals, each once, unordered. */
  occurringIn(text: string): readonly number[] {
    const found = new Set<number[]>();
    for (let at = 0; at < text.length; at++) {
      const entries = this.entries.get(text.charCodeAt(at));
      if (entries === undefined) continue;
      for (const { byText, length } of entries) {
        const numbers = byText.get(text.slice(at, at + length));
        if (numbers) found.add(numbers);
      }
    }
    return [...found].flat();
  }

  private add(text: string, number: number): void {
    const first = text.charCodeAt(0);
    const entries = this.entries.get(first) ?? [];
    this.entries.set(first, entries);
    let entry = entries.find(({ length }) => length === text.length);
    if (!entry) {
      entry = { byText: new Map(), length: text.length };
      entries.push(entry);
    }
    const numbers = entry.byText.get(text);
    if (numbers) numbers.push(number);
    else entry.byText.set(text, [number]);
  }
}
