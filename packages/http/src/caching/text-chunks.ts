/** In characters. A text as long as that may be in other answers as well: it stays a chunk of its own and is not copied. */
export const SHAREABLE = 16 * 1024;

/** Puts short texts together, to chunks that are shorter than any shared one, and leaves long ones as they are. */
export class TextChunks {
  private chunks: string[] = [];
  /** What the next chunk will be made of. */
  private open: string[] = [];
  private openLength = 0;
  /** In characters, of all that was added. */
  length = 0;

  add(text: string): void {
    this.length += text.length;
    if (this.openLength + text.length >= SHAREABLE) this.close();
    if (text.length >= SHAREABLE) {
      this.chunks.push(text);
      return;
    }
    this.open.push(text);
    this.openLength += text.length;
  }

  /** A text that is in no other answer, however long it is. */
  addOwn(text: string): void {
    for (let at = 0; at < text.length; ) {
      const end = at + SHAREABLE - 2;
      // Not between the halves of a surrogate pair.
      const isPairCut = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
      const next = isPairCut ? end + 1 : end;
      this.add(at === 0 && next >= text.length ? text : text.slice(at, next));
      at = next;
    }
  }

  /** A list of which each element is JSON text, behind a start such as its name. */
  addList(start: string, elements: readonly string[]): void {
    this.add(`${start}[`);
    for (let n = 0; n < elements.length; n++) {
      if (n > 0) this.add(',');
      this.add(elements[n]!);
    }
    this.add(']');
  }

  /** Handed over, not kept. */
  finish(): readonly string[] {
    this.close();
    const { chunks } = this;
    this.chunks = [];
    return chunks;
  }

  private close(): void {
    if (this.open.length > 0) this.chunks.push(this.open.join(''));
    this.open = [];
    this.openLength = 0;
  }
}
