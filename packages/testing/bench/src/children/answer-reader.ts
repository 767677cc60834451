const HEAD_END = Buffer.from('\r\n\r\n');

export interface AnswerHead {
  readonly status: number;
  /** Status line and headers. */
  readonly text: string;
}

/**
 * Finds the ends of responses on a connection with minimal client overhead. Responses must have a `Content-Length`
 * and arrive one at a time.
 */
export class AnswerReader {
  private head: AnswerHead | null = null;
  /** Beginning of a header split across chunks. */
  private beginning: Buffer | null = null;
  private missing = 0;
  private body: Buffer[] = [];

  /** `keepsBodies`: false discards all bodies except those of errors. */
  constructor(
    private readonly keepsBodies: boolean,
    private readonly onAnswer: (head: AnswerHead, body: Buffer) => void,
  ) {}

  /** @throws Error for a response without `Content-Length` */
  take(chunk: Buffer): void {
    let rest = chunk;
    if (!this.head) {
      const start = this.beginning ? Buffer.concat([this.beginning, chunk]) : chunk;
      const end = start.indexOf(HEAD_END);
      if (end < 0) {
        this.beginning = Buffer.from(start);
        return;
      }
      this.beginning = null;
      this.head = parseHead(start.toString('latin1', 0, end));
      this.missing = lengthOf(this.head.text);
      rest = start.subarray(end + HEAD_END.length);
    }
    this.missing -= rest.length;
    // The buffer is reused for the next chunk.
    if (rest.length > 0 && (this.keepsBodies || this.head.status !== 200)) this.body.push(Buffer.from(rest));
    if (this.missing > 0) return;
    const { head } = this;
    const body = this.body.length === 1 ? this.body[0]! : Buffer.concat(this.body);
    this.head = null;
    this.body = [];
    this.onAnswer(head, body);
  }
}

const parseHead = (text: string): AnswerHead => ({ status: Number(text.slice(9, 12)), text });

function lengthOf(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`A response has no length: ${head}`);
  return Number(length);
}
