import { CONFIRMATION_LINKS, HmacLinkKeys, INVITATION_LINKS } from './tokens.js';

describe.each([
  ['invitations', INVITATION_LINKS, CONFIRMATION_LINKS, 24],
  ['confirmations', CONFIRMATION_LINKS, INVITATION_LINKS, 40],
] as const)('HmacLinkKeys for %s', (_, kind, otherKind, length) => {
  const keys = new HmacLinkKeys('a secret', kind);

  it.each([1, 2, 255, 256, 65_536, 2 ** 40 - 1])('encodes the id in its key: %s', (id) => {
    const key = keys.derive(id);
    expect(key).toMatch(/^[a-z2-7]+$/);
    expect(key).toHaveLength(length);
    expect(keys.read(key)).toBe(id);
    expect(keys.derive(id)).toBe(key);
  });

  it('derives keys that differ at both ends', () => {
    const all = Array.from({ length: 100 }, (_, id) => keys.derive(id));
    expect(new Set(all.map((key) => key.slice(0, 8))).size).toBe(100);
    expect(new Set(all.map((key) => key.slice(-8))).size).toBe(100);
  });

  it('rejects changed keys and keys of another server', () => {
    const key = keys.derive(7);
    expect(new HmacLinkKeys('another secret', kind).read(key)).toBeNull();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(keys.read(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
    }
    for (const bad of ['', key.toUpperCase(), `${key}a`, key.slice(1), '0'.repeat(length), 'a'.repeat(length)]) {
      expect(keys.read(bad)).toBeNull();
    }
  });

  it('rejects keys with another purpose', () => {
    const other = new HmacLinkKeys('a secret', otherKind);
    const samePurposeLength = new HmacLinkKeys('a secret', { ...otherKind, proofBytes: kind.proofBytes });
    expect(other.read(keys.derive(7))).toBeNull();
    expect(samePurposeLength.read(keys.derive(7))).toBeNull();
  });
});
