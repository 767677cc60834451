import { createServer } from 'node:net';
import { ForgetBouncedAddress, ListBouncedAddresses } from '@parley/domain/access';
import { RevokeEmailAddress } from '@parley/domain/push';
import { isEmailAddress } from '@parley/domain/users';
import type { ListenAddress } from '../configuration/configuration.js';
import type { Environment } from '../configuration/env-file.js';
import type { Invocation } from '../configuration/read-configuration.js';
import type { Setting } from '../configuration/setting.js';
import { SETTINGS, type SettingName } from '../configuration/settings.js';
import { addressesOf } from '../http/http-server.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { createLogger } from '../start/logger.js';
import { smtpMailerOf } from '../start/open-parley.js';
import { startPushServer } from '../start/push-service.js';
import { startServer } from '../start/serve.js';
import { always, type Command } from './command.js';
import { serverCommand } from './command-subjects.js';
import { acceptsNewSecret, NEW_DATABASE, requireDatabase } from './databases.js';
import { timeOf } from './listed-lines.js';

export const SERVE_COMMAND: Command = {
  name: 'serve',
  help: 'runs the server until it receives a stop signal',
  details: 'SIGTERM and SIGINT stop it gracefully: pending requests finish first.',
  flags: {
    ...NEW_DATABASE,
    'push-service': { help: 'runs a push service for other servers instead of a chat server (docs/notifications.md)' },
  },
  examples: [
    'parley serve --url https://chat.example.com --trust-proxy loopback',
    'parley serve --demo --dev',
    'PARLEY_DATABASE=sqlite:/var/lib/parley/parley.db parley serve --new-database',
    'parley serve --push-service --database sqlite:/var/lib/parley-push/push.db --new-database',
  ],
  // The server has its own log.
  isReadOnly: always,
  async run({ invocation, terminal, isJson, isOn }) {
    // Registered before anything starts, so that an immediate interrupt also shuts down cleanly.
    const interrupted = terminal.interrupted();
    const { configuration, ignoredVariables } = invocation;
    if (ignoredVariables.length > 0) {
      const logger = createLogger(configuration.logLevel, { write: (line) => terminal.err(line.trimEnd()) });
      const reason = 'ignores variables that Kubernetes adds for services; `enableServiceLinks: false` omits them';
      logger.warn({ variables: ignoredVariables }, reason);
      await logger.close();
    }
    const isPushService = isOn('push-service');
    if (isPushService || !configuration.isDemo) requireDatabase(invocation);
    const say = (line: string) => {
      if (!isJson) terminal.out(line);
    };
    const server = isPushService
      ? await startPushServer(configuration, say)
      : await startServer(configuration, acceptsNewSecret(invocation), say, environmentOf(invocation));
    if (isJson) terminal.out(JSON.stringify({ url: server.url }));
    try {
      await Promise.race([interrupted, server.unusable ?? interrupted]);
    } finally {
      await server.stop();
    }
    return undefined;
  },
};

/** Returns the environment with the values of flags, for commands that the server runs. */
const environmentOf = ({ sources, values }: Invocation): Environment => ({
  ...process.env,
  ...Object.fromEntries(
    [...sources].flatMap(([name, source]) => (source === 'flag' ? [[SETTINGS[name].variable, values.get(name)]] : [])),
  ),
});

/** True unless the port is reserved for users with more rights; binding it is the only reliable check. */
const mayListen = ({ host, port }: ListenAddress): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EACCES'));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });

/** Highest port that may be reserved. */
const MAX_RESERVED_PORT = 1023;

export const CONFIG_COMMANDS: readonly Command[] = [
  {
    name: 'config check',
    help: 'validates and prints the configuration',
    details: 'Opens no database and changes nothing. Secrets are hidden.',
    examples: ['parley config check', 'PARLEY_PORT=80 parley config check --json'],
    isReadOnly: always,
    /** Reports the configuration. It is valid, since it has already been parsed. */
    async run({ invocation }) {
      const set = [...invocation.sources].map(([name, source]) => {
        const { variable, flag, isSecret = false }: Setting<unknown> = SETTINGS[name as SettingName];
        const origin = source === 'flag' ? `--${flag}` : source === 'file' ? `${variable}_FILE` : variable;
        return { place: origin, source, value: isSecret ? null : invocation.values.get(name)! };
      });
      const { host, port, incomingMail, metricsAddress } = invocation.configuration;
      const reservedPorts: number[] = [];
      for (const address of [{ host, port }, incomingMail.smtp, metricsAddress]) {
        if (address && address.port <= MAX_RESERVED_PORT && !(await mayListen(address)))
          reservedPorts.push(address.port);
      }
      return {
        lines: [
          'The configuration is valid.',
          ...set.map(({ place: origin, value }) => `  ${origin}${value === null ? ' (hidden)' : `=${value}`}`),
          set.length === 0
            ? 'All settings have their defaults; see parley --help.'
            : 'All other settings have their defaults; see parley --help.',
          ...reservedPorts.map(
            (each) => `This user may not listen on port ${each} (docs/deploy/around-parley.md#port-25).`,
          ),
        ],
        data: { valid: true, reservedPorts, set },
      };
    },
  },
];

/** Distinguishes replies of the mail server, by their code (RFC 5321), from failures before there was one. */
function problemOf(error: unknown, smtpUrl: string): string {
  const { responseCode = 0, syscall, code } = ((error as Error).cause ?? error) as SmtpError;
  const { host } = new URL(smtpUrl);
  if (responseCode >= 500) return 'The mail server rejected the email';
  if (responseCode >= 400) return 'The mail server does not take the email at the moment';
  if (syscall !== undefined || code === 'ETIMEDOUT') return `No mail server answered at ${host}`;
  return code === 'ESOCKET' || code === 'ETLS' ? `No secure connection to ${host}` : 'The email was not sent';
}

type SmtpError = NodeJS.ErrnoException & { readonly responseCode?: number };

export const MAIL_COMMANDS: readonly Command[] = [
  serverCommand({
    name: 'mail bounced',
    help: 'lists addresses rejected by mail servers, newest first',
    details: 'These addresses get no notifications, but do get requested links.',
    examples: ['parley mail bounced'],
    isReadOnly: always,
    async run({ parley }) {
      const bounced = await parley.useCase(ListBouncedAddresses).execute();
      return {
        lines:
          bounced.length === 0
            ? ['No address has bounced.']
            : bounced.map(({ email, bouncedAt, reason }) => `${email}\t${timeOf(bouncedAt)}\t${reason}`),
        data: bounced,
      };
    },
  }),
  serverCommand({
    name: 'mail unbounce',
    words: 'ADDRESS',
    help: 'resumes sending notifications to an address',
    examples: ['parley mail unbounce ann@example.com'],
    async run({ parley, word }) {
      const email = word(0);
      const hadBounced = await parley.useCase(ForgetBouncedAddress).execute(email);
      const line = hadBounced ? `Notifications are sent to ${email} again.` : `${email} has not bounced.`;
      return { lines: [line], data: { email, hadBounced } };
    },
  }),
  serverCommand({
    name: 'mail revoke',
    words: 'ADDRESS',
    help: 'revokes the email address of a channel; a new one is created on demand',
    examples: ['parley mail revoke chat+general.0123456789abcdef0123456789abcdef@example.com'],
    async run({ parley, word }) {
      const address = word(0);
      const wasKnown = await parley.useCase(RevokeEmailAddress).execute(address);
      const line = wasKnown ? `${address} no longer receives email.` : `${address} is not a channel address.`;
      return { lines: [line], data: { address, wasKnown } };
    },
  }),
  {
    name: 'mail test',
    words: 'ADDRESS',
    help: 'sends a test email through the configured mail server and prints the result',
    details: 'Opens no database.',
    examples: ['parley mail test me@example.com'],
    isReadOnly: always,
    async run({ invocation: { configuration }, words }) {
      const [to] = words as [string];
      if (!isEmailAddress(to)) throw new UsageError('ADDRESS must be an address such as me@example.com.');
      const { url } = addressesOf(configuration);
      const mailer = smtpMailerOf({ ...configuration, url });
      if (!mailer)
        throw new StartupError('There is no mail server: PARLEY_SMTP_URL is not set, so emails are written to files.');
      const text = `This email was sent by "parley mail test" of the chat at ${url}. Email delivery works.`;
      try {
        await mailer.send({ to, senderName: 'Parley', subject: 'Test email', text, html: `<p>${text}</p>` });
      } catch (error) {
        throw new StartupError(`${problemOf(error, configuration.smtpUrl!)}: ${(error as Error).message}`);
      }
      return {
        lines: [`The mail server accepted an email to ${to}. Check the mailbox or the mail server's log for delivery.`],
        data: { to, sent: true },
      };
    },
  },
];
