import { createHmac, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { DomainError, foldCase, loadOptional, WorkQueue } from '@parley/domain/kernel';
import type { EmailParser, IncomingEmail, MailGateway } from '@parley/domain/push';
import { HmacLinkKeys, type LinkKind } from './tokens.js';

const require = createRequire(import.meta.url);

/** Timeout for one email, including the start of the thread. */
const PATIENCE_MS = 10_000;
/** Parsing an email of the maximum size takes several times its size. */
const MAX_HEAP_MB = 384;
/** A slow email occupies one thread. Each may use the maximum memory. */
const MAX_THREADS = 2;
const MAX_WAITING = 20;

const unreadable = () => new DomainError('UNREADABLE_EMAIL', 'The email cannot be read.');
const busy = () => new DomainError('SERVER_BUSY', 'Too many emails arrive at the moment.', { retryAfter: 60 });

/** Returns the path of the script; null if it is missing, as in a rebundled program. */
export function findMailScript(): string | null {
  try {
    return createRequire(import.meta.url).resolve('./mail-thread.js');
  } catch {
    return null;
  }
}

/**
 * Parses each email on a separate worker thread, since a hostile email may take seconds and much memory. Without the
 * script, parses on the calling thread.
 */
export class MailParser implements EmailParser {
  private readonly queue = new WorkQueue({ concurrency: MAX_THREADS, maxWaiting: MAX_WAITING, refusal: busy });

  constructor(
    private readonly script: string | null = findMailScript(),
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  async parse(raw: Uint8Array): Promise<IncomingEmail> {
    const { script, patienceMs } = this;
    // Tests find the source, which no thread runs.
    const canStart = script !== null && !script.endsWith('.ts');
    const parse = () => (canStart ? parseOnThread(script, raw, patienceMs) : parseHere(raw));
    const email = await this.queue.run('email', parse);
    if (!email) throw unreadable();
    return email;
  }
}

/** Returns null if the thread fails, runs out of memory or takes too long. */
function parseOnThread(script: string, raw: Uint8Array, patienceMs: number): Promise<IncomingEmail | null> {
  return new Promise((resolve) => {
    const worker = new Worker(script, {
      execArgv: [],
      workerData: raw,
      transferList: [raw.buffer as ArrayBuffer],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const timer = setTimeout(() => void worker.terminate(), patienceMs);
    worker.once('message', resolve);
    // The thread ends right after an error.
    worker.on('error', () => {});
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve(null);
    });
  });
}

async function parseHere(raw: Uint8Array): Promise<IncomingEmail | null> {
  const { parseMail } = await import('./mail-parsing.js');
  return parseMail(raw).catch(() => null);
}

/** Keys in reply addresses. The local part is lower-case and at most 64 characters long. */
const REPLY_ADDRESSES: LinkKind = { purpose: 'reply address', proofBytes: 15 };
const BOUNCE_KEY_LENGTH = 32;

export interface MailGatewayOptions {
  readonly pattern: string;
  readonly maxBytes: number;
  /** Token for programs that deliver email over HTTP; null for none. */
  readonly token: string | null;
  readonly secret: string;
}

const hmac = (key: string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Identifies the server in its emails without revealing the secret. */
export const mailFingerprint = (secret: string): string =>
  hmac(secret, 'parley: emails of this server').toString('hex').slice(0, 32);

export const bounceKeyOf = (secret: string, email: string): string =>
  hmac(secret, `parley: bounces of ${foldCase(email)}`)
    .toString('hex')
    .slice(0, BOUNCE_KEY_LENGTH);

/** @throws MissingLibrary */
export function createMailGateway({ pattern, maxBytes, token, secret }: MailGatewayOptions): MailGateway {
  // Only resolved, since the worker thread loads them.
  loadOptional('postal-mime html-to-text ical.js', 'mailGatewayPattern with a way to receive email', () => [
    require.resolve('postal-mime'),
    require.resolve('html-to-text'),
    require.resolve('ical.js'),
  ]);
  return {
    pattern,
    maxBytes,
    parser: new MailParser(),
    replyKeys: new HmacLinkKeys(secret, REPLY_ADDRESSES),
    isGatewayToken: (given) => token !== null && timingSafeEqual(hmac(secret, given), hmac(secret, token)),
    bounceKeyOf: (email) => bounceKeyOf(secret, email),
    fingerprint: mailFingerprint(secret),
  };
}
