import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { ApiKeyMint, ApiKeyRecord } from '@parley/domain/access';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY_LENGTH = 32;
/** Bytes from here on would favour the first letters of the alphabet. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** Keys and fingerprints are HMACs of the server's secret, each purpose under a key of its own. */
export class HmacApiKeyMint implements ApiKeyMint {
  readonly secretFingerprint: string;
  private readonly derivationKey: Buffer;
  /** Each request with a key asks for its fingerprint, in half the time where the secret need not be read anew. */
  private readonly fingerprintKey: KeyObject;

  constructor(secret: string) {
    this.derivationKey = hmac(secret, 'parley: deriving API keys');
    this.fingerprintKey = createSecretKey(hmac(secret, 'parley: fingerprints of API keys'));
    this.secretFingerprint = hmac(secret, 'parley: fingerprint of the secret').toString('base64url');
  }

  derive({ realmId, userId, generation }: ApiKeyRecord): string {
    let key = '';
    for (let block = 0; key.length < KEY_LENGTH; block++) {
      for (const byte of hmac(this.derivationKey, `${realmId}:${userId}:${generation}:${block}`)) {
        if (byte < FAIR_BYTES) key += ALPHABET[byte % ALPHABET.length];
      }
    }
    return key.slice(0, KEY_LENGTH);
  }

  fingerprint(apiKey: string): string {
    return hmac(this.fingerprintKey, apiKey).toString('base64url');
  }
}

function hmac(key: string | Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
