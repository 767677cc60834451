import type { ParleyServer } from './parley-server.js';
import { type RequestParts, requestText } from './requests.js';

/** Sends one user's requests to a measured server. */
export class ApiUser {
  private constructor(
    private readonly port: number,
    /** Authorization header of complete requests. */
    readonly authorization: string,
  ) {}

  static async signIn({ port }: Pick<ParleyServer, 'port'>, email: string): Promise<ApiUser> {
    const { api_key } = (await call(port, 'POST', '/api/v1/dev_fetch_api_key', { username: email })) as {
      api_key: string;
    };
    return new ApiUser(port, `Basic ${Buffer.from(`${email}:${api_key}`).toString('base64')}`);
  }

  /** Logs in all users with enough concurrency to keep the server busy. Results are in the order of the users. */
  static async signInAll(
    server: Pick<ParleyServer, 'port'>,
    people: readonly { readonly email: string }[],
  ): Promise<readonly ApiUser[]> {
    return inTurns(people, ({ email }) => ApiUser.signIn(server, email));
  }

  /** Complete request text with the user's credentials. */
  text(parts: Omit<RequestParts, 'authorization'>): string {
    return requestText({ ...parts, authorization: this.authorization });
  }

  /** Complete request that sends a message to a channel. */
  sends(channelId: number, content: string, topic = 'beginning'): string {
    const form = { type: 'stream', to: String(channelId), topic, content };
    return this.text({ method: 'POST', path: '/api/v1/messages', form });
  }

  /** @throws Error if the request is rejected */
  get(path: string): Promise<unknown> {
    return call(this.port, 'GET', path, undefined, this.authorization);
  }

  /** @throws Error if the request is rejected */
  post(path: string, form: Readonly<Record<string, string>>): Promise<unknown> {
    return call(this.port, 'POST', path, form, this.authorization);
  }

  /** Raw body of a response. */
  async bytesOf(path: string): Promise<Uint8Array> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      headers: { Authorization: this.authorization },
    });
    return new Uint8Array(await response.arrayBuffer());
  }
}

const AT_A_TIME = 64;

/** Runs a task for each item with limited concurrency; results are in order. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(from, from + AT_A_TIME).map(task))));
  }
  return results;
}

async function call(
  port: number,
  method: string,
  path: string,
  form?: Readonly<Record<string, string>>,
  authorization?: string,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: authorization === undefined ? {} : { Authorization: authorization },
    ...(form && { body: new URLSearchParams(form) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} failed with status ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
