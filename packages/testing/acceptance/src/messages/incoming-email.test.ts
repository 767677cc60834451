import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { ForgetBouncedAddress, ListBouncedAddresses, RecipientRefused } from '@parley/domain/access';
import type { EventSeq, StoredEvent } from '@parley/domain/kernel';
import { bounceAddress, FindDue, RevokeEmailAddress, SendMissedEmails } from '@parley/domain/push';
import { silentLogger } from '@parley/http';
import { nodemailer } from '@parley/node-adapters';
import { listenForEmail, type RunningSmtp, runCommand } from '@parley/server/testing';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const TOKEN = 'the-token-of-the-gateway-is-long-enough';
const PATTERN = 'chat+%s@example.com';
const MAX_BYTES = 3_000_000;

let smtp: RunningSmtp;
let channel: number;
let count = 0;
let name = '';

const { server, people } = serverPerSuite({
  mailGatewayPattern: PATTERN,
  incomingMail: { token: TOKEN, maxBytes: MAX_BYTES, smtp: {} },
});
beforeAll(async () => {
  smtp = await listenForEmail(
    { host: '127.0.0.1', port: 0, name: 'mail.example.com', tls: null, connections: 5 },
    server.parley,
    { maxBytes: MAX_BYTES, logger: silentLogger },
  );
});
afterAll(async () => {
  await smtp.close();
});
beforeEach(async () => {
  name = `channel ${++count}`;
  channel = await server.createChannel(name, [people.hamlet, people.iago]);
});

async function addressOf(as: TestUser = people.hamlet, params: object = {}, id = channel): Promise<string> {
  return fieldsOf(await server.get(`/streams/${id}/email_address`, as, { ...params })).email;
}

/** Sends by SMTP. Rejects with the server's reply, such as `550 5.1.1 …`. */
async function send(to: string, mail: object = {}): Promise<void> {
  const transport = nodemailer().createTransport({ host: '127.0.0.1', port: smtp.port, ignoreTLS: true });
  try {
    await transport.sendMail({ from: 'Ann Lee <ann@example.org>', to, subject: 'plans', text: 'hello', ...mail });
  } catch (error) {
    throw new Error((error as { response?: string }).response ?? String(error));
  }
}

const raw = (to: string, body = 'hello', headers = ''): string =>
  `From: Ann <ann@example.org>\r\nTo: ${to}\r\nSubject: plans\r\n${headers}\r\n${body}\r\n`;

const post = (email: string | Buffer, { recipient, token = TOKEN, type = 'message/rfc822' }: Wire = {}) =>
  server.request('POST', `/incoming_email${recipient ? `?recipient=${encodeURIComponent(recipient)}` : ''}`, {
    body: email,
    headers: { 'Content-Type': type, Authorization: `Bearer ${token}` },
  });

async function newest(as: TestUser = people.iago, narrow: object[] = [{ operator: 'channel', operand: channel }]) {
  const reply = await server.get('/messages', as, {
    narrow,
    anchor: 'newest',
    num_before: 10,
    num_after: 0,
    apply_markdown: false,
  });
  return (fieldsOf(reply) as Wire).messages.filter(({ subject }: Wire) => subject !== 'channel events') as Wire[];
}

describe('email to a channel address (channels §4.16)', () => {
  it('is posted by the gateway bot under its subject', async () => {
    await send(await addressOf(), {
      subject: 'Re: [Fwd: plans]',
      text: 'yes\n\nOn Monday, Bob wrote:\n> well?\n-- \nAnn',
    });
    const [message, ...others] = await newest();
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      sender_full_name: 'Email Gateway',
      subject: 'plans',
      content: 'From: Ann Lee <ann@example.org>\nyes\n\n(The quoted email is not shown.)',
      flags: [],
    });
  });

  it('is posted by the user or bot of the address', async () => {
    const bot = await server.addBot(people.hamlet, `mailer${count}`);
    await send(await addressOf(people.hamlet, { sender_id: people.hamlet.id }));
    await send(await addressOf(people.hamlet, { sender_id: bot.id }));
    expect((await newest()).map(({ sender_id }) => sender_id)).toEqual([people.hamlet.id, bot.id]);
  });

  it('is posted as HTML converted to text, without quotations, if it has no plain text or the address prefers HTML', async () => {
    const html =
      '<p>Hello <b>there</b>,<br>see <a href="https://x.de/y">this</a></p><blockquote>old</blockquote><style>p{}</style>';
    const address = (await addressOf()).replace('.show-sender', '');
    await send(address, { text: undefined, html, subject: 'Re: plans' });
    await send(address.replace('@', '.prefer-html@'), { text: 'plain', html, subject: 'Re: plans' });
    const contents = (await newest()).map(({ content }) => content);
    expect(contents).toEqual(
      Array(2).fill('Hello there,\nsee this (https://x.de/y)\n\n(The quoted email is not shown.)'),
    );
  });

  it('keeps quotations and forwarded emails unless it is a reply', async () => {
    const address = (await addressOf()).replace('.show-sender', '');
    const quoting = 'As agreed:\n\nOn Monday the team wrote:\nwe ship.\n\nThat is the plan.';
    const forwarding =
      'FYI\n\n---------- Forwarded message ---------\nFrom: Bob\nDate: Monday\nTo: Ann\nSubject: x\n\nwords';
    await send(address, { text: quoting });
    await send(address, { text: forwarding, inReplyTo: '<1@example.org>' });
    expect((await newest()).map(({ content }) => content)).toEqual([quoting, forwarding]);
  });

  it('says that it is encrypted, and keeps the file', async () => {
    const headers = 'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\r\n';
    const recipient = await addressOf();
    fieldsOf(await post(raw(recipient, 'x', headers), { recipient }));
    const [{ content }] = (await newest()) as [Wire];
    expect(content).toMatch(/encrypted or signed with S\/MIME.*\n\n\[smime\.p7m\]/);
  });

  it('includes attachments of files by Outlook', async () => {
    const attribute = (id: number, data: string) => {
      const bytes = Buffer.alloc(11 + data.length);
      bytes.writeUInt32LE(id, 1);
      bytes.writeUInt32LE(data.length, 5);
      bytes.write(data, 9);
      return bytes;
    };
    const attributes = [attribute(0x69002, ''), attribute(0x18010, 'a.txt'), attribute(0x6800f, 'some notes')];
    const content = Buffer.concat([
      Buffer.from('789f3e220100', 'hex'),
      attribute(0x2800c, 'hello there'),
      ...attributes,
    ]);
    await send(await addressOf(), { text: undefined, attachments: [{ filename: 'winmail.dat', content }] });
    const [message] = (await newest()) as [Wire];
    expect(message.content).toMatch(/hello there\n\n\[winmail\.dat\]\(\S+\)\n\[a\.txt\]\(\S+\)$/);
  });

  it('includes its attachments as links to files that subscribers can read', async () => {
    const attachments = [
      { filename: 'no[t]es.txt', content: 'some notes' },
      { filename: 'päper.pdf', content: Buffer.from('%PDF-1.4') },
    ];
    fieldsOf(await server.patch(`/streams/${channel}`, people.desdemona, { is_private: true }));
    await send(await addressOf(), { text: 'see below', attachments });
    const [{ content }] = (await newest()) as [Wire];
    const links = [...content.matchAll(/^\[(.*)\]\((\/user_uploads\/\S+)\)$/gm)] as string[][];
    expect(links.map(([, text]) => text)).toEqual(['notes.txt', 'päper.pdf']);
    const reply = await server.request('GET', `/${links[0]![2]}`, { as: people.iago });
    expect([reply.status, reply.body]).toEqual([200, 'some notes']);
    expect((await server.request('GET', `/${links[0]![2]}`, { as: people.cordelia })).status).not.toBe(200);
    const { attachments: files } = fieldsOf(await server.get('/attachments', people.hamlet)) as Wire;
    expect(files.map((file: Wire) => file.name)).toEqual(expect.arrayContaining(['no[t]es.txt', 'päper.pdf']));
  });

  it('mentions a missing attachment that exceeds the limits', async () => {
    const small = await TestServer.start({
      mailGatewayPattern: PATTERN,
      incomingMail: { token: TOKEN, maxBytes: MAX_BYTES, smtp: null },
      fileLimits: { maxFileMib: 1, quotaMib: 1, userQuotaMib: null },
    });
    const id = await small.createChannel('small', [small.people.hamlet]);
    const { email } = fieldsOf(await small.get(`/streams/${id}/email_address`, small.people.hamlet)) as Wire;
    const part = (size: number) =>
      `--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=f.txt\r\n\r\n${'x'.repeat(size)}\r\n`;
    const mail = raw(
      email,
      `--b\r\n\r\nhi\r\n${part(1_100_000)}${part(900_000)}${part(900_000)}--b--`,
      'Content-Type: multipart/mixed; boundary=b\r\n',
    );
    const reply = await small.request('POST', '/incoming_email', {
      body: mail,
      headers: { 'Content-Type': 'message/rfc822', Authorization: `Bearer ${TOKEN}` },
    });
    expect(fieldsOf(reply)).toEqual({ outcome: 'posted' });
    const narrow = [{ operator: 'channel', operand: id }];
    const messages = await small.messagesFor(small.people.hamlet, { narrow, num_before: 1, apply_markdown: false });
    expect(messages[0].content).toMatch(
      /hi\n\n\(An attachment is missing: .*\)\n\[f.txt\]\(\/user_uploads\/\S+\)\n\(An attachment is missing: .*\)$/s,
    );
    await small.close();
  });

  it.each([
    [
      'a user who may no longer post',
      async () =>
        fieldsOf(
          await server.delete('/users/me/subscriptions', people.iago, {
            subscriptions: [name],
            principals: [people.hamlet.id],
          }),
        ),
    ],
    ['an archived channel', async () => fieldsOf(await server.delete(`/streams/${channel}`, people.desdemona))],
  ])('is rejected for %s', async (_, change) => {
    fieldsOf(await server.patch(`/streams/${channel}`, people.desdemona, { is_private: true }));
    const address = await addressOf();
    await send(address);
    await change();
    await expect(send(address)).rejects.toThrow(/^550 5\.1\.1/);
  });

  it('is rejected for a deactivated user, with or without the gateway bot, and for a deactivated bot', async () => {
    const ann = await server.addUser({ email: `ann${count}@zulip.com`, fullName: `Ann ${count}` });
    const bot = await server.addBot(people.hamlet, `gone${count}`);
    const all = [
      await addressOf(ann),
      await addressOf(ann, { sender_id: ann.id }),
      await addressOf(people.hamlet, { sender_id: bot.id }),
    ];
    for (const one of all) await send(one);
    fieldsOf(await server.delete(`/users/${ann.id}`, people.desdemona));
    fieldsOf(await server.delete(`/bots/${bot.id}`, people.hamlet));
    for (const one of all) await expect(send(one)).rejects.toThrow(/^550/);
    expect(await newest()).toHaveLength(3);
  });

  it('is rejected for a bot that no longer belongs to the user of the address', async () => {
    const bot = await server.addBot(people.hamlet, `moved${count}`);
    const address = await addressOf(people.hamlet, { sender_id: bot.id });
    await send(address);
    fieldsOf(await server.patch(`/bots/${bot.id}`, people.desdemona, { bot_owner_id: people.iago.id }));
    await expect(send(address)).rejects.toThrow(/^550/);
    expect(await newest()).toHaveLength(1);
  });

  it('is rejected once the address is revoked, and the channel gets a new address', async () => {
    const address = await addressOf();
    expect(await server.parley.useCase(RevokeEmailAddress).execute(address)).toBe(true);
    await expect(send(address)).rejects.toThrow(/^550/);
    expect(await server.parley.useCase(RevokeEmailAddress).execute(address)).toBe(false);
    expect(await addressOf()).not.toBe(address);
  });

  it('is rejected for a deactivated organization, and reaches only the organization of the address', async () => {
    const realmId = await server.addRealm(`other${count}`);
    const ann = await server.addUser({ realmId, email: `o${count}@zulip.com`, fullName: 'Ann', role: 'owner' });
    const created = await server.request('POST', '/channels/create', {
      as: ann,
      realm: `other${count}`,
      params: { name, subscribers: [ann.id] },
    });
    const path = `/streams/${(fieldsOf(created) as Wire).id}/email_address`;
    const address = (fieldsOf(await server.request('GET', path, { as: ann, realm: `other${count}` })) as Wire).email;
    await send(address);
    expect(await newest()).toEqual([]);
    fieldsOf(await server.request('POST', '/realm/deactivate', { as: ann, realm: `other${count}`, params: {} }));
    await expect(send(address)).rejects.toThrow(/^550/);
  });

  it('mentions people and groups with the rights of its user, but not everyone', async () => {
    const group = { name: `group ${count}`, description: '', members: [people.iago.id] };
    fieldsOf(await server.post('/user_groups/create', people.desdemona, group));
    const wildcards = ['all', 'everyone', 'channel', 'stream', 'topic'].map((word) => `@**${word}**`).join(' ');
    const attachments = [{ filename: '@**all**.txt', content: 'x' }];
    await send(await addressOf(people.iago, { sender_id: people.iago.id }), {
      text: `listen ${wildcards}`,
      attachments,
    });
    const [silent] = await newest();
    expect(silent!.content).toContain('listen @_**all** @_**everyone** @_**channel** @_**stream** @_**topic**');
    expect(silent!.flags).not.toContain('wildcard_mentioned');
    await send(await addressOf(), { text: `hi @**${people.iago.user.fullName}** @*${group.name}*` });
    expect((await newest()).at(-1)!.flags).toContain('mentioned');
    const { owners } = await server.systemGroups();
    const { user_groups }: Wire = fieldsOf(await server.get('/user_groups', people.desdemona));
    const { id } = user_groups.find((one: Wire) => one.name === group.name);
    const can_mention_group = { new: owners };
    fieldsOf(await server.patch(`/user_groups/${id}`, people.desdemona, { can_mention_group }));
    await expect(send(await addressOf(), { text: `@*${group.name}*` })).rejects.toThrow(/^554 5\.7\.1/);
  });

  it('follows the topic rules of the channel', async () => {
    channel = await server.createChannel(`chat ${count}`, [people.hamlet], { topics_policy: 'empty_topic_only' });
    await send(await addressOf());
    expect((await newest(people.hamlet)).at(-1)!.subject).toBe('general chat');
  });

  it('is dropped if it is an automatic reply or was sent by this server', async () => {
    const address = await addressOf();
    const { fingerprint } = server.parley.ports.mailGateway!;
    await send(address, { headers: { 'Auto-Submitted': 'auto-replied' } });
    await send(address, { headers: { 'X-Parley-Server': fingerprint } });
    expect(await newest()).toEqual([]);
    await send(address, { headers: { 'Auto-Submitted': 'auto-generated', 'List-Id': '<dev.example.org>' } });
    expect(await newest()).toHaveLength(1);
  });
});

describe('mail server', () => {
  it('rejects unknown addresses before the email is sent, and ends the session after many of them', async () => {
    const transport = nodemailer().createTransport({ host: '127.0.0.1', port: smtp.port, ignoreTLS: true });
    const to = Array.from({ length: 12 }, (_, n) => `chat+${String(n).padStart(32, '0')}@example.com`);
    const sent = transport.sendMail({ from: 'a@example.org', to, text: 'x' });
    await expect(sent).rejects.toThrow(/Connection closed|closed the connection/);
    await expect(send('someone@example.com')).rejects.toThrow(/^550 5\.1\.1/);
  });

  /** Sends one email to several recipients. Returns the response after the email, and the codes of refused recipients. */
  async function sendToAll(to: readonly string[], mail: object = {}) {
    const transport = nodemailer().createTransport({ host: '127.0.0.1', port: smtp.port, ignoreTLS: true });
    const sent = transport.sendMail({ from: 'a@example.org', to: [...to], subject: 'plans', text: 'x', ...mail });
    const { response, rejectedErrors = [] } = (await sent.catch((error) => error)) as Wire;
    return { response, codes: rejectedErrors.map((error: Wire) => error.responseCode) };
  }

  it('posts an email to each of its recipients', async () => {
    const other = await server.createChannel(`other ${name}`, [people.hamlet, people.iago]);
    const to = [await addressOf(), await addressOf(people.hamlet, {}, other), await addressOf(people.iago)];
    expect(await sendToAll(to)).toMatchObject({ response: expect.stringMatching(/^250 /), codes: [] });
    expect(await newest()).toHaveLength(2);
    expect(await newest(people.iago, [{ operator: 'channel', operand: other }])).toHaveLength(1);
  });

  it('asks senders to repeat the email for more than 20 recipients', async () => {
    const ids = await Promise.all(
      Array.from({ length: 21 }, (_, n) => server.createChannel(`${name}, ${n}`, [people.hamlet])),
    );
    const to = await Promise.all(ids.map((id) => addressOf(people.hamlet, {}, id)));
    expect(await sendToAll(to)).toEqual({ response: expect.stringMatching(/^250 /), codes: [452] });
  });

  it('names recipients that do not get an email which others have got, and does not ask for a repetition', async () => {
    const can_mention_group = { direct_members: [people.iago.id], direct_subgroups: [] };
    const group = { name: `leads ${count}`, description: '', members: [people.iago.id], can_mention_group };
    fieldsOf(await server.post('/user_groups/create', people.desdemona, group));
    const to = [await addressOf(), await addressOf(people.iago)];
    expect((await sendToAll(to, { text: `@*${group.name}*` })).response).toBe(
      `554 5.7.1 Posted for 1 of 2 recipients, not for ${to[0]} (5.7.1 The email cannot be posted)`,
    );
    expect(await newest()).toHaveLength(1);
  });

  it('rejects oversized emails, announced or not', async () => {
    const address = await addressOf();
    await expect(send(address, { text: 'x'.repeat(MAX_BYTES) })).rejects.toThrow(/^552/);
    expect(await newest()).toEqual([]);
    await send(address);
    expect(await newest()).toHaveLength(1);
  });

  it('always accepts an empty sender, as in bounces', async () => {
    await send(await addressOf(), { envelope: { from: '', to: await addressOf() } });
    expect(await newest()).toHaveLength(1);
  });

  it('asks senders that exceed the limits to try again later', async () => {
    const limited = await TestServer.start({
      mailGatewayPattern: PATTERN,
      incomingMail: { token: TOKEN, maxBytes: MAX_BYTES, smtp: {} },
      hasRateLimits: true,
      rateLimitRules: {
        incoming_email_by_address: [{ windowSeconds: 60, limit: 2 }],
        incoming_email_by_sender: [{ windowSeconds: 60, limit: 3 }],
        incoming_email_by_ip: [{ windowSeconds: 60, limit: 10 }],
      },
    });
    const before = smtp;
    smtp = await listenForEmail(
      { host: '127.0.0.1', port: 0, name: 'mail.example.com', tls: null, connections: 5 },
      limited.parley,
      { maxBytes: MAX_BYTES, logger: silentLogger },
    );
    const addresses: string[] = [];
    for (const one of ['one', 'two', 'three', 'four']) {
      const id = await limited.createChannel(one, [limited.people.hamlet]);
      addresses.push(
        (fieldsOf(await limited.get(`/streams/${id}/email_address`, limited.people.hamlet)) as Wire).email,
      );
    }
    const [first, second, third, fourth] = addresses as [string, string, string, string];
    await send(first);
    await send(first);
    await expect(send(first)).rejects.toThrow(/^451 4\.7\.1/);
    await send(second);
    await expect(send(third)).rejects.toThrow(/^451 4\.7\.1/);
    await send(third, { from: 'bob@example.org' });
    await send(second, { from: 'bob@example.org' });
    await expect(send(third, { from: 'eve@example.org' })).rejects.toThrow(/^451/);
    // Nothing is posted yet, so that a repetition is not posted twice.
    expect((await sendToAll([first, fourth])).response).toMatch(/^451 4\.7\.1/);
    expect((await sendToAll([fourth, first])).response).toBe(
      `554 5.7.1 Posted for 1 of 2 recipients, not for ${first} (4.7.1 Too many emails; try again later)`,
    );
    await expect(send(second)).rejects.toThrow(/^4\d\d .*Too many/);
    await smtp.close();
    smtp = before;
    await limited.close();
  });
});

describe('mail server with a certificate', () => {
  let secure: RunningSmtp;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-starttls-'));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=mail.example.com'];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'pipe' });
    secure = await listenForEmail(
      { host: '127.0.0.1', port: 0, name: 'mail.example.com', tls: { cert, key }, connections: 5 },
      server.parley,
      { maxBytes: MAX_BYTES, logger: silentLogger, silenceMs: 300 },
    );
  });
  afterAll(async () => {
    await secure.close();
    rmSync(folder, { recursive: true });
  });
  const transport = (options: object) =>
    nodemailer().createTransport({ host: '127.0.0.1', port: secure.port, ...options });
  const mail = async () => ({ from: 'ann@example.org', to: await addressOf(), subject: 'plans', text: 'hello' });

  it('receives email by STARTTLS, and from senders without encryption', async () => {
    const tls = { ca: readFileSync(join(folder, 'cert.pem')), servername: 'mail.example.com' };
    await transport({ requireTLS: true, tls }).sendMail(await mail());
    await transport({ ignoreTLS: true }).sendMail(await mail());
    expect(await newest()).toHaveLength(2);
  });

  it('is not said by `parley mail test` to reject an email if its certificate is unknown', async () => {
    const environment = { PARLEY_SMTP_URL: `smtp://127.0.0.1:${secure.port}` };
    const { code, err } = await runCommand(['mail', 'test', await addressOf()], { environment });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^parley: No secure connection to 127\.0\.0\.1:\d+: .*certificate/),
    ]);
  });

  it('ignores commands sent before the encryption began', async () => {
    const socket = connect(secure.port, '127.0.0.1');
    const next = async (from: Socket) => String((await once(from, 'data'))[0]);
    expect(await next(socket)).toMatch(/^220 /);
    socket.write('EHLO example.org\r\n');
    expect(await next(socket)).toContain('STARTTLS');
    socket.write('STARTTLS\r\nEHLO injected.example.org\r\nMAIL FROM:<eve@example.org>\r\n');
    expect(await next(socket)).toMatch(/^220 [^\n]*\r\n$/);
    const encrypted = connectTls({ socket, rejectUnauthorized: false });
    await once(encrypted, 'secureConnect');
    encrypted.write('RCPT TO:<x@example.com>\r\n');
    // An injected sender would be known.
    expect(await next(encrypted)).toMatch(/^503 /);
    encrypted.destroy();
  });

  it('disconnects silent mail servers', async () => {
    const socket = connect(secure.port, '127.0.0.1');
    await once(socket, 'data');
    const [text] = await once(socket, 'data');
    expect(String(text)).toMatch(/^421 /);
    await once(socket.resume(), 'close');
  });

  it('does not start with an unreadable certificate', async () => {
    const tls = { cert: join(folder, 'none.pem'), key: join(folder, 'key.pem') };
    const listener = { host: '127.0.0.1', port: 0, name: 'mail.example.com', tls, connections: 5 };
    const started = listenForEmail(listener, server.parley, { maxBytes: MAX_BYTES, logger: silentLogger });
    await expect(started).rejects.toThrow(/none\.pem/);
  });
});

describe('POST /incoming_email', () => {
  it('posts an email to the recipient in the query or the headers', async () => {
    const address = await addressOf();
    expect(fieldsOf(await post(raw('list@example.org'), { recipient: address }))).toEqual({ outcome: 'posted' });
    expect(fieldsOf(await post(raw(`Chat <${address}>`)))).toEqual({ outcome: 'posted' });
    expect(fieldsOf(await post(raw('list@example.org', 'hi', `Delivered-To: ${address}\r\n`)))).toEqual({
      outcome: 'posted',
    });
    expect((await newest()).map(({ content }) => content)).toEqual([
      'From: Ann <ann@example.org>\nhello',
      'From: Ann <ann@example.org>\nhello',
      'From: Ann <ann@example.org>\nhi',
    ]);
  });

  it('rejects callers without the token', async () => {
    for (const token of ['', 'x', `${TOKEN}x`, people.hamlet.apiKey]) {
      expectRefusal(await post(raw(await addressOf()), { token }), 'The token of the mail gateway is wrong.', {
        status: 401,
        code: 'UNAUTHORIZED',
      });
    }
    const withKey = await server.post('/incoming_email', people.desdemona);
    expectRefusal(withKey, 'The token of the mail gateway is wrong.', { status: 401, code: 'UNAUTHORIZED' });
    expect(await newest()).toEqual([]);
  });

  it('rejects other content types, unknown recipients and oversized emails', async () => {
    expectRefusal(
      await post(raw(await addressOf()), { type: 'text/plain' }),
      'The Content-Type must be message/rfc822.',
    );
    for (const recipient of ['nobody@example.com', undefined]) {
      expectRefusal(await post(raw('nobody@example.com'), { recipient }), 'Nobody receives email at this address.', {
        status: 404,
      });
    }
    const large = Buffer.alloc(MAX_BYTES + 1, 'x');
    expectRefusal(await post(large, { recipient: await addressOf() }), 'The email is too large.', { status: 413 });
  });

  it('rejects everything if the server does not receive email', async () => {
    for (const options of [
      { mailGatewayPattern: PATTERN },
      { mailGatewayPattern: null, incomingMail: { token: TOKEN, maxBytes: 1, smtp: null } },
    ]) {
      const without = await TestServer.start(options);
      const reply = await without.request('POST', '/incoming_email', {
        body: 'x',
        headers: { 'Content-Type': 'message/rfc822', Authorization: `Bearer ${TOKEN}` },
      });
      expectRefusal(reply, 'This server does not receive email.', { status: 404 });
      await without.close();
    }
  });
});

describe('hostile email', () => {
  const nested = (depth: number): string => {
    let text = '';
    for (let n = 0; n < depth; n++) text += `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`;
    return text;
  };
  const HOSTILE: Readonly<Record<string, string | Buffer>> = {
    'deep nesting': `Subject: x\r\n${nested(5000)}\r\nend`,
    'many parts': `Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(100_000)}`,
    'many headers': `${'X-A: b\r\n'.repeat(200_000)}\r\nx`,
    'many recipients': `To: ${'a@example.com, '.repeat(100_000)}b@example.com\r\n\r\nx`,
    'a long header': `Subject: ${'x'.repeat(2_000_000)}\r\n\r\nx`,
    'a long encoded word': `Subject: ${'=?utf-8?q?=41?= '.repeat(12_000)}\r\n\r\nx`,
    'unknown charsets': 'Subject: x\r\nContent-Type: text/plain; charset=klingon\r\n\r\nx',
    'UTF-7': 'Subject: x\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n+ADw-b+AD4-',
    'deep HTML': `Subject: x\r\nContent-Type: text/html\r\n\r\n${'<div>'.repeat(200_000)}`,
    'deep HTML quotations': `Subject: x\r\nContent-Type: text/html\r\n\r\n${'<blockquote>a'.repeat(100_000)}`,
    'wide HTML': `Subject: x\r\nContent-Type: text/html\r\n\r\n${'<p>a</p>'.repeat(200_000)}`,
    entities: `Subject: x\r\nContent-Type: text/html\r\n\r\n${'&amp;'.repeat(300_000)}`,
    'broken Base64': `Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n${'=!$'.repeat(500_000)}`,
    'no headers': 'x'.repeat(2_000_000),
    nothing: '',
    bytes: Buffer.from(Array.from({ length: 100_000 }, (_, n) => (n * 7919) % 256)),
    'names of attachments': `Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Disposition: attachment; filename="../../etc/passwd\\0\r\n"\r\n\r\nx\r\n'.repeat(500)}`,
    Markdown: 'From: "@**all** `" <a@b.de>\r\nSubject: @**all** #**x**\r\n\r\n/poll x\n\n```spoiler',
  };

  it.each(Object.keys(HOSTILE))('is posted or rejected with %s', async (kind) => {
    const recipient = await addressOf();
    const reply = await post(HOSTILE[kind]!, { recipient });
    expect([200, 400]).toContain(reply.status);
    const messages = await newest();
    for (const { content, subject } of messages) {
      expect(content.length).toBeLessThanOrEqual(10_000);
      expect(subject.length).toBeLessThanOrEqual(60);
    }
  });

  it('keeps at most twenty attachments', async () => {
    await post(HOSTILE['names of attachments']!, { recipient: await addressOf() });
    const [{ content }] = (await newest()) as [Wire];
    expect(content.match(/\/user_uploads\//g)).toHaveLength(20);
    expect(content).not.toContain('..');
  });

  it('keeps a calendar without its events if its time zone changes every second, and says so', async () => {
    const zone =
      'BEGIN:VTIMEZONE\r\nTZID:z\r\nBEGIN:STANDARD\r\nDTSTART:00010101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\n' +
      'RRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE';
    const calendar = `BEGIN:VCALENDAR\r\n${zone}\r\nBEGIN:VEVENT\r\nDTSTART;TZID=z:99990101T000000\r\nEND:VEVENT\r\nEND:VCALENDAR`;
    const mail = `Subject: x\r\nContent-Type: text/calendar; name=invite.ics\r\n\r\n${calendar}`;
    expect((await post(mail, { recipient: await addressOf() })).status).toBe(200);
    const [{ content }] = (await newest()) as [Wire];
    expect(content).toMatch(
      /\(No email body\)\n\n\[invite\.ics\]\(\S+\)\n\(Events of these calendars cannot be shown: invite\.ics\)$/,
    );
  });
});

describe('reply to an email about missed messages', () => {
  let position = 0;
  async function missedEmail(to: TestUser): Promise<Wire> {
    server.mailer.emails.length = 0;
    const { isWanted, consume } = server.parley.useCase(FindDue);
    const { unitOfWork } = server.parley.ports;
    const { realmId } = server;
    const page = await unitOfWork.read(realmId, ({ events }) =>
      events.listAfter(realmId, position as EventSeq, 10_000, 10_000_000),
    );
    position = page.at(-1)?.seq ?? position;
    const events = (page as readonly StoredEvent[]).filter((event) => event.event && isWanted(event));
    const unit = await consume(realmId, events);
    if (unit) await unitOfWork.write(realmId, unit);
    server.clock.advance(200);
    await runJobs(server, server.parley.useCase(SendMissedEmails));
    return server.mailer.emails.findLast((email) => email.to === to.email) as Wire;
  }
  // Messages of earlier tests are due as well.
  beforeAll(() => missedEmail(people.hamlet));
  const directMessages = (as: TestUser, other: TestUser) => newest(as, [{ operator: 'dm', operand: [other.id] }]);

  it('is posted by the recipient to the conversation, without quotations', async () => {
    await server.sendMessage(people.iago, [people.hamlet], { content: 'Are you there?' });
    const { replyTo, text } = await missedEmail(people.hamlet);
    expect(replyTo).toMatch(/^chat\+mm[a-z2-7]{32}@example\.com$/);
    expect(text).toContain('Reply to this email directly');
    await send(replyTo, { text: `Yes.\n\nOn Monday, Realm zulip notifications wrote:\n> Iago:\n> Are you there?` });
    expect((await directMessages(people.iago, people.hamlet)).at(-1)).toMatchObject({
      sender_id: people.hamlet.id,
      content: 'Yes.',
    });
  });

  it("is posted to the message's current topic", async () => {
    const id = await server.sendMessage(people.iago, name, { topic: 'before', content: '@**King Hamlet** look' });
    const { replyTo } = await missedEmail(people.hamlet);
    fieldsOf(
      await server.patch(`/messages/${id}`, people.desdemona, {
        topic: 'after',
        propagate_mode: 'change_all',
        send_notification_to_new_thread: false,
        send_notification_to_old_thread: false,
      }),
    );
    await send(replyTo, { subject: 'Re: anything' });
    expect((await newest()).at(-1)).toMatchObject({ sender_id: people.hamlet.id, subject: 'after', content: 'hello' });
  });

  it('causes a notification bot message if it may not be posted', async () => {
    fieldsOf(await server.patch(`/streams/${channel}`, people.desdemona, { is_private: true }));
    await server.sendMessage(people.iago, name, { topic: 'secret', content: '@**King Hamlet** look' });
    const { replyTo } = await missedEmail(people.hamlet);
    fieldsOf(
      await server.delete('/users/me/subscriptions', people.iago, {
        subscriptions: [name],
        principals: [people.hamlet.id],
      }),
    );
    await send(replyTo);
    expect(await newest()).toHaveLength(1);
    const [notice] = (await newest(people.hamlet, [{ operator: 'is', operand: 'dm' }])).slice(-1) as [Wire];
    expect(notice.sender_full_name).toBe('Notification Bot');
    expect(notice.content).toMatch(/^Error sending message to a channel via message notification email reply:\n./);
    expect(notice.content).not.toContain(name);
  });

  it('is dropped if a program sent it', async () => {
    await server.sendMessage(people.iago, [people.cordelia], { content: 'Are you there?' });
    const { replyTo } = await missedEmail(people.cordelia);
    for (const headers of [{ 'Auto-Submitted': 'auto-replied' }, { Precedence: 'bulk' }, { 'List-Id': '<a.b>' }]) {
      await send(replyTo, { headers, text: 'I am away' });
    }
    expect((await directMessages(people.iago, people.cordelia)).map(({ content }) => content)).toEqual([
      'Are you there?',
    ]);
  });

  it('is rejected after a month, with a wrong key and for a deactivated user', async () => {
    const ann = await server.addUser({ email: `r${count}@zulip.com`, fullName: `Reader ${count}` });
    await server.sendMessage(people.iago, [ann], { content: 'Are you there?' });
    const { replyTo } = await missedEmail(ann);
    await expect(send(replyTo.replace(/mm./, (found: string) => (found === 'mma' ? 'mmb' : 'mma')))).rejects.toThrow(
      /^550/,
    );
    fieldsOf(await server.delete(`/users/${ann.id}`, people.desdemona));
    await expect(send(replyTo)).rejects.toThrow(/^550/);
    await server.sendMessage(people.iago, [people.hamlet], { content: 'And you?' });
    const later = await missedEmail(people.hamlet);
    server.clock.advance(31 * 86_400);
    await expect(send(later.replyTo)).rejects.toThrow(/^550/);
  });
});

describe('bouncing address', () => {
  const report = (to: string, address: string, { action = 'failed', status = '5.1.1' } = {}): string =>
    `From: mailer-daemon@example.org\r\nTo: ${to}\r\nSubject: Undelivered\r\nAuto-Submitted: auto-replied\r\n` +
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n' +
    '--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n' +
    `Reporting-MTA: dns; mail.example.org\r\n\r\nFinal-Recipient: rfc822; ${address}\r\nAction: ${action}\r\n` +
    `Status: ${status}\r\nDiagnostic-Code: smtp; 550 5.1.1 No such user\r\n\r\n--b--\r\n`;
  const bouncesOf = (address: string) => bounceAddress(PATTERN, server.parley.ports.mailGateway!.bounceKeyOf(address));
  const bounced = async () => (await server.parley.useCase(ListBouncedAddresses).execute()).map(({ email }) => email);
  const notify = (to: string, isRequested = false) =>
    server.parley.ports.mailer.send({ to, senderName: 'x', subject: 'x', text: 'x', html: 'x', isRequested });
  const received = (to: string) => server.mailer.emails.filter((email) => email.to === to).length;

  it('gets no notifications until it is confirmed, but still gets requested links', async () => {
    const to = `lost${count}@example.org`;
    expect(fieldsOf(await post(report(bouncesOf(to), to)))).toEqual({ outcome: 'bounce' });
    expect(await server.parley.useCase(ListBouncedAddresses).execute()).toEqual([
      { email: to, bouncedAt: server.clock.now(), reason: '550 5.1.1 No such user' },
    ]);
    await notify(to.toUpperCase());
    expect(server.mailer.emails.filter((email) => email.to.toLowerCase() === to)).toEqual([]);
    await notify(to, true);
    expect(received(to)).toBe(1);
    expect(await server.parley.useCase(ForgetBouncedAddress).execute(to)).toBe(true);
    await notify(to);
    expect(received(to)).toBe(2);
  });

  it('is not recorded for a report about another address, a delay, or a temporary failure', async () => {
    const victim = `victim${count}@example.org`;
    const other = bouncesOf(`other${count}@example.org`);
    for (const mail of [
      report(other, victim),
      report(bouncesOf(victim), victim, { action: 'delayed' }),
      report(bouncesOf(victim), victim, { status: '4.2.2' }),
      raw(bouncesOf(victim)),
    ]) {
      expect(fieldsOf(await post(mail))).toEqual({ outcome: 'ignored' });
    }
    expect(await bounced()).not.toContain(victim);
  });

  it('is recorded when the mail server rejects the recipient', async () => {
    const ann = await server.addUser({ email: `refused${count}@zulip.com`, fullName: `Refused ${count}` });
    const send = jest.spyOn(server.mailer, 'send').mockRejectedValueOnce(new RecipientRefused('550 5.1.1 gone'));
    await notify(ann.email);
    send.mockRestore();
    expect(await bounced()).toContain(ann.email);
  });
});
