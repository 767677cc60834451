import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import zulip, { type Answer, type Client } from 'zulip-js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { QueueReader } from './testing/queue-reader.js';
import { TestOrganization } from './testing/test-organization.js';

/** Core story: the demo, started with one command, and a client library written for Zulip. */
describe('two users with zulip-js', () => {
  const organization = new TestOrganization();
  let server: ParleyProcess;
  let hamlet: Client;
  let iago: Client;
  /** Own user profiles. */
  let profiles: { hamlet: Answer; iago: Answer };

  beforeAll(async () => {
    server = await organization.serve(['--demo', '--dev']);
    hamlet = await signIn('hamlet');
    iago = await signIn('iago');
    profiles = { hamlet: await hamlet.users.me.getProfile(), iago: await iago.users.me.getProfile() };
  });
  afterAll(() => organization.close());

  const signIn = (name: string, password = `pw-${name}@zulip.com`) =>
    zulip({ realm: server.url, username: `${name}@zulip.com`, password });
  const zuliprc = (name: string) => join(organization.directory, 'data', 'zuliprc', name);
  const channelId = async (name: string): Promise<number> => (await hamlet.streams.getStreamId(name)).stream_id;

  it('log in with email and password', async () => {
    expect(await hamlet.accounts.retrieve()).toEqual({
      result: 'success',
      msg: '',
      api_key: hamlet.config.apiKey,
      email: 'hamlet@zulip.com',
      user_id: profiles.hamlet.user_id,
    });
    expect(readFileSync(zuliprc('hamlet'), 'utf8')).toContain(`key=${hamlet.config.apiKey}\n`);
    const otherRealmUser = await signIn('hamlet', 'to be or not to be');
    expect(otherRealmUser.config.apiKey).toBeUndefined();
    expect(await otherRealmUser.users.me.getProfile()).toEqual({
      result: 'error',
      code: 'UNAUTHORIZED',
      msg: 'Malformed API key',
    });
  });

  it('send and render code and formulas', async () => {
    const render = async (content: string): Promise<string> =>
      (await hamlet.callEndpoint('/messages/render', 'POST', { content })).rendered;
    const code = '```py\nif x: pass\n```';
    // Code stays unhighlighted until the highlighter is loaded.
    while (!(await render(code)).includes('<span')) await pause(200);
    expect(await render(code)).toContain('<code><span class="k">if</span> x:');
    expect(await render('$$x$$')).toMatch(/^<p><span class="katex">/);
  });

  it('receive each other’s messages in order with every field', async () => {
    const cordelia = await zulip({ zuliprc: zuliprc('cordelia') });
    const ears = {
      hamlet: await QueueReader.open(hamlet, { event_types: ['message'], apply_markdown: 'true' }),
      iago: await QueueReader.open(iago, { event_types: ['message'] }),
      cordelia: await QueueReader.open(cordelia, { event_types: ['message'] }),
    };
    expect(Object.keys(ears.hamlet.snapshot).sort()).toEqual([
      'idle_queue_timeout_secs',
      'last_event_id',
      'max_message_id',
      'msg',
      'queue_id',
      'result',
      'zulip_feature_level',
      'zulip_merge_base',
      'zulip_version',
    ]);
    const coreTeam = await channelId('core team');

    // Polls start before there is an event.
    const waiting = ears.hamlet.poll();
    const question = await iago.messages.send({
      type: 'stream',
      to: 'core team',
      topic: 'the watch',
      content: "Who's **there**?",
    });
    const firstEvents = await waiting;
    const reply = await hamlet.messages.send({
      type: 'channel',
      to: coreTeam,
      topic: 'the watch',
      content: 'Nay, answer *me*, @**Iago**.',
      queue_id: ears.hamlet.id,
      local_id: '17.01',
    });
    const whisper = await iago.messages.send({
      type: 'private',
      to: [profiles.hamlet.user_id],
      content: 'Long live the king!',
    });
    const echo = await hamlet.messages.send({
      type: 'direct',
      to: [profiles.iago.email],
      content: '/me nods',
    });
    for (const { id, ...answer } of [whisper, echo]) {
      expect([id, answer]).toEqual([expect.any(Number), { result: 'success', msg: '' }]);
    }
    // Senders automatically follow topics they start or participate in.
    expect(question).toEqual({
      result: 'success',
      msg: '',
      id: expect.any(Number),
      automatic_new_visibility_policy: 3,
    });

    const common = (sender: Answer, id: number) => ({
      id,
      sender_id: sender.user_id,
      sender_email: sender.email,
      sender_full_name: sender.full_name,
      sender_realm_str: 'zulip',
      avatar_url: sender.avatar_url,
      client: 'node-fetch',
      timestamp: expect.any(Number),
      topic_links: [],
      is_me_message: false,
      reactions: [],
      submessages: [],
    });
    const inChannel = {
      type: 'stream',
      display_recipient: 'core team',
      stream_id: coreTeam,
      subject: 'the watch',
      recipient_id: expect.any(Number),
    };
    const person = ({ user_id: id, email, full_name }: Answer) => ({ id, email, full_name, is_mirror_dummy: false });
    const inPrivate = {
      type: 'private',
      display_recipient: [person(profiles.hamlet), person(profiles.iago)].sort((a, b) => a.id - b.id),
      subject: '',
      recipient_id: expect.any(Number),
    };
    const html = { content_type: 'text/html' };
    const said = [
      { ...common(profiles.iago, question.id), ...inChannel, content: "<p>Who's <strong>there</strong>?</p>" },
      {
        ...common(profiles.hamlet, reply.id),
        ...inChannel,
        content: `<p>Nay, answer <em>me</em>, <span class="user-mention" data-user-id="${profiles.iago.user_id}">@Iago</span>.</p>`,
      },
      { ...common(profiles.iago, whisper.id), ...inPrivate, content: '<p>Long live the king!</p>' },
      { ...common(profiles.hamlet, echo.id), ...inPrivate, content: '<p>/me nods</p>', is_me_message: true },
    ].map((message) => ({ ...message, ...html }));
    const source = ["Who's **there**?", 'Nay, answer *me*, @**Iago**.', 'Long live the king!', '/me nods'];

    expect(firstEvents).toEqual({
      result: 'success',
      msg: '',
      queue_id: ears.hamlet.id,
      events: [{ id: expect.any(Number), type: 'message', flags: [], message: said[0] }],
    });
    const eventsOfHamlet = [...firstEvents.events, ...(await ears.hamlet.next(3))];
    expect(eventsOfHamlet).toEqual([
      { id: expect.any(Number), type: 'message', flags: [], message: said[0] },
      { id: expect.any(Number), type: 'message', flags: [], message: said[1], local_message_id: '17.01' },
      { id: expect.any(Number), type: 'message', flags: [], message: said[2] },
      { id: expect.any(Number), type: 'message', flags: [], message: said[3] },
    ]);
    const eventsOfIago = await ears.iago.next(4);
    expect(eventsOfIago).toEqual(
      said.map((message, i) => ({
        id: expect.any(Number),
        type: 'message',
        flags: i === 1 ? ['mentioned'] : [],
        message: { ...message, content: source[i], content_type: 'text/x-markdown' },
      })),
    );
    for (const heard of [eventsOfHamlet, eventsOfIago]) {
      expect(heard.map(({ id }) => id)).toEqual(ascending(heard.map(({ id }) => id)));
    }
    // Direct messages are delivered to participants only.
    expect(await ears.cordelia.drain()).toEqual([]);

    const page = await iago.messages.retrieve({ anchor: 'newest', num_before: 4, num_after: 0 });
    expect(page).toEqual({
      result: 'success',
      msg: '',
      anchor: 10000000000000000,
      found_newest: true,
      found_oldest: false,
      found_anchor: false,
      history_limited: false,
      messages: said.map((message, i) => ({ ...message, flags: i === 1 ? ['mentioned'] : [] })),
    });
    expect(await iago.messages.getById({ message_id: reply.id })).toEqual({
      result: 'success',
      msg: '',
      raw_content: source[1],
      message: { ...said[1], flags: ['mentioned'] },
      ignored_parameters_unsupported: ['message_id'],
    });
  });

  it("receive events through the library's event loop", async () => {
    const listener = listenInBackground(zuliprc('cordelia'));
    try {
      const verona = { type: 'stream', to: 'Verona', topic: 'roll call' };
      // The library does not report when it is ready.
      while (listener.contents().length === 0) {
        await hamlet.messages.send({ ...verona, content: 'Are you there?' });
        await pause(200);
      }
      const ids: number[] = [];
      for (let line = 1; line <= 30; line++) {
        const speaker = line % 2 ? hamlet : iago;
        ids.push((await speaker.messages.send({ ...verona, content: `line ${line}` })).id);
      }
      while (!listener.contents().includes('line 30')) await pause(50);
      const heard = listener.events.filter(({ type }) => type === 'message');
      expect(heard.map(({ message }) => message.id).slice(-30)).toEqual(ids);
      expect(listener.contents().slice(-30)).toEqual(ids.map((_, i) => `line ${i + 1}`));
      const eventIds = listener.events.map(({ id }) => id);
      expect(eventIds).toEqual(ascending(eventIds));
    } finally {
      listener.stop();
    }
  });
});

const ascending = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b);

/** Runs in a separate process, since `callOnEachEvent` never ends. */
function listenInBackground(zuliprc: string) {
  const program = `require('zulip-js')({ zuliprc: process.argv[1] })
    .then((client) => client.callOnEachEvent((event) => console.log(JSON.stringify(event))));`;
  const child = spawn(process.execPath, ['-e', program, zuliprc], {
    cwd: __dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const events: Answer[] = [];
  createInterface(child.stdout).on('line', (line) => events.push(JSON.parse(line)));
  return {
    events,
    contents: (): string[] => events.filter(({ type }) => type === 'message').map(({ message }) => message.content),
    stop: () => child.kill(),
  };
}
