import { CONFIRMATION_LINKS, HmacLinkKeys, INVITATION_LINKS } from './tokens.js';

describe.each([
  ['invitations', INVITATION_LINKS, CONFIRMATION_LINKS, 24, 'njtqctkcw4kvo44aont6exwd'],
  ['confirmations', CONFIRMATION_LINKS, INVITATION_LINKS, 40, 'iwqdip57katj4i2bqmidu7vx7xzlhz25hsql6m6z'],
] as const)('HmacLinkKeys for %s', (_, kind, otherKind, length, former) => {
  const keys = new HmacLinkKeys('a secret', kind);
  const seed = '0123456789abcdef0123456789abcdef';
  const derive = (id: number) => keys.derive({ id, seed });
  const idOf = async (key: string, by = keys) => (await by.find(key, async (id) => ({ id, seed })))?.id ?? null;

  it.each([1, 2, 255, 256, 65_536, 2 ** 40 - 1])('encodes the id in its key: %s', async (id) => {
    const key = derive(id);
    expect(key).toMatch(/^[a-z2-7]+$/);
    expect(key).toHaveLength(length);
    expect(await idOf(key)).toBe(id);
    expect(derive(id)).toBe(key);
  });

  it('derives keys that differ at both ends', () => {
    const all = Array.from({ length: 100 }, (_, id) => derive(id));
    expect(new Set(all.map((key) => key.slice(0, 8))).size).toBe(100);
    expect(new Set(all.map((key) => key.slice(-8))).size).toBe(100);
  });

  it('rejects changed keys and keys of another server', async () => {
    const key = derive(7);
    expect(await idOf(key, new HmacLinkKeys('another secret', kind))).toBeNull();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(await idOf(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
    }
    for (const bad of ['', key.toUpperCase(), `${key}a`, key.slice(1), '0'.repeat(length), 'a'.repeat(length)]) {
      expect(await idOf(bad)).toBeNull();
    }
  });

  it('rejects the key of a former row with the same id', async () => {
    const find = (key: string, row: { id: number; seed: string | null } | null) => keys.find(key, async () => row);
    const former = keys.derive({ id: 7, seed: seed.toUpperCase() });
    expect(await find(former, { id: 7, seed })).toBeNull();
    expect(await find(keys.derive({ id: 7, seed: null }), { id: 7, seed })).toBeNull();
    expect(await find(keys.derive({ id: 7, seed: null }), null)).toBeNull();
    expect(await find(derive(7), { id: 7, seed: null })).toBeNull();
  });

  it('accepts keys of release 0.3 for rows without a seed', async () => {
    expect(await keys.find(former, async (id) => ({ id, seed: null }))).toEqual({ id: 7, seed: null });
  });

  it('rejects keys with another purpose', async () => {
    const other = new HmacLinkKeys('a secret', otherKind);
    const samePurposeLength = new HmacLinkKeys('a secret', { ...otherKind, proofBytes: kind.proofBytes });
    expect(await idOf(derive(7), other)).toBeNull();
    expect(await idOf(derive(7), samePurposeLength)).toBeNull();
  });
});
