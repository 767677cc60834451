import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { DeliverWebhooks } from '@parley/domain/membership';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];
let receiver: Server;
let url: string;
let received: { readonly headers: Wire; readonly body: string }[];
/** Response of the receiver; null closes the connection. */
let answer: { readonly status?: number; readonly body?: string | Buffer; readonly headers?: object } | null;
const logged: Wire[] = [];
let count = 0;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      if (!answer) request.socket.destroy();
      else response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body ?? '""');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const log = (level: string) => (fields: Wire, message: string) => {
    if (!fields.audit) logged.push({ level, message, ...fields });
  };
  const logger = { info: () => {}, warn: log('warn'), error: log('error') };
  server = await TestServer.start({ webhookNetworks: ['127.0.0.0/8'], logger });
  ({ people } = server);
  await server.createChannel('general', [people.hamlet, people.cordelia]);
});
beforeEach(() => {
  received = [];
  logged.length = 0;
  answer = { body: '""' };
});
afterAll(async () => {
  receiver.close();
  await server.close();
});

interface Webhook extends TestUser {
  readonly name: string;
}

/** Creates an outgoing webhook owned by Hamlet. */
async function webhook(params: object = {}): Promise<Webhook> {
  const name = `hook${++count}`;
  const fields: Wire = fieldsOf(
    await server.post('/bots', people.hamlet, {
      full_name: name,
      short_name: name,
      bot_type: 3,
      payload_url: JSON.stringify(url),
      ...params,
    }),
  );
  return { id: fields.user_id, email: `${name}-bot@parley.invalid`, apiKey: fields.api_key, name } as Webhook;
}

/** Rejects with the error of a failed request. */
const deliver = () => runJobs(server, server.parley.useCase(DeliverWebhooks));

const newest = async (as: TestUser, narrow: readonly object[]): Promise<Wire> => {
  return (await server.messagesFor(as, { narrow, num_before: 1, apply_markdown: false }))[0];
};
const inTopic = (topic: string): Promise<Wire> =>
  newest(people.cordelia, [
    { operator: 'channel', operand: 'general' },
    { operator: 'topic', operand: topic },
  ]);
const toOwner = async (): Promise<Wire> => newest(people.hamlet, [{ operator: 'is', operand: 'dm' }]);
const mention = (bot: Webhook, topic: string, content = '') =>
  server.sendMessage(people.cordelia, 'general', { topic, content: `@**${bot.name}** ${content}` });

describe('outgoing webhook (organization §19)', () => {
  it('sends a mention as JSON and posts the reply in its topic', async () => {
    const bot = await webhook();
    answer = { body: JSON.stringify({ content: '**42**' }) };
    const id = await mention(bot, 'question', 'what is *it*?');
    await deliver();
    const content = `@**${bot.name}** what is *it*?`;
    const [{ headers, body }] = received as [(typeof received)[0]];
    expect(received).toHaveLength(1);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^ZulipOutgoingWebhook\/\d/),
    });
    const page: Wire = fieldsOf(await server.get(`/messages/${id}`, people.iago, { apply_markdown: false }));
    const { flags: _, ...message } = page.message;
    expect(JSON.parse(body)).toEqual({
      bot_email: bot.email,
      bot_full_name: bot.name,
      data: content,
      trigger: 'mention',
      token: expect.stringMatching(/^\w{32}$/),
      message: {
        ...message,
        sender_email: expect.any(String),
        avatar_url: expect.stringMatching(/^http/),
        content,
        content_type: 'text/x-markdown',
        rendered_content: expect.stringContaining('<em>it</em>'),
      },
    });
    expect(await inTopic('question')).toMatchObject({ sender_id: bot.id, content: '**42**' });
  });

  it('sends direct messages and replies to all participants with a widget', async () => {
    const bot = await webhook();
    const widget = { widget_type: 'zform', extra_data: { type: 'choices', heading: 'Which?', choices: [] } };
    answer = { body: JSON.stringify({ response_string: 'choose', widget_content: widget }) };
    await server.sendMessage(people.cordelia, [people.desdemona, bot]);
    await deliver();
    expect(JSON.parse(received[0]!.body)).toMatchObject({ trigger: 'direct_message', message: { type: 'private' } });
    const reply = await newest(people.desdemona, [{ operator: 'is', operand: 'dm' }]);
    expect(reply).toMatchObject({ sender_id: bot.id, content: 'choose', submessages: [{ msg_type: 'widget' }] });
    expect(reply.display_recipient.map(({ id }: Wire) => id).sort()).toEqual(
      [people.cordelia.id, people.desdemona.id, bot.id].sort(),
    );
  });

  it("sends Slack's form fields and rejects direct messages", async () => {
    const bot = await webhook({ interface_type: 2 });
    answer = { body: JSON.stringify({ text: 'from Slack' }) };
    const id = await mention(bot, 'slack', 'x&y');
    await deliver();
    expect(received[0]!.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(received[0]!.body))).toEqual({
      token: expect.stringMatching(/^\w{32}$/),
      team_id: `T${server.realmId}`,
      team_domain: new URL(server.url).host,
      channel_id: expect.stringMatching(/^C\d+$/),
      channel_name: 'general',
      thread_ts: String(id),
      timestamp: expect.stringMatching(/^\d+$/),
      user_id: `U${people.cordelia.id}`,
      user_name: people.cordelia.user.fullName,
      text: `@**${bot.name}** x&y`,
      trigger_word: 'mention',
      service_id: String(bot.id),
    });
    expect(await inTopic('slack')).toMatchObject({ sender_id: bot.id, content: 'from Slack' });
    await server.sendMessage(people.hamlet, [bot]);
    await deliver();
    expect(received).toHaveLength(1);
    expect((await newest(people.hamlet, [{ operator: 'dm', operand: [bot.id] }])).content).toBe(
      "Failure! Slack outgoing webhooks don't support direct messages.",
    );
  });

  it.each([204, 200])('posts nothing for an empty response with status %d', async (status) => {
    const bot = await webhook();
    answer = { status, body: '' };
    const id = await mention(bot, `empty ${status}`);
    await deliver();
    expect(received).toHaveLength(1);
    expect((await inTopic(`empty ${status}`)).id).toBe(id);
    expect(logged).toEqual([]);
  });

  it.each(['""', '{"response_not_required": true}', '{"response_not_required": true, "content": "x"}', '{}'])(
    'posts nothing for the response %s',
    async (body) => {
      const bot = await webhook();
      answer = { body };
      await mention(bot, `quiet ${body}`, 'hi');
      await deliver();
      expect(received).toHaveLength(1);
      expect((await inTopic(`quiet ${body}`)).sender_id).toBe(people.cordelia.id);
    },
  );

  it.each([
    [{ body: 'oops' }, 'Invalid JSON in response'],
    [{ body: '[1]' }, 'Invalid response format'],
    [{ body: '{"content": "half' }, 'Invalid JSON in response'],
    [{ body: '{"content": {"text": "nested"}}' }, 'Invalid response format'],
    [{ body: '{"content": ["list"]}' }, 'Invalid response format'],
    [{ body: '{"content": "a\\u0000b"}' }, 'The reply could not be sent'],
    [{ body: '{"content": "a", "widget_content": "{"}' }, 'The reply could not be sent'],
    [{ body: '{"content": "@*role:owners*"}' }, 'The reply could not be sent'],
    [{ body: Buffer.from([0, 1, 2, 255, 254, 0]) }, 'Invalid JSON in response'],
    [{ body: gzipSync('{"content": "x"}'), headers: { 'Content-Encoding': 'gzip' } }, 'Invalid JSON in response'],
    [{ status: 502, body: Buffer.from('bad\0gateway') }, 'Third party responded with 502'],
    [{ status: 500, body: 'a ``` fence' }, 'Third party responded with 500'],
    [{ status: 302, headers: { Location: 'http://169.254.169.254/' } }, 'Third party responded with 302'],
  ])('reports the failed response %j to the conversation, the owner and the log', async (response, reason) => {
    const bot = await webhook();
    answer = response;
    const id = await mention(bot, reason);
    await deliver();
    expect(received).toHaveLength(1);
    expect(received[0]!.headers['accept-encoding']).toBe('identity');
    expect(await inTopic(reason)).toMatchObject({ sender_id: bot.id, content: `Failure! ${reason}` });
    const entry = { level: 'warn', message: 'an outgoing webhook failed', botId: bot.id, messageId: id, reason };
    expect(logged).toMatchObject([entry]);
    const notice = await toOwner();
    expect(notice.content).toContain(
      `/near/${id}) to your bot @_**${bot.name}|${bot.id}** triggered an outgoing webhook.`,
    );
    if (reason.endsWith('500')) expect(notice.content).toContain('````\na ``` fence\n````');
  });

  it('retries three times when the receiver cannot be reached and then pauses', async () => {
    const bot = await webhook();
    answer = null;
    await mention(bot, 'down', 'first');
    await mention(bot, 'down later', 'second');
    for (const seconds of [5, 10, 20]) {
      await expect(deliver()).rejects.toThrow(/socket hang up|ECONNRESET/);
      server.clock.advance(seconds);
    }
    expect(received).toHaveLength(3);
    await deliver();
    expect(received).toHaveLength(4);
    expect(await inTopic('down')).toMatchObject({ content: 'Failure! Bot is unavailable' });
    expect((await toOwner()).content).toContain('an error occurred');
    answer = { body: '{"content": "back"}' };
    server.clock.advance(60);
    await deliver();
    expect(await inTopic('down later')).toMatchObject({ content: 'back' });
  });

  it("delivers a bot's messages one after the other and applies edits and deletions before delivery", async () => {
    const bot = await webhook();
    const ids = [];
    for (const content of ['one', 'two', 'three']) ids.push(await mention(bot, 'order', content));
    await server.delete(`/messages/${ids[1]}`, people.desdemona);
    fieldsOf(await server.patch(`/messages/${ids[2]}`, people.cordelia, { content: `@**${bot.name}** edited` }));
    await deliver();
    expect(received.map(({ body }) => JSON.parse(body).data)).toEqual([
      `@**${bot.name}** one`,
      `@**${bot.name}** edited`,
    ]);
  });

  it('ignores silent mentions, messages of bots, and bots that are deactivated or have no URL', async () => {
    const bot = await webhook();
    const other = await webhook();
    const mute = await webhook({ payload_url: '""' });
    await server.sendMessage(people.cordelia, 'general', { content: `@_**${bot.name}** @**${mute.name}**` });
    await server.sendMessage(other, [bot]);
    await mention(other, 'gone');
    fieldsOf(await server.delete(`/bots/${other.id}`, people.hamlet));
    await deliver();
    expect(received).toEqual([]);
  });

  it('rejects private addresses unless the operator allows them', async () => {
    const bot = await webhook({ payload_url: JSON.stringify('http://169.254.169.254/latest/meta-data/') });
    await mention(bot, 'metadata');
    await deliver();
    expect((await inTopic('metadata')).content).toBe(
      'Failure! The address is not on the public Internet, and PARLEY_WEBHOOK_NETWORKS does not allow it',
    );
  });

  it('sends no message that was deleted, or moved to a channel that the bot cannot read, before its delivery', async () => {
    const bot = await webhook();
    const { desdemona, cordelia } = people;
    const secret = await server.createChannel(`secret ${bot.name}`, [desdemona, cordelia], { invite_only: true });
    const moved = await mention(bot, 'moved');
    const deleted = await mention(bot, 'deleted');
    await mention(bot, 'stays');
    fieldsOf(await server.patch(`/messages/${moved}`, desdemona, { stream_id: secret }));
    fieldsOf(await server.delete(`/messages/${deleted}`, desdemona));
    await deliver();
    expect(received.map(({ body }) => JSON.parse(body).message.subject)).toEqual(['stays']);
  });

  it('notifies the owner when the bot may not post the reply', async () => {
    const bot = await webhook();
    await server.createChannel('announce only', [people.cordelia]);
    const { channels }: Wire = { channels: fieldsOf(await server.get('/streams', people.desdemona)).streams };
    const { stream_id } = channels.find(({ name }: Wire) => name === 'announce only');
    await server.sendMessage(people.cordelia, 'announce only', { content: `@**${bot.name}**` });
    const { administrators } = await server.systemGroups();
    fieldsOf(
      await server.patch(`/streams/${stream_id}`, people.desdemona, {
        can_send_message_group: { new: administrators },
      }),
    );
    answer = { body: '{"content": "late"}' };
    await deliver();
    expect((await toOwner()).content).toContain('The reply could not be sent');
  });

  it('separates waiting messages by organization', async () => {
    const bot = await webhook();
    await mention(bot, 'apart');
    const other = await server.addRealm(`other${count}`);
    await server.storage.uow.read(other, async ({ botTriggers }) => {
      expect(await botTriggers.findFirst(other, bot.id)).toBeNull();
    });
    await deliver();
    expect(received).toHaveLength(1);
  });
});
