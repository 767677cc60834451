import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerCalls } from './answer-calls.js';

interface Place {
  readonly port: number;
  /** Complete header. */
  readonly authorization: string;
}

export interface DeliverCall {
  /** Used round-robin. */
  readonly senders: readonly Place[];
  readonly receiver: Place;
  readonly channelId: number;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Delivery {
  readonly sent: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface CrowdCall {
  readonly ports: readonly number[];
  readonly authorizations: readonly string[];
  readonly count: number;
}

export interface ReachCall {
  readonly sender: Place;
  readonly channelId: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
/** Maximum concurrent requests while queues are registered. */
const AT_A_TIME = 32;
/** Delay before a client that lost its server tries another one. */
const RETRY_MS = 100;

// biome-ignore lint/suspicious/noExplicitAny: responses of the API.
type Body = any;

function call({ port, authorization }: Place, method: string, path: string, form?: object): Promise<Body> {
  const body = form ? new URLSearchParams(form as Record<string, string>).toString() : '';
  const headers = {
    Authorization: authorization,
    ...(form && { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path: `/api/v1${path}`, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 200)}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const register = async (place: Place): Promise<string> =>
  (await call(place, 'POST', '/register', { event_types: '["message"]', fetch_event_types: '[]' })).queue_id;

const send = (place: Place, channelId: number, content: string) =>
  call(place, 'POST', '/messages', { type: 'stream', to: String(channelId), topic: 'beginning', content });

/** Client that polls one server after another. */
class Client {
  private last = -1;
  isEnded = false;

  constructor(
    private readonly ports: readonly number[],
    private at: number,
    private readonly authorization: string,
    private readonly queueId: string,
    private readonly onMessage: (content: string) => void,
  ) {}

  async poll(): Promise<void> {
    while (!this.isEnded) {
      const place = { port: this.ports[this.at % this.ports.length]!, authorization: this.authorization };
      try {
        const { events } = await call(place, 'GET', `/events?queue_id=${this.queueId}&last_event_id=${this.last}`);
        for (const event of events) {
          this.last = Math.max(this.last, event.id);
          if (event.type === 'message') this.onMessage(event.message.content);
        }
      } catch {
        if (this.isEnded) return;
        // Distributes clients over the remaining servers, like a load balancer.
        this.at += 1 + Math.floor(Math.random() * (this.ports.length - 1));
        await sleep(RETRY_MS);
      }
    }
  }
}

const crowd: { readonly clients: Client[]; readonly waiting: Set<Client>; text: string; finish: () => void } = {
  clients: [],
  waiting: new Set(),
  text: '',
  finish: () => {},
};

answerCalls({
  /** Sends at a constant rate. Latency counts from the response to the sender, the latest possible commit time. */
  async deliver({ senders, receiver, channelId, perSecond, seconds }: DeliverCall): Promise<Delivery> {
    const sentAt = new Map<string, number>();
    const receivedAt = new Map<string, number>();
    const client = new Client(
      [receiver.port],
      0,
      receiver.authorization,
      await register(receiver),
      (content) => void receivedAt.set(/\d+/.exec(content)![0], performance.now()),
    );
    void client.poll();
    const count = perSecond * seconds;
    const startedAt = performance.now();
    const sends: Promise<void>[] = [];
    for (let n = 0; n < count; n++) {
      const dueMs = startedAt + (n * 1000) / perSecond - performance.now();
      if (dueMs > 0) await sleep(dueMs);
      const sender = senders[n % senders.length]!;
      sends.push(send(sender, channelId, `number ${n}`).then(() => void sentAt.set(String(n), performance.now())));
    }
    await Promise.all(sends);
    while (receivedAt.size < count) await sleep(5);
    client.isEnded = true;
    const times = [...sentAt].map(([n, at]) => Math.max(0, receivedAt.get(n)! - at)).sort((a, b) => a - b);
    return { sent: count, p50Ms: times[Math.floor(count / 2)]!, p99Ms: times[Math.floor(count * 0.99)]! };
  },

  /** Starts many waiting clients, distributed over the servers. */
  async gather({ ports, authorizations, count }: CrowdCall): Promise<void> {
    const numbers = Array.from({ length: count }, (_, n) => n);
    for (let from = 0; from < count; from += AT_A_TIME) {
      const opened = numbers.slice(from, from + AT_A_TIME).map(async (n) => {
        const authorization = authorizations[n % authorizations.length]!;
        const queueId = await register({ port: ports[n % ports.length]!, authorization });
        const client: Client = new Client(ports, n, authorization, queueId, (content) => {
          if (!content.includes(crowd.text) || !crowd.waiting.delete(client)) return;
          if (crowd.waiting.size === 0) crowd.finish();
        });
        crowd.clients.push(client);
        void client.poll();
      });
      await Promise.all(opened);
    }
  },

  /** Sends a message and returns the seconds until every client of the crowd has received it. */
  async reach({ sender, channelId }: ReachCall): Promise<number> {
    crowd.text = `word${Math.round(performance.now())}`;
    for (const client of crowd.clients) crowd.waiting.add(client);
    const startedAt = performance.now();
    const done = new Promise<void>((resolve) => {
      crowd.finish = resolve;
    });
    await send(sender, channelId, crowd.text);
    await done;
    return (performance.now() - startedAt) / 1000;
  },
});
