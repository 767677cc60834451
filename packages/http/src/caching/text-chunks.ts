/** A text so long may be in other answers as well, so it stays a chunk of its own: it is not copied. */
const LONG = 16 * 1024;
const CHUNK = 64 * 1024;

/** Puts short texts together and leaves long ones as they are. */
export class TextChunks {
  private readonly chunks: string[] = [];
  private open = '';
  /** In characters, of all that was added. */
  length = 0;

  add(text: string): void {
    this.length += text.length;
    if (text.length < LONG) {
      this.open += text;
      if (this.open.length >= CHUNK) this.close();
    } else {
      this.close();
      this.chunks.push(text);
    }
  }

  finish(): readonly string[] {
    this.close();
    return this.chunks;
  }

  private close(): void {
    if (this.open !== '') this.chunks.push(this.open);
    this.open = '';
  }
}
