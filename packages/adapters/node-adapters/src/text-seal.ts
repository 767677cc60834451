import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Authenticated encryption of texts: initialization vector, tag and ciphertext of AES-256-GCM, as base64url. */
export class TextSeal {
  constructor(private readonly key: Buffer) {}

  /** `context`: text required to open the seal, such as the owner. */
  seal(text: string, context: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(Buffer.from(context));
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url');
  }

  /** Returns null for anything except the exact text returned by `seal`. */
  open(sealed: string, context: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url');
    // Decoding ignores some bits and characters, so a seal would otherwise have several encodings.
    if (bytes.toString('base64url') !== sealed) return null;
    const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    try {
      const options = { authTagLength: TAG_BYTES };
      const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, IV_BYTES), options);
      decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
      const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      return opened.toString('utf8');
    } catch {
      return null;
    }
  }
}
