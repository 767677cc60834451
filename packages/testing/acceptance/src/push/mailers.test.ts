import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Email } from '@parley/domain/access';
import { DeliverableMailer, FileOutbox, isRecipientRefused, mailOf, SmtpMailer } from '@parley/node-adapters';
import { runCommand } from '@parley/server/testing';
import { FakeMailer, FixedClock } from '@parley/testkit';
import { OAuthMailServer } from '../testing/oauth-mail-server.js';
import { TestSmtpServer } from '../testing/test-smtp-server.js';

const EMAIL = {
  to: 'yorick@example.com',
  senderName: 'Schloß Elsinore\r\nBcc: everybody@example.com',
  subject: 'Alas\r\nX-Evil: 1',
  text: 'A fellow of infinite jest\n',
  html: '<p>A fellow of infinite jest</p>',
};
const FROM = 'noreply@chat.example.com';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-mail-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('DeliverableMailer drops emails to addresses below .invalid', async () => {
  const mailer = new FakeMailer();
  const deliverable = new DeliverableMailer(mailer);
  for (const to of ['u@users.parley.invalid', EMAIL.to]) await deliverable.send({ ...EMAIL, to });
  expect(mailer.emails.map(({ to }) => to)).toEqual([EMAIL.to]);
});

describe('FileOutbox', () => {
  const outbox = (max?: number) => new FileOutbox([join(folder, 'outbox')], FROM, new FixedClock(), max);
  const files = () => readdirSync(join(folder, 'outbox'));

  it('writes each email as a private file that mail programs can read', async () => {
    await outbox().send(EMAIL);
    const [name, ...others] = files();
    expect(others).toEqual([]);
    expect(name).toMatch(/^2\d{3}-.*\.eml$/);
    const path = join(folder, 'outbox', name!);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const mail = readFileSync(path, 'utf8');
    expect(mail).toMatch(/^To: yorick@example\.com\r?$/m);
    expect(mail).toMatch(/^ .*<noreply@chat\.example\.com>\r?$/m);
    expect(mail).toMatch(/^Content-Type: multipart\/alternative;/m);
    expect(mail).toContain('<p>A fellow of infinite jest</p>');
  });

  it('does not let email content inject headers', async () => {
    await outbox().send(EMAIL);
    const mail = readFileSync(join(folder, 'outbox', files()[0]!), 'utf8');
    expect(mail).not.toMatch(/^(Bcc|X-Evil):/m);
  });

  it('rejects emails when full until some are removed', async () => {
    const full = outbox(2);
    await full.send(EMAIL);
    await full.send(EMAIL);
    await expect(full.send(EMAIL)).rejects.toThrow(/is full/);
    rmSync(join(folder, 'outbox', files()[0]!));
    await full.send(EMAIL);
    expect(files()).toHaveLength(2);
  });
});

describe('SmtpMailer', () => {
  const smtp = new TestSmtpServer();
  beforeAll(() => smtp.listen());
  afterAll(() => smtp.close());

  it('sends the text and HTML parts', async () => {
    await new SmtpMailer({ url: smtp.url, from: FROM }).send(EMAIL);
    expect(smtp.emails).toHaveLength(1);
    expect(smtp.emails[0]).toContain('A fellow of infinite jest');
    expect(smtp.emails[0]).toMatch(/^Content-Type: text\/html/m);
    expect(smtp.emails[0]).not.toMatch(/^(Bcc|X-Evil):/m);
  });

  it('fails if the server rejects the email, so that it is retried', async () => {
    smtp.refuses = true;
    await expect(new SmtpMailer({ url: smtp.url, from: FROM }).send(EMAIL)).rejects.toThrow(/451/);
  });
});

it('mailOf keeps the Message-ID of a delivery until its content changes', () => {
  const idOf = (change: Partial<Email>) => mailOf({ ...EMAIL, ...change }, { from: FROM }).messageId;
  const first = idOf({ deliveryId: 'push.missed_email 7' });
  expect(first).toMatch(/^<[0-9a-f]{32}@[a-z.]+>$/);
  expect(idOf({ deliveryId: 'push.missed_email 7', replyTo: 'another@example.com' })).toBe(first);
  expect(idOf({ deliveryId: 'push.missed_email 7', text: 'more' })).not.toBe(first);
  expect(idOf({ deliveryId: 'push.missed_email 8' })).not.toBe(first);
  expect(idOf({})).toBeUndefined();
});

describe('SmtpMailer with a broken mail server', () => {
  /** Tries to send to a server with this behavior. */
  async function sendTo(
    talk: (socket: Socket) => void,
    limits: { readonly connectMs?: number; readonly deliveryMs?: number } = {},
  ): Promise<void> {
    const sockets = new Set<Socket>();
    const broken = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      talk(socket);
    });
    await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
    const url = `smtp://127.0.0.1:${(broken.address() as AddressInfo).port}`;
    try {
      await new SmtpMailer({ url, from: FROM, connectMs: 5000, silenceMs: 200, ...limits }).send(EMAIL);
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => broken.close(resolve));
    }
  }

  it('fails if the server accepts the connection and then stays silent', async () => {
    await expect(sendTo(() => {}, { connectMs: 50 })).rejects.toThrow(/Greeting never received/);
  });

  it('fails if the server falls silent after its greeting', async () => {
    await expect(sendTo((socket) => socket.write('220 mail.example.com\r\n'))).rejects.toThrow(/Timeout/);
  });

  it('fails if the server falls silent after accepting the email', async () => {
    const sent = sendTo((socket) => {
      socket.write('220 mail.example.com\r\n');
      socket.on('data', (chunk) => {
        const text = chunk.toString();
        if (/^DATA/i.test(text)) socket.write('354 go on\r\n');
        else if (/^(EHLO|MAIL|RCPT)/i.test(text)) socket.write('250 ok\r\n');
      });
    });
    await expect(sent).rejects.toThrow(/Timeout/);
  });

  it('fails if the server sends without end', async () => {
    const drip = (socket: Socket) => {
      socket.write('220 mail.example.com\r\n');
      const timer = setInterval(() => socket.write('250-more\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    };
    await expect(sendTo(drip, { deliveryMs: 500 })).rejects.toThrow('The mail server took longer than 0.5 s');
  });

  it('fails if the server speaks another protocol or hangs up', async () => {
    const web = (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    await expect(sendTo(web)).rejects.toThrow(/Invalid greeting/);
    await expect(sendTo((socket) => socket.destroy())).rejects.toThrow(/Connection closed|closed unexpectedly/);
  });
});

it.each([
  ['RCPT TO', 550, '550 5.1.1 <a@b.de>: Recipient address rejected: User unknown', true],
  ['RCPT TO', 550, '550 No such user here', true],
  ['RCPT TO', 550, '550 5.2.1 The mailbox is disabled', true],
  ['RCPT TO', 554, '554 5.7.1 Relay access denied', false],
  ['RCPT TO', 550, '550 relay not permitted', false],
  ['RCPT TO', 550, '550 5.7.1 Unknown client is blocked', false],
  ['RCPT TO', 450, '450 4.1.1 User unknown', false],
  ['MAIL FROM', 550, '550 5.1.1 unknown', false],
])('isRecipientRefused judges %s %s %s as %s', (command, responseCode, response, expected) => {
  expect(isRecipientRefused({ command, responseCode, response })).toBe(expected);
});

describe('SmtpMailer with OAuth 2', () => {
  const MAILBOX = 'chat@example.com';
  const SECRETS = { clientSecret: 'the-client-secret', refreshToken: 'the-refresh-token' };
  let server: OAuthMailServer;
  beforeEach(async () => {
    server = new OAuthMailServer();
    await server.listen();
  });
  afterEach(() => server.close());

  const mailerWith = (change: { readonly refreshToken?: null; readonly scope?: string } = {}) =>
    new SmtpMailer({
      url: server.urlFor(MAILBOX),
      from: MAILBOX,
      oauth: { tokenUrl: server.tokenUrl, clientId: 'parley', scope: null, ...SECRETS, ...change },
    });

  it('logs in with a token that it gets for a refresh token, and keeps the token', async () => {
    const mailer = mailerWith();
    await mailer.send(EMAIL);
    await mailer.send(EMAIL);
    expect(server.emails).toHaveLength(2);
    expect(server.requests).toEqual([
      {
        grant_type: 'refresh_token',
        client_id: 'parley',
        client_secret: SECRETS.clientSecret,
        refresh_token: SECRETS.refreshToken,
      },
    ]);
    expect(server.logIns).toEqual([1, 2].map(() => ({ user: MAILBOX, token: 'access-token-1' })));
  });

  it('logs in with a token that it gets for client credentials', async () => {
    await mailerWith({ refreshToken: null, scope: 'https://outlook.office365.com/.default' }).send(EMAIL);
    expect(server.emails).toHaveLength(1);
    expect(server.requests).toEqual([
      {
        grant_type: 'client_credentials',
        client_id: 'parley',
        client_secret: SECRETS.clientSecret,
        scope: 'https://outlook.office365.com/.default',
      },
    ]);
  });

  it('requests another token if the mail server rejects one, with the newest refresh token', async () => {
    server.nextRefreshToken = 'another-refresh-token';
    const mailer = mailerWith();
    await mailer.send(EMAIL);
    server.revoke();
    await mailer.send(EMAIL);
    expect(server.emails).toHaveLength(2);
    expect(server.requests.map(({ refresh_token: token }) => token)).toEqual([
      SECRETS.refreshToken,
      'another-refresh-token',
    ]);
  });

  it('fails with the reason of the token endpoint, without secrets', async () => {
    const description = `The token ${SECRETS.refreshToken} was revoked.`;
    server.refusal = { status: 400, body: { error: 'invalid_grant', error_description: description } };
    const failed = mailerWith().send(EMAIL);
    await expect(failed).rejects.toThrow(`no access token from ${server.tokenUrl}: 400 invalid_grant: The token … was`);
    await expect(failed).rejects.not.toThrow(SECRETS.refreshToken);
    server.refusal = null;
    await mailerWith().send(EMAIL);
    expect(server.emails).toHaveLength(1);
  });

  it('fails if the token endpoint cannot be reached', async () => {
    const oauth = { tokenUrl: 'http://127.0.0.1:9/token', clientId: 'parley', scope: null, ...SECRETS };
    const mailer = new SmtpMailer({ url: server.urlFor(MAILBOX), from: MAILBOX, oauth });
    await expect(mailer.send(EMAIL)).rejects.toThrow('no access token from http://127.0.0.1:9/token: ');
  });

  it('sends no token to a server on another machine without TLS', async () => {
    const url = server.urlFor(MAILBOX).replace('127.0.0.1', '0.0.0.0');
    const mailer = new SmtpMailer({
      url,
      from: MAILBOX,
      oauth: { tokenUrl: server.tokenUrl, clientId: 'p', scope: null, ...SECRETS },
    });
    await expect(mailer.send(EMAIL)).rejects.toThrow(/STARTTLS/);
    expect(server.logIns).toEqual([]);
  });

  describe('commands with OAuth 2 for email', () => {
    const environment = () => ({
      PARLEY_DATABASE: `sqlite:${join(folder, 'chat.db')}`,
      PARLEY_SMTP_URL: server.urlFor(MAILBOX),
      PARLEY_SMTP_OAUTH_TOKEN_URL: server.tokenUrl,
      PARLEY_SMTP_OAUTH_CLIENT_ID: 'parley',
      PARLEY_SMTP_OAUTH_CLIENT_SECRET: SECRETS.clientSecret,
      PARLEY_SMTP_OAUTH_REFRESH_TOKEN: SECRETS.refreshToken,
    });

    it('lets `parley mail test` send an email', async () => {
      expect(await runCommand(['mail', 'test', EMAIL.to], { environment: environment() })).toMatchObject({ code: 0 });
      expect(server.emails).toHaveLength(1);
    });

    it('lets `parley doctor` report a log-in that works, and one that fails without its secrets', async () => {
      await runCommand(['realm', 'create', '--new-database', '', 'Globe'], { environment: environment() });
      const doctor = async () => {
        const { out, err } = await runCommand(['doctor', '--thorough'], { environment: environment() });
        return out + err;
      };
      expect(await doctor()).toContain('the mail server accepts our login');
      server.refusal = { status: 401, body: { error: 'invalid_client', error_description: SECRETS.clientSecret } };
      const failed = await doctor();
      expect(failed).toMatch(/the mail server cannot be used: .*401 invalid_client/);
      for (const secret of Object.values(SECRETS)) expect(failed).not.toContain(secret);
    });

    it.each([
      [{ PARLEY_SMTP_OAUTH_CLIENT_ID: '' }, /OAuth 2 for email .* needs PARLEY_SMTP_OAUTH_TOKEN_URL, /],
      [{ PARLEY_SMTP_OAUTH_CLIENT_SECRET: '', PARLEY_SMTP_OAUTH_REFRESH_TOKEN: '' }, /OAuth 2 for email .* needs /],
      [
        { PARLEY_SMTP_URL: 'smtp://mail.example.com' },
        /needs PARLEY_SMTP_URL .*with the mailbox and without a password/,
      ],
      [
        { PARLEY_SMTP_URL: 'smtp://a:b@mail.example.com' },
        /needs PARLEY_SMTP_URL .*with the mailbox and without a password/,
      ],
      [{ PARLEY_SMTP_URL: '' }, /needs PARLEY_SMTP_URL .*with the mailbox/],
    ])('rejects incomplete settings: %j', async (change, message) => {
      const { code, err } = await runCommand(['mail', 'test', EMAIL.to], {
        environment: { ...environment(), ...change },
      });
      expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    });
  });
});
