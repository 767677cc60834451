/** Of longer ones only so much is looked for: the index tells which to look for, not where they are. */
const MAX_LENGTH = 12;

interface Entry {
  /** All of them, of one length. */
  readonly byText: Map<string, number[]>;
  readonly length: number;
}

/** Tells which of many short texts may be part of a text, in time that does not grow with how many they are. */
export class LiteralIndex {
  /** By the first character, in few lengths. */
  private readonly entries = new Map<number, Entry[]>();

  /** Those that are empty are never told. */
  constructor(literals: readonly string[]) {
    for (const [number, literal] of literals.entries()) {
      if (literal !== '') this.add(literal.slice(0, MAX_LENGTH), number);
    }
  }

  /** Their numbers, each once, in no order. */
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
