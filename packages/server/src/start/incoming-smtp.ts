import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { DomainError, firstOf, loadOptional } from '@parley/domain/kernel';
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
    onRcptTo: ({ address }, { id, envelope }, callback) =>
      settle(async () => {
        const bad = badRecipients.get(id) ?? 0;
        if (bad >= MAX_BAD_RECIPIENTS) throw new SmtpReply(421, '4.7.0 Too many unknown recipients');
        // The reply applies to the only recipient; the sending server retries for the others.
        if (envelope.rcptTo.length > 0) throw new SmtpReply(452, '4.5.3 One recipient at a time');
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
          await receive.execute({
            recipient: firstOf(envelope.rcptTo).address,
            raw: stream.iterator({ destroyOnReturn: false }),
          });
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
