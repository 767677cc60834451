import { createServer, type IncomingHttpHeaders, type RequestListener, request, type Server } from 'node:http';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { exchanged } from './model.js';

/** Response to a simulated client. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: wire data is checked by the invariants
  readonly json: any;
  readonly headers: IncomingHttpHeaders;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly authorization?: string;
  /** Host name of a copied company. Its texts have other marks. */
  readonly copyHost?: string | undefined;
  /** Moment when the client disconnects: within the body of the request, or when the answer begins. */
  readonly cut?: 'request' | 'answer' | undefined;
  /** Content of a file to upload, instead of parameters. */
  readonly file?: string;
  /** Other headers, such as the type of a body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body instead of parameters, which then form the query. */
  readonly body?: string | undefined;
  /** True for a path outside of the API. */
  readonly isPage?: boolean;
  /** Ends the connection. */
  readonly signal?: AbortSignal;
}

const BOUNDARY = 'boundary-of-simulated-uploads';
const multipart = (file: string): string =>
  [
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="file"; filename="notes.txt"',
    'Content-Type: text/plain',
    '',
    file,
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n');

/** Error of a client if its connection ends without a response. */
export class ConnectionLost extends Error {
  constructor() {
    super('The connection ended without an answer');
  }
}

/** One end of a connection in memory. Node's HTTP treats it as a socket. */
class Pipe extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  other!: Pipe;
  private hasEnded = false;
  private continueWrite: (() => void) | null = null;

  override _read(): void {
    const { other } = this;
    const proceed = other.continueWrite;
    other.continueWrite = null;
    proceed?.();
  }

  override _write(chunk: Buffer, _: string, callback: () => void): void {
    if (this.other.destroyed) {
      callback();
      return;
    }
    this.continueWrite = callback;
    // Backpressure: the write ends when the other side reads.
    if (this.other.push(chunk)) this.other._read();
  }

  override _final(callback: () => void): void {
    this.hasEnded = true;
    if (!this.other.destroyed) this.other.push(null);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // The other side still reads what is on its way.
    if (!this.hasEnded && !this.other.destroyed) this.other.push(null);
    callback(error);
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  ref(): void {}

  unref(): void {}
}

/** Connections between clients and the server in one process, with real HTTP. */
export class Wire {
  private readonly server: Server;
  private readonly open = new Set<Pipe>();

  constructor(handler: RequestListener) {
    this.server = createServer({ connectionsCheckingInterval: 2 ** 31 - 1 }, handler);
  }

  /** The client reads the answer when `waiting` resolves. @throws ConnectionLost */
  async call(
    {
      method,
      path,
      params = {},
      authorization,
      copyHost,
      cut,
      file,
      headers,
      body: bytes,
      isPage = false,
      signal,
    }: Call,
    waiting?: Promise<void>,
  ): Promise<Answer> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) {
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const isInQuery = method === 'GET' || bytes !== undefined;
    const content = bytes ?? (file !== undefined ? multipart(file) : isInQuery ? '' : form.toString());
    const type = file === undefined ? 'application/x-www-form-urlencoded' : `multipart/form-data; boundary=${BOUNDARY}`;
    const client = this.connect();
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const lost = () => reject(new ConnectionLost());
        const outgoing = request(
          {
            createConnection: () => client as never,
            signal,
            host: 'localhost',
            method,
            path: `${isPage ? '' : '/api/v1'}${path}${isInQuery && form.size > 0 ? `?${form}` : ''}`,
            headers: {
              Host: copyHost ?? 'localhost',
              Connection: 'close',
              'User-Agent': 'ParleySimulator/1.0',
              'Content-Length': Buffer.byteLength(content),
              ...(!isInQuery && { 'Content-Type': type }),
              ...(authorization !== undefined && { Authorization: authorization }),
              ...headers,
            },
          },
          (response) => {
            if (cut) {
              client.destroy();
              lost();
              return;
            }
            Promise.resolve(waiting)
              .then(() => text(response))
              .then((sent) => {
                const body = copyHost === undefined ? sent : exchanged(sent);
                const isJson =
                  sent !== '' && /^application\/(scim\+)?json/.test(response.headers['content-type'] ?? '');
                const { statusCode: status = 0, headers } = response;
                resolve({ status, body, json: isJson ? JSON.parse(body) : null, headers });
              }, lost);
          },
        ).on('error', lost);
        if (cut === 'request') outgoing.write(content.slice(0, content.length / 2), () => client.destroy());
        else outgoing.end(content);
      });
    } finally {
      client.destroy();
    }
  }

  /** Cuts all connections, as the end of a process does. */
  cut(): void {
    for (const pipe of this.open) {
      pipe.destroy();
      // A response that waits for its reader ends as well.
      pipe.other.destroy();
    }
    this.server.close();
  }

  private connect(): Pipe {
    const client = new Pipe();
    const socket = new Pipe();
    client.other = socket;
    socket.other = client;
    this.open.add(client);
    client.once('close', () => this.open.delete(client));
    client.on('error', () => {});
    socket.on('error', () => {});
    this.server.emit('connection', socket);
    return client;
  }
}
