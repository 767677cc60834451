import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { POSITIONS_PER_SEQ } from '@parley/domain/kernel';
import { answerCalls } from './answer-calls.js';
import { openConnection, RequestLine } from './connection.js';

export interface ReturnCall {
  readonly port: number;
  /** Poll of each client, or stream and acknowledgement; `{last}` stands for the last received event. */
  readonly clients: readonly Requests[];
  /** Id of the last event that each client missed. */
  readonly lastId: number;
}

export interface Requests {
  readonly request: string;
  /** Absent for polls. */
  readonly acknowledgement?: string;
}

export interface ReturnResult {
  /** Time from the first poll to the last event. */
  readonly seconds: number;
  readonly bytes: number;
}

/** Maximum number of connections opened concurrently, since the listener's backlog is short. */
const OPENING = 100;
const HEAD_END = '\r\n\r\n';
/** Matches the last event's id at the end of a response. */
const LAST_ID = /"id":(\d+)\}\](?:,"queue_id":"[^"]*")?\}\s*$/;
const TAIL = 200;
/** Streams acknowledge every 100 events, like `parley/client`. */
const ACKNOWLEDGED = 100 * POSITIONS_PER_SEQ;
/** Number of connections that all streams share for acknowledgements. */
const ACKNOWLEDGING = 32;
const FRAME_START = '\n\nid: ';

answerCalls({ comeBack });

/** Connects all clients at once; each polls or streams until it has received all missed events. */
async function comeBack({ port, lastId, ...call }: ReturnCall): Promise<ReturnResult> {
  const clients: ReturningClient[] = [];
  const acknowledgers = await Promise.all(Array.from({ length: ACKNOWLEDGING }, () => RequestLine.open(port)));
  for (let from = 0; from < call.clients.length; from += OPENING) {
    const opening = call.clients
      .slice(from, from + OPENING)
      .map((requests, n) => ReturningClient.open(port, requests, lastId, acknowledgers[n % ACKNOWLEDGING]!));
    clients.push(...(await Promise.all(opening)));
  }
  const startedAt = performance.now();
  for (const client of clients) client.poll();
  await Promise.all(clients.map(({ done }) => done));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const client of clients) client.close();
  for (const acknowledger of acknowledgers) acknowledger.close();
  return { seconds, bytes: clients.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Parses only the end of a response and the id of its last event. */
class ReturningClient {
  readonly done: Promise<void>;
  bytes = 0;
  private socket!: Socket;
  private finish!: () => void;
  private fail!: (error: Error) => void;
  private head: string | null = '';
  private missing = 0;
  private tail = '';
  private last = -1;

  private constructor(
    private readonly requests: Requests,
    private readonly lastId: number,
    private readonly acknowledger: RequestLine,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
    this.done.catch(() => {}); // Prevents an unhandled rejection before anything awaits it.
  }

  static async open(port: number, requests: Requests, lastId: number, acknowledger: RequestLine) {
    const client = new ReturningClient(requests, lastId, acknowledger);
    client.socket = await openConnection(port, (chunk) => client.take(chunk));
    client.socket.on('error', client.fail);
    client.socket.on('close', () => client.fail(new Error('The server closed the connection')));
    return client;
  }

  poll(): void {
    this.head = '';
    this.socket.write(this.requests.request.replace('{last}', String(this.last)), 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.bytes += chunk.length;
    let rest = chunk;
    if (this.head !== null) {
      const received = this.head + chunk.toString('latin1');
      const end = received.indexOf(HEAD_END);
      if (end < 0) {
        this.head = received;
        return;
      }
      rest = chunk.subarray(end + HEAD_END.length - this.head.length);
      if (!received.startsWith('HTTP/1.1 200')) {
        this.fail(new Error(received.slice(0, 500)));
        return;
      }
      this.missing = Number(/\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1]);
      this.head = null;
      this.tail = '';
    }
    if (this.requests.acknowledgement !== undefined) {
      this.takeFrames(rest, this.requests.acknowledgement);
      return;
    }
    this.missing -= rest.length;
    if (this.missing < TAIL) {
      this.tail = (this.tail + rest.toString('latin1', Math.max(0, rest.length - TAIL))).slice(-TAIL);
    }
    if (this.missing === 0) this.note();
  }

  /** Parses only the id of the last event that begins in the chunk. */
  private takeFrames(chunk: Buffer, acknowledgement: string): void {
    // A chunk may end within an id.
    const text = this.tail + chunk.toString('latin1');
    this.tail = text.slice(-TAIL);
    const id = Number(/^\d+(?=\n)/.exec(text.slice(text.lastIndexOf(FRAME_START) + FRAME_START.length))?.[0]);
    if (Number.isNaN(id) || (id < this.last + ACKNOWLEDGED && id < this.lastId)) return;
    this.last = id;
    void this.acknowledger.ask(acknowledgement.replace('{last}', String(id)));
    if (id >= this.lastId) this.finish();
  }

  private note(): void {
    const id = Number(LAST_ID.exec(this.tail)?.[1]);
    this.last = id;
    if (Number.isNaN(id)) this.fail(new Error(`An answer has no events: ${this.tail}`));
    else if (id >= this.lastId) this.finish();
    else this.poll();
  }
}
