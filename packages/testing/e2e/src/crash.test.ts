import type { Answer, Client } from 'zulip-js';
import { size } from './hostile/scale.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { connect, type Person, TestOrganization } from './testing/test-organization.js';

const ROUNDS = size(3, 60);

/** Repeated `kill -9` during a conversation. */
describe('server killed during a conversation', () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let people: Record<'hamlet' | 'iago' | 'desdemona', Person>;
  let clients: Record<keyof typeof people, Client>;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    people = {
      hamlet: await organization.addPerson('Hamlet'),
      iago: await organization.addPerson('Iago'),
      desdemona: await organization.addPerson('Desdemona', 'owner'),
    };
    server = await organization.serve();
    clients = {
      hamlet: await connect(server, people.hamlet),
      iago: await connect(server, people.iago),
      desdemona: await connect(server, people.desdemona),
    };
    const everybody = Object.values(people).map(({ id }) => id);
    await clients.desdemona.users.me.subscriptions.add({ subscriptions: [{ name: 'rampart' }], principals: everybody });
  });
  afterAll(() => organization.close());

  it('loses nothing acknowledged, repeats no event and leaves nothing incomplete', async () => {
    const { hamlet, iago, desdemona } = clients;
    const before = await history(hamlet);
    const listener = await Listener.open(hamlet);
    const listening = listener.listen();
    let log = '';

    const load = new Load();
    const toChannel = { type: 'stream', to: 'rampart', topic: 'the watch' };
    const toHamlet = { type: 'private', to: [people.hamlet.id] };
    const loops = [
      load.speak('iago in the channel', (content) => iago.messages.send({ ...toChannel, content })),
      load.speak('desdemona in the channel', (content) => desdemona.messages.send({ ...toChannel, content })),
      load.speak('iago in private', (content) => iago.messages.send({ ...toHamlet, content })),
      load.speak('desdemona in private', (content) => desdemona.messages.send({ ...toHamlet, content })),
      load.speak('hamlet', (content) => hamlet.messages.send({ ...toChannel, content })),
      load.found('hall', (name) =>
        iago.users.me.subscriptions.add({
          subscriptions: [{ name }],
          principals: [people.iago.id, people.hamlet.id],
        }),
      ),
    ];
    const conversation = async () => {
      for (let round = 0; round < ROUNDS; round++) {
        await within('talking', load.hasGoneOnFor(20 + 10 * (round % 5)));
        // Every second kill follows a batch that was received but not acknowledged; others happen at random times.
        if (round % 2) await within('hearing', listener.holdBack());
        await within('dying', server.kill());
        log += server.output;
        server = await within('starting', organization.serve([], server.port));
        listener.goOn();
      }
      load.stop();
      await within('coming to an end', Promise.all(loops));
      expect(await hamlet.messages.send({ ...toChannel, content: LAST_WORDS })).toMatchObject({ result: 'success' });
      await within('hearing the last words', listening);
    };
    try {
      // Ends on the first failure.
      await Promise.race([conversation(), Promise.all([listening, ...loops])]);
      await listening;
    } finally {
      load.stop();
      listener.stop();
    }

    expect(log + server.output).not.toContain('"level":"error"');
    const eventIds = listener.heard.map(({ id }) => id);
    expect(eventIds).toEqual([...new Set(eventIds)].sort((a, b) => a - b));

    // Received events match the stored messages in order and content.
    const messages = listener.heard.filter(({ type }) => type === 'message');
    const after = await history(hamlet);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(messages.map(({ message, flags }) => ({ ...message, flags }))).toEqual(after.slice(before.length));

    const contents = new Map<number, string>(messages.map(({ message }) => [message.id, message.content]));
    for (const [id, content] of load.acknowledged) expect([id, contents.get(id)]).toEqual([id, content]);
    // Unacknowledged messages may exist, but only once and complete.
    const said = [...contents.values()].filter((content) => load.isMine(content));
    expect(new Set(said).size).toBe(said.length);
    expect(said.filter((content) => !load.attempted.has(content))).toEqual([]);
    // Both participants of a direct conversation see the same messages.
    const dialogue = (list: readonly Answer[]) =>
      list.filter(isBetween(people.hamlet, people.iago)).map(({ id }) => id);
    expect(dialogue(await history(iago))).toEqual(dialogue(after));

    // Each channel exists with subscribers, first notice and their events, or not at all.
    const halls: Answer[] = (await hamlet.streams.retrieve()).streams.filter(({ name }: Answer) => load.isMine(name));
    const names = halls.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...load.created]));
    expect(names.filter((name) => !load.attempted.has(name))).toEqual([]);
    expect(load.created.size).toBeGreaterThan(0);
    const namesInEvents = (type: string, op: string, key: string): string[] =>
      listener.heard
        .filter((event) => event.type === type && event.op === op)
        .flatMap((event) => event[key].map(({ name }: Answer) => name));
    expect(namesInEvents('stream', 'create', 'streams').sort()).toEqual([...names].sort());
    expect(namesInEvents('subscription', 'add', 'subscriptions').sort()).toEqual([...names].sort());
    const notices = after.filter(({ subject }) => subject === 'channel events').map((it) => it.display_recipient);
    expect(notices).toEqual(expect.arrayContaining(names));
    for (const hall of halls) expect(hall).toMatchObject({ subscriber_count: 2, creator_id: people.iago.id });

    // A new registration returns the same data.
    const anew = await hamlet.queues.register({ fetch_event_types: ['message', 'update_message_flags'] });
    const unread = after.filter(({ flags }) => !flags.includes('read')).map(({ id }) => id);
    expect(anew.max_message_id).toBe(after.at(-1).id);
    expect(anew.unread_msgs.count).toBe(unread.length);
    expect(listUnread(anew.unread_msgs)).toEqual(unread);
  }, 600_000);
});

const LAST_WORDS = 'The rest is silence.';

/** @throws Error with the name of the slow operation */
function within<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const impatience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Still ${what} after a minute`)), 60_000);
  });
  return Promise.race([work, impatience]).finally(() => clearTimeout(timer));
}

/** All messages that a user received, oldest first. */
async function history(client: Client): Promise<Answer[]> {
  const messages: Answer[] = [];
  for (;;) {
    const page = await client.messages.retrieve({
      anchor: messages.at(-1)?.id ?? 0,
      include_anchor: messages.length === 0 ? 'true' : 'false',
      num_before: 0,
      num_after: 1000,
      apply_markdown: 'false',
    });
    expect(page.result).toBe('success');
    messages.push(...page.messages);
    if (page.found_newest) return messages;
  }
}

const isBetween =
  (one: Person, other: Person) =>
  ({ type, display_recipient: people }: Answer): boolean =>
    type === 'private' && [one, other].every(({ id }) => people.some((person: Answer) => person.id === id));

function listUnread({ pms, streams, huddles }: Answer): number[] {
  const conversations: Answer[] = [...pms, ...streams, ...huddles];
  return conversations.flatMap(({ unread_message_ids: ids }) => ids).sort((a: number, b: number) => a - b);
}

/** Behaves like a client while the server is down: repeats the poll until it gets a response. */
class Listener {
  readonly heard: Answer[] = [];
  private lastEventId = -1;
  private isOver = false;
  private permission: Promise<void> = Promise.resolve();
  private giveLeave = () => {};
  private resolveBatch: ((events: readonly Answer[]) => void) | null = null;

  private constructor(
    private readonly client: Client,
    private readonly queueId: string,
  ) {}

  static async open(client: Client): Promise<Listener> {
    const answer = await client.queues.register({ event_types: ['message', 'stream', 'subscription'] });
    return new Listener(client, answer.queue_id);
  }

  /** Polls until the final message arrives. */
  async listen(): Promise<void> {
    let repeated: readonly Answer[] = [];
    while (!this.isOver && this.heard.at(-1)?.message?.content !== LAST_WORDS) {
      const events = await this.poll();
      if (!events) continue;
      // Unacknowledged events are redelivered identically.
      expect(events.slice(0, repeated.length)).toEqual(repeated);
      repeated = [];
      if (this.resolveBatch) {
        repeated = events;
        this.resolveBatch(events);
        await this.permission;
        continue;
      }
      this.heard.push(...events.filter(({ type }) => type !== 'heartbeat'));
      this.lastEventId = events.at(-1)?.id ?? this.lastEventId;
    }
  }

  /** Resolves when a batch has arrived, which stays unacknowledged until `goOn`. */
  async holdBack(): Promise<void> {
    this.permission = new Promise((resolve) => {
      this.giveLeave = resolve;
    });
    await new Promise<readonly Answer[]>((resolve) => {
      this.resolveBatch = resolve;
    });
  }

  goOn(): void {
    this.resolveBatch = null;
    this.giveLeave();
  }

  stop(): void {
    this.isOver = true;
    this.goOn();
  }

  /** Null without a response. */
  private async poll(): Promise<Answer[] | null> {
    const params = { queue_id: this.queueId, last_event_id: this.lastEventId };
    const answer = await this.client.events.retrieve(params).catch(() => null);
    if (!answer) {
      await pause(20);
      return null;
    }
    expect(answer).toMatchObject({ result: 'success' });
    return answer.events;
  }
}

/** Users who send continuously: each sequentially, without retries. */
class Load {
  readonly attempted = new Set<string>();
  /** Contents by message id. */
  readonly acknowledged = new Map<number, string>();
  readonly created = new Set<string>();
  private isOver = false;

  speak(name: string, send: (content: string) => Promise<Answer>): Promise<void> {
    return this.repeat(name, 4, send, (answer, content) => this.acknowledged.set(answer.id, content));
  }

  found(name: string, create: (name: string) => Promise<Answer>): Promise<void> {
    return this.repeat(name, 60, create, (_answer, channel) => this.created.add(channel));
  }

  stop(): void {
    this.isOver = true;
  }

  /** Resolves after a number of further acknowledgements. */
  async hasGoneOnFor(acknowledgements: number): Promise<void> {
    const goal = this.acknowledged.size + acknowledgements;
    while (this.acknowledged.size < goal) {
      if (this.isOver) throw new Error('They have stopped talking');
      await pause(1);
    }
  }

  isMine(text: string): boolean {
    return / no\. \d+$/.test(text);
  }

  private async repeat(
    name: string,
    pauseMs: number,
    attempt: (text: string) => Promise<Answer>,
    note: (answer: Answer, text: string) => void,
  ): Promise<void> {
    for (let n = 1; !this.isOver; n++) {
      const text = `${name} no. ${n}`;
      this.attempted.add(text);
      const answer = await attempt(text).catch(() => null);
      if (answer) {
        expect(answer).toMatchObject({ result: 'success' });
        note(answer, text);
      }
      await pause(answer ? pauseMs : 30);
    }
  }
}
