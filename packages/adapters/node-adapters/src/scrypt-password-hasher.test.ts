import crypto from 'node:crypto';
import { ScryptPasswordHasher } from './passwords.js';

const quick = new ScryptPasswordHasher({ ln: 4, p: 1 });

describe('ScryptPasswordHasher', () => {
  it('accepts only the correct password', async () => {
    const hash = await quick.hash('pw-hamlet@zulip.com');
    expect(await quick.verify('pw-hamlet@zulip.com', hash)).toBe(true);
    expect(await quick.verify('pw-Hamlet@zulip.com', hash)).toBe(false);
    expect(await quick.verify('', hash)).toBe(false);
  });

  it('stores its parameters but not the password', async () => {
    const hash = await quick.hash('to be or not to be');
    expect(hash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(hash).not.toContain('to be');
  });

  it('has the cost that OWASP recommends by default', async () => {
    expect(await new ScryptPasswordHasher().hash('x')).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
  });

  it('salts hashes, so that equal passwords get different hashes', async () => {
    expect(await quick.hash('same')).not.toBe(await quick.hash('same'));
  });

  it('verifies hashes with another cost', async () => {
    const hash = await new ScryptPasswordHasher({ ln: 5, p: 2 }).hash('older');
    expect(await quick.verify('older', hash)).toBe(true);
  });

  it('accepts other Unicode forms of the same letters', async () => {
    const hash = await quick.hash('caf\u00e9');
    expect(await quick.verify('cafe\u0301', hash)).toBe(true);
  });

  it('rejects a user without a password after the same work', async () => {
    const hash = await quick.hash('x');
    const scrypt = jest.spyOn(crypto, 'scrypt');
    expect(await quick.verify('y', hash)).toBe(false);
    expect(await quick.verify('y', null)).toBe(false);
    const [withHash, without] = scrypt.mock.calls.map(([, salt, length, options]) => [salt, length, options]);
    scrypt.mockRestore();
    expect(without).toEqual([Buffer.alloc(16), ...withHash!.slice(1)]);
  });

  it('throws on an unknown hash format instead of rejecting the password', async () => {
    await expect(quick.verify('x', '$argon2id$v=19$m=65536')).rejects.toThrow('unknown form');
  });
});
