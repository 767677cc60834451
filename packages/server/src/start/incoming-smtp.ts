import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { DomainError, loadOptional } from '@parley/domain/kernel';
import { CheckEmailAddress, ReceiveEmail } from '@parley/domain/push';
import type { Logger } from '@parley/http';
import type { SMTPServer, SMTPServerOptions } from 'smtp-server';
import type { ComposedParley } from '../composition/parley.js';
import type { SmtpListener } from '../configuration/configuration.js';
import { IncomingEmailLimits } from '../http/quotas.js';

const require = createRequire(import.meta.url);

/** Timeout for silent mail servers. */
const SILENCE_MS = 60_000;
const CLOSE_MS = 5000;
/** Bounds the time of silence after the email. Mail servers repeat the email for further recipients. */
const MAX_RECIPIENTS = 20;
/** Keeps a reply within the 512 bytes of RFC 5321. */
const MAX_NAMED = 3;
/** Slows down address guessing; each address has 122 random bits. */
const MAX_BAD_RECIPIENTS = 10;

/** Reply of the SMTP protocol (RFC 5321, RFC 3463). */
class SmtpReply extends Error {
  constructor(
    readonly responseCode: number,
    text: string,
  ) {
    super(text);
  }
}

/** Converts an error to a reply; temporary errors make the sending server retry. */
function replyOf(error: unknown, logger: Logger): SmtpReply {
  if (!(error instanceof DomainError)) {
    logger.error({ err: error }, 'receiving an email failed');
    return new SmtpReply(451, '4.3.0 Try again later');
  }
  switch (error.code) {
    case 'RATE_LIMITED':
      return new SmtpReply(451, '4.7.1 Too many emails; try again later');
    case 'UNKNOWN_EMAIL_ADDRESS':
      return new SmtpReply(550, '5.1.1 Nobody receives email at this address');
    case 'EMAIL_TOO_LARGE':
      return new SmtpReply(552, '5.3.4 The email is too large');
    case 'UNREADABLE_EMAIL':
      return new SmtpReply(554, '5.6.0 The email cannot be read');
    default:
      return error.kind === 'unavailable'
        ? new SmtpReply(451, '4.3.2 Try again later')
        : new SmtpReply(554, '5.7.1 The email cannot be posted');
  }
}

/**
 * Delivers an email to all recipients, which get one reply. It asks for a repetition only while nothing is posted, since a
 * repeated email would be posted twice. The reply to a partial failure is permanent, and names the others to the sender.
 * @throws SmtpReply
 */
async function deliver(
  deliveries: AsyncIterable<PromiseSettledResult<unknown>>,
  recipients: readonly string[],
  logger: Logger,
): Promise<void> {
  const failures: { readonly to: string; readonly reply: SmtpReply }[] = [];
  let done = 0;
  for await (const delivery of deliveries) {
    const to = recipients[done++]!;
    if (delivery.status === 'fulfilled') continue;
    const reply = replyOf(delivery.reason, logger);
    if (reply.responseCode < 500 && failures.length === done - 1) throw reply;
    failures.push({ to, reply });
  }
  const [failure] = failures;
  if (!failure) return;
  if (failures.length === done) throw failure.reply;
  const named = failures.slice(0, MAX_NAMED).map(({ to, reply }) => `${to} (${reply.message})`);
  throw new SmtpReply(
    554,
    `5.7.1 Posted for ${done - failures.length} of ${done} recipients, not for ${named.join(', ')}`,
  );
}

/** Receives email by SMTP. */
export interface RunningSmtp {
  readonly port: number;
  close(): Promise<void>;
}

interface SmtpReceiverOptions {
  readonly maxBytes: number;
  readonly logger: Logger;
  readonly silenceMs?: number;
}

/** @throws MissingLibrary; system errors for a port in use or an unreadable certificate */
export async function listenForEmail(
  { host, port, name, tls, connections }: SmtpListener,
  parley: Pick<ComposedParley, 'useCase' | 'part'>,
  { maxBytes, logger, silenceMs = SILENCE_MS }: SmtpReceiverOptions,
): Promise<RunningSmtp> {
  const library = loadOptional('smtp-server', 'smtpIn', () => require('smtp-server') as typeof import('smtp-server'));
  const check = parley.useCase(CheckEmailAddress);
  const receive = parley.useCase(ReceiveEmail);
  const limits = new IncomingEmailLimits(parley.part('limiter'));
  const badRecipients = new Map<string, number>();
  const settle = (work: () => void | Promise<void>, callback: (error?: Error | null) => void): void => {
    Promise.resolve()
      .then(work)
      .then(
        () => callback(),
        (error) => callback(error instanceof SmtpReply ? error : replyOf(error, logger)),
      );
  };
  const options: SMTPServerOptions = {
    name,
    banner: 'Parley',
    size: maxBytes,
    authOptional: true,
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...(tls && { cert: readFileSync(tls.cert), key: readFileSync(tls.key) }),
    maxClients: connections,
    socketTimeout: silenceMs,
    closeTimeout: CLOSE_MS,
    disableReverseLookup: true,
    logger: false,
    onConnect: ({ remoteAddress }, callback) => settle(() => limits.connect(remoteAddress), callback),
    onClose: ({ id }) => void badRecipients.delete(id),
    maxRecipients: MAX_RECIPIENTS,
    onRcptTo: ({ address }, { id }, callback) =>
      settle(async () => {
        const bad = badRecipients.get(id) ?? 0;
        if (bad >= MAX_BAD_RECIPIENTS) throw new SmtpReply(421, '4.7.0 Too many unknown recipients');
        try {
          await check.execute(address);
        } catch (error) {
          badRecipients.set(id, bad + 1);
          throw error;
        }
      }, callback),
    onData: (stream, { envelope }, callback) =>
      settle(async () => {
        try {
          const recipients = envelope.rcptTo.map(({ address }) => address);
          const raw = stream.iterator({ destroyOnReturn: false });
          await deliver(receive.deliver(raw, recipients), recipients, logger);
        } finally {
          // SMTP continues only after the email has been read.
          stream.resume();
        }
      }, callback),
  };
  const server = new library.SMTPServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // Handles aborted connections.
  server.on('error', (error) => logger.debug?.({ err: error }, 'a connection of a mail server failed'));
  return { port: portOf(server), close: () => new Promise<void>((resolve) => server.close(resolve)) };
}

const portOf = (server: SMTPServer): number => (server.server.address() as AddressInfo).port;
