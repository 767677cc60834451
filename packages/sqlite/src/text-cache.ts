/** Of all texts of a cache together, in characters. */
const MAX_LENGTH = 4_000_000;

/** Values by texts. When the texts together are too long, it begins anew. */
export class TextCache<Value> {
  private readonly values = new Map<string, Value>();
  private length = 0;

  get(text: string): Value | undefined {
    return this.values.get(text);
  }

  /** Of a text that it did not know. */
  put(text: string, value: Value): void {
    if (this.length + text.length > MAX_LENGTH) {
      this.values.clear();
      this.length = 0;
    }
    this.values.set(text, value);
    this.length += text.length;
  }
}

/**
 * Gives a pure function of a text a memory: most rows of a table hold the same JSON, and one value then serves them all.
 */
export function memoize<Value>(parse: (text: string) => Value): (text: string) => Value {
  const known = new TextCache<Value>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = parse(text);
    known.put(text, value);
    return value;
  };
}
