import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Wire } from './expectations.js';
import { basic, type TestServer, type TestUser } from './test-server.js';

/** Server-sent event. */
export interface Frame {
  /** Null for a frame without a position. */
  readonly id: number | null;
  /** Null for an event of the queue. */
  readonly name: string | null;
  readonly data: Wire;
}

export interface StreamOptions {
  /** Null for an anonymous caller. */
  readonly as?: TestUser | null;
  /** Path, by default below `/api/v1`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Response of `GET /events/stream` while it is received. */
export class TestEventStream {
  readonly frames: Frame[] = [];
  isOver = false;
  private rest = '';
  private onChange: () => void = () => {};

  private constructor(private readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('data', (piece: string) => this.take(piece));
    response.on('error', () => {});
    response.on('close', () => {
      this.isOver = true;
      this.onChange();
    });
  }

  /** @throws Error if the response is not a stream */
  static async open(server: TestServer, params: object, options: StreamOptions = {}): Promise<TestEventStream> {
    const response = await get(server, params, options);
    if (response.statusCode === 200) return new TestEventStream(response);
    throw new Error(`${response.statusCode}: ${await text(response)}`);
  }

  /** Returns the error that the server responds with instead of a stream. */
  static async refusal(server: TestServer, params: object, options: StreamOptions = {}) {
    const response = await get(server, params, options);
    if (response.statusCode === 200) response.destroy();
    const body = response.statusCode === 200 ? null : JSON.parse(await text(response));
    return { status: response.statusCode!, headers: response.headers, body };
  }

  get headers(): IncomingHttpHeaders {
    return this.response.headers;
  }

  /** Received events of the queue. */
  get events(): readonly Wire[] {
    return this.frames.filter(({ name }) => name === null).map(({ data }) => data);
  }

  get lastEventId(): number {
    return this.frames.findLast(({ id }) => id !== null)?.id ?? -1;
  }

  /** Resolves to the events once there are at least `count`. */
  async next(count: number): Promise<readonly Wire[]> {
    await this.until(() => this.events.length >= count);
    return this.events;
  }

  /** Resolves when the response has ended. */
  ended(): Promise<void> {
    return this.until(() => this.isOver);
  }

  close(): void {
    this.response.destroy();
  }

  /** Stops reading, so that the connection fills up. */
  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      if (this.isOver) throw new Error(`The stream ended after ${JSON.stringify(this.frames)}`);
      await new Promise<void>((resolve) => (this.onChange = resolve));
    }
  }

  private take(piece: string): void {
    const blocks = (this.rest + piece).split('\n\n');
    this.rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
      );
      const id = fields.get('id');
      this.frames.push({
        id: id === undefined ? null : Number(id),
        name: fields.get('event') ?? null,
        data: JSON.parse(fields.get('data')!),
      });
    }
    this.onChange();
  }
}

function get(
  server: TestServer,
  params: object,
  { as = null, path, headers }: StreamOptions,
): Promise<IncomingMessage> {
  const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: server.port,
        agent: false,
        path: `${path ?? '/api/v1/events/stream'}?${query}`,
        headers: { Host: new URL(server.url).host, ...(as && { Authorization: basic(as) }), ...headers },
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end();
  });
}
