import type { RealmId, UserId } from '@parley/domain/kernel';
import { HmacApiKeyMint } from './tokens.js';

const secret = 'correct horse battery staple';
const record = { realmId: 1 as RealmId, userId: 12 as UserId, generation: 3, seed: '0123456789abcdef' };

describe('HmacApiKeyMint', () => {
  it('derives the same key again in another process', () => {
    expect(new HmacApiKeyMint(secret).derive(record)).toBe(new HmacApiKeyMint(secret).derive(record));
  });

  it('derives keys that every client accepts', () => {
    const mint = new HmacApiKeyMint(secret);
    for (let userId = 1; userId <= 500; userId++) {
      expect(mint.derive({ ...record, userId: userId as UserId })).toMatch(/^[A-Za-z0-9]{32}$/);
    }
  });

  it.each`
    other                     | change
    ${'realm'}                | ${{ realmId: 2 }}
    ${'user'}                 | ${{ userId: 123 }}
    ${'generation'}           | ${{ generation: 4 }}
    ${'seed'}                 | ${{ seed: '0123456789abcdee' }}
    ${'release'}              | ${{ seed: null }}
    ${'digits, shifted over'} | ${{ realmId: 11, userId: 2 }}
  `('derives another key for another $other', ({ change }) => {
    const mint = new HmacApiKeyMint(secret);
    expect(mint.derive({ ...record, ...change })).not.toBe(mint.derive(record));
  });

  it('derives the keys of release 0.3 for rows without a seed', () => {
    expect(new HmacApiKeyMint(secret).derive({ ...record, seed: null })).toBe('8cAi0PQMVVEIhHo001F0xAhUJdVtjy9G');
  });

  it('makes seeds of 128 random bits', () => {
    const mint = new HmacApiKeyMint(secret);
    expect(mint.newSeed()).toMatch(/^[0-9a-f]{32}$/);
    expect(mint.newSeed()).not.toBe(mint.newSeed());
  });

  it('derives different values from another secret', () => {
    const mint = new HmacApiKeyMint(secret);
    const other = new HmacApiKeyMint(`${secret}!`);
    const key = mint.derive(record);
    expect(other.derive(record)).not.toBe(key);
    expect(other.fingerprint(key)).not.toBe(mint.fingerprint(key));
    expect(other.secretFingerprint).not.toBe(mint.secretFingerprint);
  });

  it('reveals neither key nor secret in fingerprints', () => {
    const mint = new HmacApiKeyMint(secret);
    const key = mint.derive(record);
    expect(mint.fingerprint(key)).toHaveLength(43);
    expect(mint.fingerprint(key)).not.toContain(key);
    expect(mint.secretFingerprint).not.toBe(mint.fingerprint(secret));
    expect(mint.secretFingerprint).not.toContain(secret);
  });
});
