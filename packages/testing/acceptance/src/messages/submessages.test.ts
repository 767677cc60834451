import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Message by Hamlet in a channel to which Cordelia subscribes. */
let poll: number;
let todo: number;
let plain: number;

const { server, people } = organizationPerTest();
beforeEach(async () => {
  await server.createChannel('general', [people.hamlet, people.cordelia]);
  poll = await say(people.hamlet, '/poll Lunch?\nsoup\nbread');
  todo = await say(people.hamlet, '/todo Chores\ncook: soup');
  plain = await say(people.hamlet, 'hello');
});

const say = (as: TestUser, content: string, to: string | readonly TestUser[] = 'general') =>
  server.sendMessage(as, to, { content });
const attach = (as: TestUser, message_id: number, content: unknown, msg_type = 'widget') =>
  server.post('/submessage', as, {
    message_id,
    msg_type,
    content: typeof content === 'string' ? content : JSON.stringify(content),
  });
const VOTE = { type: 'vote', key: 'canned,0', vote: 1 };
const shown = async (id: number, as = people.cordelia): Promise<Wire[]> =>
  (fieldsOf(await server.get(`/messages/${id}`, as)) as Wire).message.submessages;

describe('POST /submessage (messages §15.3)', () => {
  it('adds a submessage to the message and notifies users with access', async () => {
    const { hamlet, cordelia, iago } = people;
    const page = async () =>
      (fieldsOf(await server.get('/messages', hamlet, { message_ids: [poll] })) as Wire).messages[0].submessages;
    expect(await page()).toHaveLength(1);
    const queues = [await openQueue(server, hamlet), await openQueue(server, iago)];
    expect(fieldsOf(await attach(cordelia, poll, VOTE))).toEqual({});
    const [question, vote] = await shown(poll);
    expect(JSON.parse(question.content)).toEqual({
      widget_type: 'poll',
      extra_data: { question: 'Lunch?', options: ['soup', 'bread'] },
    });
    const fields = { message_id: poll, sender_id: cordelia.id, msg_type: 'widget', content: JSON.stringify(VOTE) };
    expect(vote).toEqual({ id: expect.any(Number), ...fields });
    expect(await page()).toEqual([question, vote]);
    expect(await eventsAfter(server, queues[0]!)).toEqual([{ type: 'submessage', ...fields, submessage_id: vote.id }]);
    expect(await eventsAfter(server, queues[1]!)).toEqual([]);
  });

  it('follows the topic for participants who want it', async () => {
    const { cordelia } = people;
    fieldsOf(await server.patch('/settings', cordelia, { automatically_follow_topics_policy: 1 }));
    const queue = await openQueue(server, cordelia, { event_types: ['user_topic', 'submessage'] });
    fieldsOf(await attach(cordelia, poll, VOTE));
    expect(await eventsAfter(server, queue)).toMatchObject([
      { type: 'user_topic', visibility_policy: 3 },
      { type: 'submessage' },
    ]);
  });

  it.each<[string, () => number, unknown]>([
    ['another option', () => poll, { type: 'new_option', option: 'cake', idx: 1000 }],
    ['a vote taken back', () => poll, { ...VOTE, vote: -1 }],
    ['a task', () => todo, { type: 'new_task', key: 0, task: 'wash', desc: '', completed: false }],
    ['a completed task', () => todo, { type: 'strike', key: '0,canned' }],
  ])('accepts %s from any reader', async (_, id, content) => {
    fieldsOf(await attach(people.cordelia, id(), content));
    expect((await shown(id())).at(-1).content).toBe(JSON.stringify(content));
  });

  it.each<[string, () => number, unknown, string]>([
    [
      'another question',
      () => poll,
      { type: 'question', question: 'Tea?' },
      "You can't edit a question unless you are the author.",
    ],
    [
      'another title',
      () => todo,
      { type: 'new_task_list_title', title: 'Work' },
      "You can't edit the task list title unless you are the author.",
    ],
  ])('accepts %s from the author only', async (_, id, content, refusal) => {
    expectRefusal(await attach(people.cordelia, id(), content), refusal);
    expect(await shown(id())).toHaveLength(1);
    fieldsOf(await attach(people.hamlet, id(), content));
    expect(await shown(id())).toHaveLength(2);
  });

  it.each<[() => number, unknown, string]>([
    [() => poll, 'no json', 'Invalid json for submessage'],
    [() => poll, '', 'Invalid json for submessage'],
    [() => poll, '[]', 'poll data is not a dict'],
    [() => poll, {}, 'type key is missing from poll data'],
    [() => poll, { type: 5 }, 'poll data["type"] is not a string'],
    [() => poll, { type: 'constructor' }, 'Unknown type for poll data: constructor'],
    [() => poll, { ...VOTE, vote: 2 }, 'Invalid poll data["vote"]'],
    [() => poll, { ...VOTE, vote: '1' }, 'poll data["vote"] is not an integer'],
    [() => poll, { type: 'vote', vote: 1 }, 'key key is missing from poll data'],
    [() => poll, { ...VOTE, more: 1 }, 'Unexpected arguments: more'],
    [() => poll, { type: 'new_option', option: 'x', idx: 1001 }, 'poll data["idx"] is too large'],
    [() => poll, { type: 'new_option', option: 'x', idx: -1 }, 'poll data["idx"] is too small'],
    [() => todo, { type: 'strike', key: 1 }, 'todo data["key"] is not a string'],
    [() => todo, VOTE, 'Unknown type for todo data: vote'],
    [
      () => todo,
      { type: 'new_task', key: 0, task: 'x', desc: '', completed: 'no' },
      'todo data["completed"] is not a boolean',
    ],
  ])('rejects invalid input without adding a submessage: %#', async (id, content, refusal) => {
    expectRefusal(await attach(people.hamlet, id(), content), refusal);
    expect(await shown(id())).toHaveLength(1);
  });

  it('accepts the first submessage only from the author, and later ones from others', async () => {
    const { hamlet, cordelia } = people;
    expectRefusal(await attach(cordelia, plain, VOTE), 'You cannot attach a submessage to this message.');
    fieldsOf(await attach(hamlet, plain, '{"any":"thing"}', 'own'));
    fieldsOf(await attach(cordelia, plain, '5', 'other'));
    expect((await shown(plain)).map(({ msg_type, content }) => [msg_type, content])).toEqual([
      ['own', '{"any":"thing"}'],
      ['other', '5'],
    ]);
  });

  it('limits submessages to 500,000 characters per message, because readers receive all of them', async () => {
    const note = `"${'x'.repeat(9998)}"`;
    for (let n = 0; n < 50; n++) fieldsOf(await attach(people.hamlet, plain, note));
    expectRefusal(await attach(people.hamlet, plain, '1'), 'Too much text in submessages (limit: 500000 characters).');
    expect(await shown(plain)).toHaveLength(50);
  });

  it('rejects missing and inaccessible messages', async () => {
    const direct = await say(people.hamlet, '/poll x', [people.hamlet]);
    for (const id of [99999999, direct]) expectRefusal(await attach(people.cordelia, id, VOTE), 'Invalid message(s)');
    expectRefusal(
      await server.post('/submessage', people.hamlet, { message_id: poll }),
      "Missing 'msg_type' argument",
      {
        code: 'REQUEST_VARIABLE_MISSING',
        var_name: 'msg_type',
      },
    );
    fieldsOf(await attach(people.hamlet, direct, VOTE));
  });
});

describe('POST /zcommand (messages §15.2)', () => {
  const command = (text: string) => server.post('/zcommand', people.hamlet, { command: text });
  const says = async (text: string) => (await command(text)).body;

  it("changes the caller's display settings and confirms it", async () => {
    const queue = await openQueue(server, people.hamlet, { fetch_event_types: ['realm'] });
    expect(await says('/ping')).toEqual({ result: 'success', msg: '' });
    expect(await says('/dark')).toEqual({
      result: 'success',
      msg: 'Changed to dark theme! To revert dark theme, type `/light`.',
    });
    expect(await says('/dark')).toEqual({ result: 'success', msg: 'You are still in dark theme.' });
    expect((await says('/light')).msg).toBe('Changed to light theme! To revert light theme, type `/dark`.');
    expect((await says('/fluid-width')).msg).toBe(
      'Changed to fluid-width mode! To revert fluid-width mode, type `/fixed-width`.',
    );
    expect((await says('/fixed-width')).msg).toBe(
      'Changed to fixed-width mode! To revert fixed-width mode, type `/fluid-width`.',
    );
    const changes = (await eventsAfter(server, queue)).filter(({ type }) => type === 'user_settings');
    expect(changes.map(({ property, value }) => [property, value])).toEqual([
      ['color_scheme', 2],
      ['color_scheme', 3],
      ['fluid_layout_width', true],
      ['fluid_layout_width', false],
    ]);
  });

  it('rejects an unknown command', async () => {
    expectRefusal(await command('ping'), 'There should be a leading slash in the zcommand.');
    expectRefusal(await command('/dance'), 'No such command: dance');
    expectRefusal(await command('/'), 'No such command: ');
    expectRefusal(await server.post('/zcommand', people.hamlet), "Missing 'command' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'command',
    });
  });
});
