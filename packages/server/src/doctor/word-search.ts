/** Line of a word in the list, from 1. */
export type WordLine = number;

/** Called with the line of a word and the offset of its first byte. */
export type OnFound = (line: WordLine, offset: number) => void;

export const MAX_WORDS = 100;
export const MAX_WORD_BYTES = 200;
/** Shorter words occur by chance in compressed and binary data. */
export const MIN_WORD_BYTES = 4;

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const inAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Byte forms of a word: UTF-8 and JSON, each also in lower case, which the search index stores. */
const formsOf = (word: string): readonly string[] => [
  ...new Set([word, word.toLowerCase()].flatMap((form) => [form, escaped(form), inAscii(escaped(form))])),
];

const ROOT = 0;

/** Finds many words in one pass over bytes (Aho-Corasick). A word may span successive parts. */
export class WordSearch {
  /** Next state by state and byte, doubled; odd if a word ends there. */
  private readonly next: Int32Array;
  /** Words that end in a state. */
  private readonly endings: (readonly { readonly line: WordLine; readonly length: number }[])[] = [];

  /** @param words Words by line; empty lines have none */
  constructor(words: ReadonlyMap<WordLine, string>) {
    const children: Map<number, number>[] = [new Map()];
    const own: { line: WordLine; length: number }[][] = [[]];
    for (const [line, word] of words) {
      for (const form of formsOf(word)) {
        const bytes = Buffer.from(form);
        let state = ROOT;
        for (const byte of bytes) {
          let child = children[state]!.get(byte);
          if (child === undefined) {
            child = children.push(new Map()) - 1;
            own.push([]);
            children[state]!.set(byte, child);
          }
          state = child;
        }
        own[state]!.push({ line, length: bytes.length });
      }
    }
    this.next = new Int32Array(children.length * 256);
    const states = new Int32Array(children.length * 256);
    const fallbacks = new Int32Array(children.length);
    // Breadth first, so that the shorter fallback of a state is complete before the state.
    const order = [ROOT];
    for (const state of order) {
      const fallback = fallbacks[state]!;
      this.endings[state] = state === ROOT ? [] : [...own[state]!, ...this.endings[fallback]!];
      for (let byte = 0; byte < 256; byte++) {
        const child = children[state]!.get(byte);
        const other = state === ROOT ? ROOT : states[(fallback << 8) | byte]!;
        states[(state << 8) | byte] = child ?? other;
        if (child === undefined) continue;
        fallbacks[child] = other;
        order.push(child);
      }
    }
    for (const [index, state] of states.entries()) {
      this.next[index] = (state << 1) | (this.endings[state]!.length > 0 ? 1 : 0);
    }
  }

  /** Searches a whole text. */
  find(bytes: Uint8Array, onFound: OnFound): void {
    this.scan(bytes, 0, 0, onFound);
  }

  /** Searches a part that begins at `offset`, in the state that the part before returned. Returns the new state. */
  scan(bytes: Uint8Array, state: number, offset: number, onFound: OnFound): number {
    const { next } = this;
    let at = state;
    for (let i = 0; i < bytes.length; i++) {
      at = next[((at & ~1) << 7) | bytes[i]!]!;
      if ((at & 1) === 1) {
        for (const { line, length } of this.endings[at >> 1]!) onFound(line, offset + i + 1 - length);
      }
    }
    return at;
  }
}
