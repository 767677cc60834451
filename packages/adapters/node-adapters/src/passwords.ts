import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import {
  type HashRequest,
  PASSWORD_MIN_GUESSES,
  type PasswordHasher,
  type PasswordStrength,
} from '@parley/domain/access';
import { DomainError, WorkQueue } from '@parley/domain/kernel';

export interface HashQueueOptions {
  /** Maximum concurrent hashes; default: the number of cores, leaving one thread of Node's pool free. */
  readonly atOnce?: number;
  /** Maximum number of waiting jobs of all clients. */
  readonly maxWaiting?: number;
  readonly maxWaitingPerClient?: number;
  /** Returns the group of addresses that share a limit; default: each address alone. */
  readonly groupOf?: (client: string) => string;
}

const MAX_WAITING = 256;
/** Enough for an office that logs in behind one address at the same time. */
const MAX_WAITING_PER_CLIENT = 64;
const NODE_THREADS = 4;

/**
 * Hashes one password per core at a time, round-robin between addresses, with known networks first. Drops jobs of
 * disconnected callers and rejects excess jobs immediately.
 */
export class HashQueue implements PasswordHasher {
  private readonly queue: WorkQueue;
  private readonly groupOf: (client: string) => string;

  constructor(
    private readonly hasher: PasswordHasher,
    options: HashQueueOptions = {},
  ) {
    this.groupOf = options.groupOf ?? ((client) => client);
    const threads = Number(process.env.UV_THREADPOOL_SIZE) || NODE_THREADS;
    this.queue = new WorkQueue({
      concurrency: options.atOnce ?? Math.max(1, Math.min(availableParallelism(), threads - 1)),
      maxWaiting: options.maxWaiting ?? MAX_WAITING,
      maxWaitingPerClient: options.maxWaitingPerClient ?? MAX_WAITING_PER_CLIENT,
      refusal: busy,
    });
  }

  /** Hashes that have not started yet. */
  get waiting(): number {
    return this.queue.waiting;
  }

  hash(password: string, request: HashRequest = {}): Promise<string> {
    return this.run(request, () => this.hasher.hash(password));
  }

  verify(password: string, hash: string | null, request: HashRequest = {}): Promise<boolean> {
    return this.run(request, () => this.hasher.verify(password, hash));
  }

  /** Requests without a client come from the operator. */
  private run<T>({ client, isKnown, cancellation }: HashRequest, work: () => Promise<T>): Promise<T> {
    const lane = client === undefined ? null : this.groupOf(client);
    return this.queue.run(lane, work, { cancellation, isUrgent: isKnown });
  }
}

const busy = () =>
  new DomainError('SERVER_BUSY', 'Too many passwords are being checked; try again in a moment.', { retryAfter: 1 });

interface Parameters {
  /** Base-2 logarithm of the cost. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** Costs 32 MB and about 150 ms of one core. Source: OWASP Password Storage Cheat Sheet. */
const DEFAULT_PARAMETERS: Parameters = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Hashes with scrypt in Node's thread pool. The stored hash includes its parameters, so raising them keeps older
 * hashes valid: `$scrypt$ln=15,r=8,p=3$salt$hash`.
 */
export class ScryptPasswordHasher implements PasswordHasher {
  private readonly parameters: Parameters;

  /** `ln` lowers the cost for tests. */
  constructor(parameters: Partial<Parameters> = {}) {
    this.parameters = { ...DEFAULT_PARAMETERS, ...parameters };
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await derive(password, salt, HASH_BYTES, this.parameters);
    const { ln, r, p } = this.parameters;
    return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`;
  }

  async verify(password: string, stored: string | null): Promise<boolean> {
    if (stored === null) {
      await derive(password, Buffer.alloc(SALT_BYTES), HASH_BYTES, this.parameters);
      return false;
    }
    const [, ln, r, p, salt, hash] = STORED.exec(stored) ?? [];
    if (salt === undefined || hash === undefined) throw new Error('A stored password hash has an unknown format.');
    const expected = Buffer.from(hash, 'base64');
    const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
    const actual = await derive(password, Buffer.from(salt, 'base64'), expected.length, parameters);
    return timingSafeEqual(actual, expected);
  }
}

function derive(password: string, salt: Buffer, length: number, { ln, r, p }: Parameters): Promise<Buffer> {
  const cost = 2 ** ln;
  const options: ScryptOptions = { cost, blockSize: r, parallelization: p, maxmem: 128 * r * (cost + p + 2) };
  return new Promise((resolve, reject) => {
    // Normalizes, since the same letters can be typed as different code points.
    scrypt(password.normalize('NFKC'), salt, length, options, (error, hash) => (error ? reject(error) : resolve(hash)));
  });
}

/** Base64 without padding, as in the PHC string format. */
function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** Used part of zxcvbn, which has no types. */
type Zxcvbn = (password: string, knownWords: readonly string[]) => { readonly guesses: number };

const require = createRequire(import.meta.url);

/**
 * Maximum length of the pieces to estimate. The estimator tries all substitutions of symbols for letters, which takes
 * seconds for a long password of such symbols.
 */
const PIECE_LENGTH = 24;
const MAX_STAND_INS = 3;
/** Symbols that the estimator treats as letters, except digits. */
const STAND_IN = /[@({[<!|$+%]/g;

/** Estimates with the library that clients also use. Loaded on first use, since its dictionaries take 10 MB. */
export class ZxcvbnPasswordStrength implements PasswordStrength {
  private estimate: Zxcvbn | undefined;

  /** Guessing a password requires guessing each piece, so estimation stops at the first strong piece. */
  leastGuesses(password: string, obviousWords: readonly string[]): number {
    this.estimate ??= require('zxcvbn') as Zxcvbn;
    // An email address counts as a whole and in parts.
    const words = obviousWords
      .flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)])
      .filter((word) => word !== '');
    let guesses = 0;
    for (const piece of piecesOf(withoutLongWords(password, words))) {
      guesses = Math.max(guesses, this.estimate(piece, words).guesses);
      if (guesses >= PASSWORD_MIN_GUESSES) break;
    }
    return guesses;
  }
}

/** Removes known words longer than a piece, since the estimator would not recognize them. */
function withoutLongWords(password: string, words: readonly string[]): string {
  return words
    .filter((word) => word.length > PIECE_LENGTH)
    .reduce((rest, word) => rest.toLowerCase().replaceAll(word.toLowerCase(), '') || 'x', password);
}

function* piecesOf(password: string): Generator<string> {
  for (let at = 0; at < password.length; at += PIECE_LENGTH) {
    const piece = password.slice(at, at + PIECE_LENGTH);
    const kept = new Set([...new Set(piece.match(STAND_IN))].slice(0, MAX_STAND_INS));
    yield piece.replace(STAND_IN, (symbol) => (kept.has(symbol) ? symbol : '_'));
  }
}
