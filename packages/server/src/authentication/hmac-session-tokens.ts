import { createHmac, randomBytes } from 'node:crypto';
import type { SessionTokens } from '@parley/domain/access';

/** 256 bits, which nobody guesses. */
const TOKEN_BYTES = 32;

/**
 * Random tokens; what is stored and what pages read of them are HMACs, each under a key of its own, so that neither helps
 * to get in. With another secret of the server all sessions are over, as all keys are.
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

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
