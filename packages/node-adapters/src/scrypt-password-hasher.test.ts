import { ScryptPasswordHasher } from './passwords.js';

const quick = new ScryptPasswordHasher({ ln: 4, p: 1 });

describe('ScryptPasswordHasher', () => {
  it('recognizes the password and no other', async () => {
    const hash = await quick.hash('pw-hamlet@zulip.com');
    expect(await quick.verify('pw-hamlet@zulip.com', hash)).toBe(true);
    expect(await quick.verify('pw-Hamlet@zulip.com', hash)).toBe(false);
    expect(await quick.verify('', hash)).toBe(false);
  });

  it('stores how it was made, and nothing of the password', async () => {
    const hash = await quick.hash('to be or not to be');
    expect(hash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(hash).not.toContain('to be');
  });

  it('salts: one password, two hashes', async () => {
    expect(await quick.hash('same')).not.toBe(await quick.hash('same'));
  });

  it('still verifies what was hashed at another cost', async () => {
    const hash = await new ScryptPasswordHasher({ ln: 5, p: 2 }).hash('older');
    expect(await quick.verify('older', hash)).toBe(true);
  });

  it('takes the same letters in another spelling', async () => {
    const hash = await quick.hash('caf\u00e9');
    expect(await quick.verify('cafe\u0301', hash)).toBe(true);
  });

  it('refuses whoever has no password, after the same work', async () => {
    const hasher = new ScryptPasswordHasher({ ln: 14, p: 1 });
    const hash = await hasher.hash('x');
    /** Of all threads of this process, whatever others do meanwhile. */
    const work = async (stored: string | null) => {
      const before = process.cpuUsage();
      expect(await hasher.verify('y', stored)).toBe(false);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await work(hash);
    const withHash = Math.min(await work(hash), await work(hash), await work(hash));
    // Without the work it would be a thousandth.
    expect(await work(null)).toBeGreaterThan(withHash / 4);
  });

  it('does not take a form it does not know for a wrong password', async () => {
    await expect(quick.verify('x', '$argon2id$v=19$m=65536')).rejects.toThrow('unknown form');
  });
});
