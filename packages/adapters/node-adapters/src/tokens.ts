import { createCipheriv, createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApiKeyMint, ApiKeyRecord, LinkKeys, SeededLink, SessionTokens } from '@parley/domain/access';
import type {
  Clock,
  EventSeq,
  QueueIds,
  Randomness,
  RealmId,
  Seed,
  Ticket,
  TicketTokens,
  UnixSeconds,
} from '@parley/domain/kernel';
import type { LogInTokens } from '@parley/domain/log-in';
import type { JsonWebTokens, TokenClaims } from '@parley/domain/users';
import { TextSeal } from './text-seal.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY_LENGTH = 32;
const SEED_BYTES = 16;
/** Larger bytes are discarded, since they would favour the first letters of the alphabet. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** Derives keys and fingerprints as HMACs of the server's secret, with a separate key per purpose. */
export class HmacApiKeyMint implements ApiKeyMint {
  readonly secretFingerprint: string;
  private readonly derivationKey: Buffer;
  /** Prepared once, since every request with an API key computes its fingerprint. */
  private readonly fingerprintKey: KeyObject;

  constructor(secret: string) {
    this.derivationKey = hmac(secret, 'parley: deriving API keys');
    this.fingerprintKey = createSecretKey(hmac(secret, 'parley: fingerprints of API keys'));
    this.secretFingerprint = hmac(secret, 'parley: fingerprint of the secret').toString('base64url');
  }

  newSeed(): string {
    return randomBytes(SEED_BYTES).toString('hex');
  }

  derive({ realmId, userId, generation, seed }: ApiKeyRecord): string {
    const text = seeded(`${realmId}:${userId}:${generation}`, seed);
    let key = '';
    for (let block = 0; key.length < KEY_LENGTH; block++) {
      for (const byte of hmac(this.derivationKey, `${text}:${block}`)) {
        if (byte < FAIR_BYTES) key += ALPHABET[byte % ALPHABET.length];
      }
    }
    return key.slice(0, KEY_LENGTH);
  }

  fingerprint(apiKey: string): string {
    return hmac(this.fingerprintKey, apiKey).toString('base64url');
  }
}

function hmac(key: string | Buffer | KeyObject, text: string | Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Adds the seed of the row. Rows of releases before 0.4 have none. */
const seeded = (text: string, seed: Seed): string => (seed === null ? text : `${seed}:${text}`);

/** 256 bits, which are impossible to guess. */
const TOKEN_BYTES = 32;

/**
 * Random session tokens. Storage and pages only see HMACs under separate keys, which do not grant access. A changed
 * server secret ends all sessions.
 */
export class HmacSessionTokens implements SessionTokens {
  private readonly fingerprintKey: Buffer;
  private readonly csrfKey: Buffer;

  constructor(secret: string) {
    this.fingerprintKey = hmac(secret, 'parley: fingerprints of session tokens');
    this.csrfKey = hmac(secret, 'parley: CSRF tokens of sessions');
  }

  make(): string {
    return randomBytes(TOKEN_BYTES).toString('base64url');
  }

  fingerprint(token: string): string {
    return hmac(this.fingerprintKey, token).toString('base64url');
  }

  csrfTokenOf(token: string): string {
    return hmac(this.csrfKey, token).toString('base64url');
  }
}

/** Seals the secrets of log-ins in progress with keys derived from the server's secret. */
export class HmacLogInTokens implements LogInTokens {
  private readonly texts: TextSeal;

  constructor(private readonly secret: string) {
    this.texts = new TextSeal(hmac(secret, 'parley: log-ins in progress'));
  }

  make(): string {
    return randomBytes(TOKEN_BYTES).toString('base64url');
  }

  fingerprint(token: string): string {
    return hmac(hmac(this.secret, 'parley: fingerprints of log-ins'), token).toString('base64url');
  }

  derive(token: string, use: 'nonce' | 'verifier'): string {
    return hmac(hmac(this.secret, `parley: ${use} of log-ins`), token).toString('hex');
  }

  seal(text: string, context: string): string {
    return this.texts.seal(text, context);
  }

  open(sealed: string, context: string): string | null {
    return this.texts.open(sealed, context);
  }

  /** Initialization vector, ciphertext and tag of AES-256-GCM, as Zulip's desktop app expects. */
  encryptFor(key: string, text: string): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv);
    return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('hex');
  }
}

/** Symmetric algorithms only: otherwise a public key could be used as the secret. */
const ALGORITHMS = ['HS256', 'HS384', 'HS512'];

/** Verifies tokens with jose, which is loaded on first use. */
export class JoseWebTokens implements JsonWebTokens {
  /** `secrets` has the string ids of organizations as keys. `audience` is the required `aud`; null accepts any. */
  constructor(
    private readonly secrets: ReadonlyMap<string, string>,
    private readonly clock: Clock,
    private readonly audience: string | null = null,
  ) {}

  isEnabledFor(realmStringId: string): boolean {
    return this.secrets.has(realmStringId);
  }

  async verify(realmStringId: string, token: string): Promise<TokenClaims | null> {
    const { errors, jwtVerify } = await import('jose');
    const key = new TextEncoder().encode(this.secrets.get(realmStringId));
    try {
      const currentDate = new Date(this.clock.nowMs());
      const { payload } = await jwtVerify(token, key, {
        algorithms: ALGORITHMS,
        currentDate,
        // A token that never expires would be a second password.
        requiredClaims: ['exp'],
        ...(this.audience !== null && { audience: this.audience }),
      });
      return { email: typeof payload.email === 'string' ? payload.email : null, expiresAt: payload.exp as UnixSeconds };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

const TICKET = /^(\d{1,15})-(\d{1,15})-(\d{1,15})-([A-Za-z0-9_-]{43})$/;

/** Plain-text tickets with a signature by the server's secret and the seed of the row. */
export class HmacTicketTokens implements TicketTokens {
  private readonly key: Buffer;

  /** @param purpose a token with one purpose is invalid for another */
  constructor(secret: string, purpose: string) {
    this.key = hmac(secret, `parley: ${purpose}`);
  }

  sign({ realmId, id, expiresAt }: Ticket, seed: Seed): string {
    const text = `${realmId}-${id}-${expiresAt}`;
    return `${text}-${this.signatureOf(text, seed).toString('base64url')}`;
  }

  async find<Row extends { readonly seed: Seed }>(
    token: string,
    load: (ticket: Ticket) => Promise<Row | null>,
  ): Promise<Row | null> {
    const [, realmId, id, expiresAt, signature] = TICKET.exec(token) ?? [];
    if (signature === undefined) return null;
    const row = await load({ realmId: Number(realmId) as RealmId, id: Number(id), expiresAt: Number(expiresAt) });
    const actual = Buffer.from(signature, 'base64url');
    const expected = this.signatureOf(`${realmId}-${id}-${expiresAt}`, row?.seed ?? null);
    return actual.length === expected.length && timingSafeEqual(actual, expected) ? row : null;
  }

  private signatureOf(text: string, seed: Seed): Buffer {
    return hmac(this.key, seeded(text, seed));
  }
}

const QUEUE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** UUIDs of an event number, a signature and 44 random bits. */
export class HmacQueueIds implements QueueIds {
  private readonly key: Buffer;

  /** @param database ids of one are invalid for another with the same secret */
  constructor(
    secret: string,
    database: string,
    private readonly randomness: Randomness,
  ) {
    this.key = hmac(secret, `parley: event queues of ${database}`);
  }

  make(realmId: RealmId, startSeq: EventSeq): string {
    const start = startSeq.toString(16).padStart(10, '0') + this.randomness.uuid().slice(-11);
    const digits = start + this.signatureOf(realmId, start);
    return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  startOf(realmId: RealmId, id: string): number {
    const digits = QUEUE_ID.test(id) ? id.replaceAll('-', '') : '';
    const [start, signature] = [digits.slice(0, 21), digits.slice(21)];
    return signature === this.signatureOf(realmId, start) ? Number.parseInt(start.slice(0, 10), 16) : -1;
  }

  private signatureOf(realmId: RealmId, start: string): string {
    return hmac(this.key, `${realmId}:${start}`).toString('hex').slice(0, 11);
  }
}

const BASE32_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE32 = /^[a-z2-7]*$/;
const ID_BYTES = 5;

/** Kind of link, such as an invitation. */
export interface LinkKind {
  /** Separates keys: a key with one purpose is invalid for another. */
  readonly purpose: string;
  /**
   * Length of the proof. Ten bytes are 80 bits, too many to guess over the network. Proof and id together must be a
   * multiple of five bytes.
   */
  readonly proofBytes: number;
}

/** Keys have 24 characters. */
export const INVITATION_LINKS: LinkKind = { purpose: 'invitation', proofBytes: 10 };
/** Keys have 40 characters. */
export const CONFIRMATION_LINKS: LinkKind = { purpose: 'confirmation', proofBytes: 20 };
export const UNSUBSCRIBE_LINKS: LinkKind = { purpose: 'unsubscribe', proofBytes: 20 };

/**
 * Keys that contain an id and a proof that this server issued the link for this row, so the key is not stored. The id is
 * masked to make keys unlinkable.
 */
export class HmacLinkKeys implements LinkKeys {
  private readonly proofKey: Buffer;
  private readonly coverKey: Buffer;
  private readonly proofBytes: number;
  private readonly length: number;

  constructor(secret: string, { purpose, proofBytes }: LinkKind) {
    this.proofKey = hmac(secret, `parley: proofs of ${purpose} keys`);
    this.coverKey = hmac(secret, `parley: covers of ${purpose} keys`);
    this.proofBytes = proofBytes;
    this.length = ((proofBytes + ID_BYTES) * 8) / 5;
  }

  derive(link: SeededLink): string {
    const proof = this.proofOf(link);
    const id = Buffer.alloc(ID_BYTES);
    id.writeUIntBE(link.id, 0, ID_BYTES);
    return toBase32(Buffer.concat([proof, this.cover(id, proof)]));
  }

  async find<Row extends SeededLink>(key: string, load: (id: number) => Promise<Row | null>): Promise<Row | null> {
    if (key.length !== this.length || !BASE32.test(key)) return null;
    const bytes = fromBase32(key);
    const proof = bytes.subarray(0, this.proofBytes);
    const id = this.cover(bytes.subarray(this.proofBytes), proof).readUIntBE(0, ID_BYTES);
    const row = await load(id);
    // Computed without a row too, so that the time does not reveal which ids exist.
    return timingSafeEqual(proof, this.proofOf({ id, seed: row?.seed ?? null })) ? row : null;
  }

  private proofOf({ id, seed }: SeededLink): Buffer {
    return hmac(this.proofKey, seeded(String(id), seed)).subarray(0, this.proofBytes);
  }

  /** Masks or unmasks an id; its own inverse. */
  private cover(id: Buffer, proof: Buffer): Buffer {
    const mask = hmac(this.coverKey, proof);
    return Buffer.from(id.map((byte, index) => byte ^ mask[index]!));
  }
}

function toBase32(bytes: Buffer): string {
  let key = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    count += 8;
    for (; count >= 5; count -= 5) key += BASE32_ALPHABET[(bits >> (count - 5)) & 31];
    bits &= 31;
  }
  return key;
}

function fromBase32(key: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const character of key) {
    bits = (bits << 5) | BASE32_ALPHABET.indexOf(character);
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push(bits >> count);
    bits &= (1 << count) - 1;
  }
  return Buffer.from(bytes);
}
