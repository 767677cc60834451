import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import {
  type HashRequest,
  PASSWORD_MIN_GUESSES,
  type PasswordHasher,
  type PasswordStrength,
} from '@parley/domain/access';
import { DomainError } from '@parley/domain/kernel';
import { LRUCache } from 'lru-cache';

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
/** Address of the operator, whose jobs are never rejected. */
const OPERATOR = '';
/** Time after which failed attempts of an address or network no longer delay it. */
const FAILURES_MS = 10 * 60_000;
/** Maximum number of addresses and networks with counted failures; the least recent ones are evicted. */
const MAX_FAILING = 50_000;

interface HashJob {
  /** Address and its enclosing networks, narrowest first. */
  readonly networks: readonly string[];
  /** Number of unfinished attempts of each network when the job arrived. */
  readonly ahead: readonly number[];
  readonly isKnown: boolean;
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * Hashes one password per core at a time. The first attempt of an address comes before second ones, an address without
 * failed attempts before one with failures, then networks with fewer attempts before others, and known networks before
 * all. Equal attempts start newest first, so that a burst does not delay later callers. Drops jobs of disconnected
 * callers and rejects excess jobs immediately.
 */
export class HashQueue implements PasswordHasher {
  /** Oldest first. */
  private jobs: HashJob[] = [];
  private free: number;
  /** Number of unfinished attempts by address and network. */
  private readonly pending = new Map<string, number>();
  private readonly failures = new LRUCache<string, number>({ max: MAX_FAILING, ttl: FAILURES_MS });
  private readonly groupOf: (client: string) => string;
  private readonly maxWaiting: number;
  private readonly maxWaitingPerClient: number;

  constructor(
    private readonly hasher: PasswordHasher,
    options: HashQueueOptions = {},
  ) {
    this.groupOf = options.groupOf ?? ((client) => client);
    this.maxWaiting = options.maxWaiting ?? MAX_WAITING;
    this.maxWaitingPerClient = options.maxWaitingPerClient ?? MAX_WAITING_PER_CLIENT;
    const threads = Number(process.env.UV_THREADPOOL_SIZE) || NODE_THREADS;
    this.free = options.atOnce ?? Math.max(1, Math.min(availableParallelism(), threads - 1));
  }

  /** Hashes that have not started yet. */
  get waiting(): number {
    return this.jobs.length;
  }

  hash(password: string, request: HashRequest = {}): Promise<string> {
    return this.run(request, () => this.hasher.hash(password));
  }

  verify(password: string, hash: string | null, request: HashRequest = {}): Promise<boolean> {
    return this.run(request, async (networks) => {
      const isRight = await this.hasher.verify(password, hash);
      if (!isRight && request.isFinal !== false) this.countFailure(networks);
      return isRight;
    });
  }

  private async run<T>(
    { client, isKnown = false, cancellation }: HashRequest,
    work: (networks: readonly string[]) => Promise<T>,
  ): Promise<T> {
    if (cancellation?.aborted) throw busy();
    const networks = networksOf(client === undefined ? OPERATOR : this.groupOf(client));
    const ahead = networks.map((network) => this.pending.get(network) ?? 0);
    this.countPending(networks, 1);
    try {
      if (this.free > 0) this.free--;
      else await this.wait({ networks, ahead, isKnown: isKnown && ahead[0] === 0 }, cancellation);
      try {
        return await work(networks);
      } finally {
        this.free++;
        this.startNext();
      }
    } finally {
      this.countPending(networks, -1);
    }
  }

  /** Resolves when the job counts as running. */
  private wait(
    { networks, ahead, isKnown }: Pick<HashJob, 'networks' | 'ahead' | 'isKnown'>,
    cancellation: HashRequest['cancellation'],
  ): Promise<void> {
    const own = this.jobs.filter((job) => job.networks[0] === networks[0]);
    if (networks[0] !== OPERATOR && own.length >= this.maxWaitingPerClient) throw busy();
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => () => {
        this.jobs = this.jobs.filter((one) => one !== job);
        cancellation?.removeEventListener('abort', job.refuse);
        action();
      };
      const job: HashJob = {
        networks,
        // Keeps the order of one address while it has waiting attempts.
        ahead: own.length > 0 ? [own.at(-1)!.ahead[0]! + 1, ...ahead.slice(1)] : ahead,
        isKnown,
        start: settle(resolve),
        refuse: settle(() => reject(busy())),
      };
      cancellation?.addEventListener('abort', job.refuse);
      this.jobs.push(job);
      this.evict();
    });
  }

  /** Refuses the last job to be served if too many wait. A refused first attempt counts as failed, so retries come second. */
  private evict(): void {
    const jobs = this.jobs.filter(({ networks }) => networks[0] !== OPERATOR);
    if (jobs.length <= this.maxWaiting) return;
    const last = jobs.reduce((worst, job) => (this.compare(job, worst) > 0 ? job : worst));
    if (last.ahead[0] === 0) this.countFailure(last.networks);
    last.refuse();
  }

  private startNext(): void {
    const next = this.jobs.reduceRight<HashJob | null>(
      (best, job) => (best === null || this.compare(job, best) < 0 ? job : best),
      null,
    );
    if (next === null) return;
    this.free--;
    next.start();
  }

  /** Negative if `a` is served before `b`; 0 if the newer one is. */
  private compare(a: HashJob, b: HashJob): number {
    const rank = this.rankOf(b);
    return (
      this.rankOf(a)
        .map((value, at) => value - rank[at]!)
        .find((difference) => difference !== 0) ?? 0
    );
  }

  private rankOf({ networks, ahead, isKnown }: HashJob): readonly number[] {
    const failures = networks.map((network) => this.failures.get(network) ?? 0);
    return [isKnown ? 0 : 1, Math.min(1, failures[0]!), ...ahead.map((count, at) => count + failures[at]!)];
  }

  private countFailure(networks: readonly string[]): void {
    for (const network of networks) this.failures.set(network, (this.failures.get(network) ?? 0) + 1);
  }

  private countPending(networks: readonly string[], change: 1 | -1): void {
    for (const network of networks) {
      const count = (this.pending.get(network) ?? 0) + change;
      if (count > 0) this.pending.set(network, count);
      else this.pending.delete(network);
    }
  }
}

/** Returns the address, its IPv4 /24 or IPv6 /48, and its IPv4 /16 or IPv6 /32. */
function networksOf(address: string): readonly string[] {
  const parts = address.split(/[.:]/);
  return [address, ...[3, 2].map((length) => `${parts.slice(0, length).join('.')}/${length}`)];
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
