import { HmacInvitationKeys } from './hmac-invitation-keys.js';

const keys = new HmacInvitationKeys('a secret');

describe('keys of invitations', () => {
  it.each([1, 2, 255, 256, 65_536, 2 ** 40 - 1])('say of which invitation they are: %s', (id) => {
    const key = keys.derive(id);
    expect(key).toMatch(/^[a-z2-7]{24}$/);
    expect(keys.read(key)).toBe(id);
    expect(keys.derive(id)).toBe(key);
  });

  it('are each other than the others', () => {
    const all = Array.from({ length: 100 }, (_, id) => keys.derive(id));
    expect(new Set(all.map((key) => key.slice(0, 8))).size).toBe(100);
    expect(new Set(all.map((key) => key.slice(-8))).size).toBe(100);
  });

  it('are good for the server that gave them out, as they are', () => {
    const key = keys.derive(7);
    expect(new HmacInvitationKeys('another secret').read(key)).toBeNull();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(keys.read(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
    }
    for (const bad of ['', key.toUpperCase(), `${key}a`, key.slice(1), '0'.repeat(24), 'a'.repeat(40)]) {
      expect(keys.read(bad)).toBeNull();
    }
  });
});
