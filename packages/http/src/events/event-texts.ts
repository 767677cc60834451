/** A JSON object without `id` and closing brace, as every client gets it that gets the same of an event. */
export class SharedText {
  readonly bytes: number;
  /** The whole object under the id it was given, which is the same for all of them. */
  private whole: { readonly id: number; readonly text: string } | null = null;

  constructor(readonly text: string) {
    this.bytes = Buffer.byteLength(text);
  }

  get length(): number {
    return this.text.length;
  }

  withId(id: number): string {
    if (this.whole?.id !== id) this.whole = { id, text: `${this.text}${endWithId(id)}` };
    return this.whole.text;
  }
}

export const endWithId = (id: number): string => `,"id":${id}}`;
