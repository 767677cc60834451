import { ParleyError } from './parley-error.js';

/** Server-sent event. */
export interface Frame {
  /** Null for an event of the queue. */
  readonly name: string | null;
  readonly data: string;
}

const FRAME_END = '\n\n';

/** Reads server-sent events from a response. */
export class FrameReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly decoder = new TextDecoder();
  /** Beginning of an incomplete frame. */
  private text = '';
  private reading: Promise<ReadableStreamReadResult<Uint8Array>> | null = null;

  constructor(body: ReadableStream<Uint8Array>) {
    this.reader = body.getReader();
  }

  /**
   * Resolves to the frames received next, `late` if none is complete in time, or null at the end of the response.
   * @throws ParleyError NO_CONNECTION
   */
  async next(timeoutMs: number): Promise<readonly Frame[] | 'late' | null> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      this.reading ??= this.reader.read();
      const read = await inTime(this.reading, deadline - Date.now());
      if (read === 'late') return 'late';
      this.reading = null;
      if (read.done) return null;
      const frames = this.take(this.decoder.decode(read.value, { stream: true }));
      if (frames.length > 0) return frames;
    }
  }

  close(): void {
    // The connection may have ended already.
    this.reader.cancel().catch(() => {});
  }

  private take(piece: string): readonly Frame[] {
    const from = Math.max(0, this.text.length - 1);
    this.text += piece;
    if (!this.text.includes(FRAME_END, from)) return [];
    const blocks = this.text.split(FRAME_END);
    this.text = blocks.pop()!;
    return blocks.map(frameOf);
  }
}

function frameOf(block: string): Frame {
  let name: string | null = null;
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data = line.slice(6);
  }
  return { name, data };
}

async function inTime<T>(reading: Promise<T>, timeoutMs: number): Promise<T | 'late'> {
  let timer: unknown;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  try {
    return await Promise.race([reading, late]);
  } catch (error) {
    throw new ParleyError('The connection was lost', 'NO_CONNECTION', 0, {}, null, { cause: error });
  } finally {
    clearTimeout(timer as number);
  }
}
