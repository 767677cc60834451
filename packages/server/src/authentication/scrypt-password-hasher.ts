import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHasher } from '@parley/domain/access';

interface Parameters {
  /** Base-2 logarithm of the cost. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MB and about 150 ms of one core. Source: OWASP Password Storage Cheat Sheet. */
const DEFAULT_PARAMETERS: Parameters = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * scrypt in Node's thread pool. The parameters are part of what is stored, so raising them does not invalidate older
 * hashes: `$scrypt$ln=15,r=8,p=3$salt$hash`.
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
    if (salt === undefined || hash === undefined) throw new Error('A stored password hash is in an unknown form.');
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
    // The same letters can be typed as different code points.
    scrypt(password.normalize('NFKC'), salt, length, options, (error, hash) => (error ? reject(error) : resolve(hash)));
  });
}

/** As in the PHC string format. */
function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
