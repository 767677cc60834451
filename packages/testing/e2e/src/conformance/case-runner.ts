import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Case, contentOf, type ServerDescription, type Step } from './cases.js';
import { isInteger, isObject, type Json, type JsonObject, toParameterText } from './json.js';
import { withPlaceholders } from './placeholders.js';
import { encodeForm, encodeMultipart, type FilePart, type HttpAnswer, send } from './request.js';
import { STEPS } from './steps.js';
import { dig, MissingValue, Variables } from './variables.js';

/** Demo users by their names in the cases. */
const USERS: Readonly<Record<string, string>> = {
  owner: 'desdemona@zulip.com',
  admin: 'iago@zulip.com',
  mod: 'shiva@zulip.com',
  hamlet: 'hamlet@zulip.com',
  cordelia: 'cordelia@zulip.com',
  othello: 'othello@zulip.com',
  prospero: 'prospero@zulip.com',
  zoe: 'ZOE@zulip.com',
  aaron: 'AARON@zulip.com',
  guest: 'polonius@zulip.com',
};

/** Headers to compare, and headers that help to explain differences. */
const KEPT_HEADERS = [
  'content-type',
  'allow',
  'www-authenticate',
  'vary',
  'cache-control',
  'location',
  'content-language',
  'content-disposition',
  'access-control-allow-origin',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'x-content-type-options',
  'x-frame-options',
  'content-security-policy',
];

/** Initial delay, silence that ends the wait, and maximum wait for events. */
const FIRST_LOOK_MS = 100;
const NEXT_LOOK_MS = 60;
const LAST_LOOK_MS = 4000;

interface Queue {
  readonly user: string;
  readonly id: string;
  lastEventId: number;
}

interface JsonAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Sends the cases to a server that is fresh or has received them before. */
export class CaseRunner {
  readonly variables = new Variables();
  readonly startedAt = performance.now();
  private readonly word = randomWord();
  private readonly keys = new Map<string, string>();
  private readonly secrets = new Map<string, string>();
  private readonly queues = new Map<string, Queue>();

  /** `url` without a trailing slash. */
  constructor(private readonly url: string) {
    this.variables.set('run', this.word);
    for (const [name, email] of Object.entries(USERS)) this.variables.set(`${name}.email`, email);
  }

  /** Yields a response for each case in order and runs steps in between. Call `logIn` first. */
  async *run(cases: readonly (Case | Step)[]): AsyncGenerator<Answer> {
    for (const item of cases) {
      if ('step' in item) await STEPS[item.step](this);
      else yield await this.responseTo(item);
    }
  }

  /** Fetches API keys of all users. @throws Error if a user gets none */
  async logIn(): Promise<ServerDescription> {
    const saved: Record<string, number> = {};
    for (const [name, email] of Object.entries(USERS)) {
      const key = await this.fetchKey(email);
      this.keys.set(name, key);
      this.secrets.set(key, `<key:${name}>`);
      const me = (await this.ask('GET', '/users/me', name)).body as {
        readonly user_id: number;
        readonly email: string;
      };
      saved[name] = me.user_id;
      this.variables.set(name, me.user_id);
      // Email visible to other users.
      this.variables.set(`${name}.shown`, me.email);
    }
    this.variables.set('own_key', 'x'.repeat(32));
    return { name: '#server', saved };
  }

  /** Sends a request outside the cases. */
  async ask(
    method: string,
    path: string,
    user: string | null,
    params: Readonly<Record<string, string>> = {},
  ): Promise<JsonAnswer> {
    const answer = await this.send({ name: path, user, method, path }, params);
    return { status: answer.status, body: bodyOf(answer) };
  }

  async openQueue(name: string, user: string, params: JsonObject): Promise<void> {
    const { status, body } = await this.ask('POST', '/register', user, this.toFields(params));
    if (status !== 200) throw new Error(`No event queue for ${user}: ${status} ${JSON.stringify(body)}`);
    const { queue_id, last_event_id } = body as { readonly queue_id: string; readonly last_event_id: number };
    this.queues.set(name, { user, id: queue_id, lastEventId: last_event_id });
    this.variables.set(`queue.${name}`, queue_id);
  }

  private async fetchKey(email: string): Promise<string> {
    const inDevelopment = await this.ask('POST', '/dev_fetch_api_key', null, { username: email });
    const { status, body } =
      inDevelopment.status === 200
        ? inDevelopment
        : await this.ask('POST', '/fetch_api_key', null, { username: email, password: `pw-${email.toLowerCase()}` });
    if (status !== 200) throw new Error(`No API key for ${email}: ${status} ${JSON.stringify(body)}`);
    return (body as { readonly api_key: string }).api_key;
  }

  private async responseTo(asked: Case): Promise<Answer> {
    const { name, user, method, path, params = {}, shape, loose } = asked;
    const base = { name, user, method, path, params, ...(shape && { shape }), ...(loose && { loose }) };
    let received: HttpAnswer;
    try {
      received = await this.send(asked, this.toFields(params));
    } catch (error) {
      const nothing = { ...base, status: 0, headers: {} };
      if (error instanceof MissingValue) return { ...nothing, skipped: error.message, body: null };
      return { ...nothing, body: { '<no answer>': String(error) } };
    }
    const body = bodyOf(received);
    const saved = this.save(asked, body);
    const events = await this.drain(this.watchedBy(asked, received.status));
    const answer: Answer = {
      ...base,
      status: received.status,
      headers: keptHeaders(received),
      body,
      ...(Object.keys(saved).length > 0 && { saved }),
      ...(Object.keys(events).length > 0 && { events }),
    };
    return withPlaceholders(answer, { url: this.url, word: this.word, secrets: this.secrets });
  }

  /** @throws MissingValue, Error if there is no response */
  private async send(asked: Case, fields: Readonly<Record<string, string>>): Promise<HttpAnswer> {
    const { method, user, auth, host } = asked;
    const path = this.variables.fillText(asked.path);
    const url = new URL(this.url + (path.startsWith('//') ? path.slice(1) : `/api/v1${path}`));
    const headers: Record<string, string | null> = { ...this.authorization(user) };
    if (auth !== undefined) headers.Authorization = this.rawAuthorization(auth);
    if (host !== undefined) headers.Host = this.variables.fillText(host);
    let body: Uint8Array | string | null = null;
    if (asked.body !== undefined) {
      body = this.variables.fillText(asked.body);
    } else if (['GET', 'HEAD', 'OPTIONS'].includes(method)) {
      for (const [key, value] of Object.entries(fields)) url.searchParams.append(key, value);
    } else if (asked.files) {
      const encoded = await encodeMultipart(fields, filesOf(asked.files));
      body = encoded.body;
      headers['Content-Type'] = encoded.contentType;
    } else if (Object.keys(fields).length > 0) {
      body = encodeForm(fields);
      headers['Content-Type'] = 'application/x-www-form-urlencoded';
    }
    for (const [key, value] of Object.entries(asked.headers ?? {})) {
      headers[key] = value === null ? null : this.variables.fillText(value);
    }
    return send({ method, url: url.href, headers, body });
  }

  private toFields(params: JsonObject): Record<string, string> {
    return Object.fromEntries(
      Object.entries(params).map(([key, value]) => {
        const filled = this.variables.fill(value);
        return [key, typeof filled === 'string' ? filled : toParameterText(filled)];
      }),
    );
  }

  private authorization(user: string | null): Readonly<Record<string, string>> {
    return user === null ? {} : { Authorization: basic(`${USERS[user]}:${this.keys.get(user)}`) };
  }

  private rawAuthorization(template: string): string {
    const header = this.variables.fillText(template).replace(/@key:(\w+)@/g, (_, name: string) => this.keys.get(name)!);
    return header.startsWith('basic:') ? basic(header.slice('basic:'.length)) : header;
  }

  /** Saves values and returns the ids among them. */
  private save({ save = {} }: Case, body: Json): Readonly<Record<string, number>> {
    const ids: Record<string, number> = {};
    for (const [name, path] of Object.entries(save)) {
      const found = dig(body, this.variables.fillText(path));
      this.variables.set(name, found);
      if (isInteger(found)) ids[name] = found;
      if (typeof found === 'string' && found.length === 32 && name.includes('key')) {
        this.secrets.set(found, `<key:${name}>`);
      }
    }
    return ids;
  }

  private watchedBy({ watch, method }: Case, status: number): readonly string[] {
    if (watch) return watch;
    return status === 200 && method !== 'GET' && method !== 'HEAD' ? [...this.queues.keys()] : [];
  }

  /** Reads events of the queues until none arrives for a moment. */
  private async drain(names: readonly string[]): Promise<Readonly<Record<string, readonly JsonObject[]>>> {
    const arrived: Record<string, JsonObject[]> = {};
    if (names.length === 0) return arrived;
    const deadline = Date.now() + FIRST_LOOK_MS + LAST_LOOK_MS;
    await pause(FIRST_LOOK_MS);
    while (true) {
      let isFresh = false;
      for (const name of names) {
        for (const event of await this.poll(name)) {
          if (event.type === 'heartbeat') continue;
          arrived[name] = [...(arrived[name] ?? []), event];
          isFresh = true;
        }
      }
      if (!isFresh || Date.now() > deadline) return arrived;
      await pause(NEXT_LOOK_MS);
    }
  }

  /** Returns no events if the queue is gone. */
  private async poll(name: string): Promise<readonly JsonObject[]> {
    const queue = this.queues.get(name);
    if (!queue) return [];
    const { status, body } = await this.ask('GET', '/events', queue.user, {
      queue_id: queue.id,
      last_event_id: String(queue.lastEventId),
      dont_block: 'true',
    });
    if (status !== 200 || !isObject(body)) return [];
    const events = (body.events ?? []) as readonly (JsonObject & { readonly id: number })[];
    queue.lastEventId = Math.max(queue.lastEventId, ...events.map(({ id }) => id));
    return events;
  }
}

function bodyOf({ text }: HttpAnswer): Json {
  if (text === '') return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return { '<text>': text.length < 400 ? text : `${text.slice(0, 120)}…`, '<length>': text.length };
  }
}

function keptHeaders({ headers }: HttpAnswer): Readonly<Record<string, string>> {
  const kept = KEPT_HEADERS.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(kept.map((name) => [name, String(headers[name])]));
}

function filesOf(files: NonNullable<Case['files']>): readonly FilePart[] {
  return Object.entries(files).map(([field, [name, content, type]]) => ({
    field,
    name,
    content: contentOf(content),
    type,
  }));
}

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

/** Random word without vowels, so that it matches no real word. */
function randomWord(): string {
  const letters = 'bcdfghjklmnpqrstvwxz';
  return Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
}
