/** Cache of results by word. Of more than `limit` words, it keeps at least the latest half. */
export class WordCache<T> {
  private recent = new Map<string, T>();
  private former: ReadonlyMap<string, T> = new Map();

  constructor(private readonly limit: number) {}

  get(word: string): T | undefined {
    return this.recent.get(word) ?? this.former.get(word);
  }

  set(word: string, value: T): void {
    if (this.recent.size >= this.limit / 2) {
      this.former = this.recent;
      this.recent = new Map();
    }
    this.recent.set(word, value);
  }
}
