import { size } from './hostile/scale.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

// biome-ignore lint/suspicious/noExplicitAny: responses, checked by assertions.
type Answer = any;

/** Two processes are killed in each round. */
const ROUNDS = size(3, 100);
const MESSAGES = 10;
const REMINDERS = 4;
const PAST = 'Scheduled delivery time must be in the future.';
const DELIVERY_PATIENCE_MS = 90_000;

/** Repeated `kill -9` of all processes of a database around due times of messages and reminders. */
describe('servers killed around due times', () => {
  let organization: TestOrganization;
  let hamlet: Person;
  let channelId: number;
  let remindedId: number;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    hamlet = await organization.addPerson('Hamlet', 'owner');
  });
  afterAll(() => organization.close());

  async function call(server: ParleyProcess, method: string, path: string, fields: object = {}): Promise<Answer> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const isInQuery = method === 'GET';
    const response = await fetch(`${server.url}/api/v1${path}${isInQuery ? `?${form}` : ''}`, {
      method,
      headers: { Authorization: `Basic ${btoa(`${hamlet.email}:${hamlet.apiKey}`)}` },
      ...(!isInQuery && { body: form }),
    });
    const answer: Answer = await response.json();
    // The time may have passed already on a busy machine.
    if (answer.msg === PAST) return answer;
    expect(answer).toEqual(expect.objectContaining({ result: 'success' }));
    return answer;
  }

  /** Schedules at that time or as soon as possible afterwards. */
  async function plan(dueAt: number, request: (time: number) => Promise<Answer>): Promise<Answer> {
    for (let time = dueAt; ; time += 2) {
      const answer = await request(time);
      if (answer.msg !== PAST) return answer;
    }
  }

  /** All messages to the user from these senders, oldest first. */
  async function contents(server: ParleyProcess, narrow: readonly object[]): Promise<string[]> {
    const found: Answer[] = [];
    for (;;) {
      const page = await call(server, 'GET', '/messages', {
        narrow,
        anchor: found.at(-1)?.id ?? 0,
        include_anchor: found.length === 0,
        num_before: 0,
        num_after: 1000,
        apply_markdown: false,
      });
      found.push(...page.messages);
      if (page.found_newest) return found.map(({ content }) => content);
    }
  }

  it('deliver each message and reminder once', async () => {
    const messages: string[] = [];
    const notes: string[] = [];
    let kills = 0;

    for (let round = 0; round < ROUNDS; round++) {
      const servers = await Promise.all([organization.serve(), organization.serve()]);
      const [server] = servers;
      if (round === 0) {
        const channel = { name: 'rampart', subscribers: [hamlet.id] };
        ({ id: channelId } = await call(server, 'POST', '/channels/create', channel));
        const first = { type: 'channel', to: channelId, topic: 'watch', content: 'Who is there?' };
        ({ id: remindedId } = await call(server, 'POST', '/messages', first));
      }
      const dueAt = Math.floor(Date.now() / 1000) + 2;
      const planned: Promise<unknown>[] = [];
      for (let n = 0; n < MESSAGES; n++) {
        const content = `message ${round}.${n}`;
        messages.push(content);
        planned.push(planMessage(server, content, dueAt, n));
      }
      for (let n = 0; n < REMINDERS; n++) {
        const note = `note ${round}.${n}`;
        notes.push(note);
        planned.push(
          plan(dueAt, (scheduled_delivery_timestamp) =>
            call(server, 'POST', '/reminders', { message_id: remindedId, scheduled_delivery_timestamp, note }),
          ),
        );
      }
      await Promise.all(planned);
      // Varies from shortly before the due time until most are delivered.
      await pause(Math.max(0, dueAt * 1000 - Date.now() - 20 + ((round * 37) % 120)));
      await Promise.all(
        servers.map(async (each, index) => {
          await pause(index * ((round * 13) % 30));
          await each.kill();
          kills++;
          expect(each.output).not.toContain('"level":"error"');
        }),
      );
    }

    const server = await organization.serve();
    const until = Date.now() + DELIVERY_PATIENCE_MS;
    for (;;) {
      const { scheduled_messages: left } = await call(server, 'GET', '/scheduled_messages');
      const { reminders } = await call(server, 'GET', '/reminders');
      if (left.length + reminders.length === 0) break;
      expect(left.filter(({ failed }: Answer) => failed)).toEqual([]);
      if (Date.now() > until) throw new Error(`${left.length} messages and ${reminders.length} reminders are left`);
      await pause(100);
    }
    const inTopic = [
      { operator: 'channel', operand: channelId },
      { operator: 'topic', operand: 'planned' },
    ];
    expect((await contents(server, inTopic)).sort()).toEqual([...messages].sort());
    const fromBot = [
      { operator: 'is', operand: 'dm' },
      { operator: 'sender', operand: 'notification-bot@parley.invalid' },
    ];
    const noted = (await contents(server, fromBot)).map((content) => /> (note .*)\n/.exec(content)?.[1] ?? content);
    expect(noted.sort()).toEqual([...notes].sort());
    expect(kills).toBe(2 * ROUNDS);
  }, 900_000);

  /** Edits some messages, which replaces their jobs. */
  async function planMessage(server: ParleyProcess, content: string, dueAt: number, n: number): Promise<void> {
    const isEdited = n % 3 === 0;
    const { scheduled_message_id } = await plan(isEdited ? dueAt + 3600 : dueAt, (scheduled_delivery_timestamp) =>
      call(server, 'POST', '/scheduled_messages', {
        type: 'channel',
        to: channelId,
        topic: 'planned',
        content: isEdited ? 'not yet' : content,
        scheduled_delivery_timestamp,
      }),
    );
    if (!isEdited) return;
    await plan(dueAt, (scheduled_delivery_timestamp) =>
      call(server, 'PATCH', `/scheduled_messages/${scheduled_message_id}`, { content, scheduled_delivery_timestamp }),
    );
  }
});
