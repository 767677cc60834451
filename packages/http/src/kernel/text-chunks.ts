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
