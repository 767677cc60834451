import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { firstOf } from '@parley/domain/kernel';
import type { RegistrationKeys } from '@parley/domain/push';
import { tokenIdOf } from './push.js';

/** DER prefixes of X25519 keys. Node has no other binary format for them. */
const PRIVATE_KEY_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');
const PUBLIC_KEY_HEAD = Buffer.from('302a300506032b656e032100', 'hex');
const KEY_BYTES = 32;
const NONCE_BYTES = 24;
/** First block of the cipher: `expand 32-byte k`. */
const SIGMA = wordsOf(Buffer.from('expand 32-byte k'));

const readPublicKey = (key: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([PUBLIC_KEY_HEAD, key]), format: 'der', type: 'spki' });

/** True for a private key in Base64. */
export function isPushKey(text: string): boolean {
  const key = Buffer.from(text, 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === text;
}

/** Returns a new key pair in Base64. */
export function makePushKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey } = generateKeyPairSync('x25519');
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-KEY_BYTES).toString('base64');
  return { privateKey: secret, publicKey: firstOf(new SealedBoxes([secret]).publicKeys) };
}

/** Opens sealed boxes of libsodium (`crypto_box_seal`) with any of several private keys. */
export class SealedBoxes implements RegistrationKeys {
  readonly publicKeys: readonly string[];
  private readonly privateKeys: ReadonlyMap<string, KeyObject>;

  constructor(privateKeys: readonly string[]) {
    this.privateKeys = new Map(
      privateKeys.map((text) => {
        const key = Buffer.concat([PRIVATE_KEY_HEAD, Buffer.from(text, 'base64')]);
        const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
        const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
        return [publicKey.toString('base64'), privateKey];
      }),
    );
    this.publicKeys = [...this.privateKeys.keys()];
  }

  open(publicKey: string, encrypted: string): string | null {
    const privateKey = this.privateKeys.get(publicKey);
    const box = Buffer.from(encrypted, 'base64');
    if (!privateKey || box.length <= KEY_BYTES) return null;
    const sender = box.subarray(0, KEY_BYTES);
    try {
      const shared = diffieHellman({ privateKey, publicKey: readPublicKey(sender) });
      const key = new Uint32Array(KEY_BYTES / 4);
      hsalsa(SIGMA, wordsOf(shared), new Uint32Array(4), key);
      const nonce = blake2b(Buffer.concat([sender, Buffer.from(publicKey, 'base64')]), { dkLen: NONCE_BYTES });
      const text = xsalsa20poly1305(new Uint8Array(key.buffer), nonce).decrypt(box.subarray(KEY_BYTES));
      return Buffer.from(text).toString('utf8');
    } catch {
      return null;
    }
  }

  tokenIdOf(token: string): string {
    return tokenIdOf(token);
  }
}

function wordsOf(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
}
