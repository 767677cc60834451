import { SeededRandomness } from '@parley/testkit';
import { ParleyProcess } from '../testing/parley-process.js';
import { TestOrganization } from '../testing/test-organization.js';
import { callApi } from './caller.js';
import { SEED, size } from './scale.js';

const ADDRESSES = size(200, 10_000);
const AT_ONCE = 20;
/**
 * Password guesses evaluated within half an hour, the maximum duration of this test: from all unknown networks, and
 * from a single one.
 */
const MAX_JUDGED = 30;
const HOME = '198.51.100.7';
const PASSWORD = 'the owner of this account knows it';

it('prevents an attacker with many addresses from guessing a password or locking out the owner', async () => {
  const chance = new SeededRandomness(SEED);
  const organization = await TestOrganization.withOrganization();
  const email = 'desdemona@elsinore.example';
  const { code } = await organization.run(['user', 'create', email, 'Desdemona', '--role=owner']);
  expect(code).toBe(0);
  const linked = await organization.run(['user', 'password-link', email]);
  const server = await ParleyProcess.start([
    ...['--port=0', `--database=sqlite:${organization.database}`, '--trust-proxy=1', '--shed-load=off'],
  ]);
  try {
    expect(linked.code).toBe(0);
    const from = (ip: string) => ({ 'x-forwarded-for': ip });
    const logIn = async (password: string, ip: string) =>
      (await callApi(server.url, null, 'POST', '/fetch_api_key', { username: email, password }, from(ip))).status;
    const reset = async (ip: string) =>
      (
        await fetch(`${server.url}/accounts/password/reset/`, {
          method: 'POST',
          redirect: 'manual',
          headers: from(ip),
          body: new URLSearchParams({ email }),
        })
      ).status;
    const link = new URL(/https?:\S+/.exec(linked.out)![0]);
    const set = await fetch(`${server.url}${link.pathname}`, {
      ...{ method: 'POST', redirect: 'manual', headers: from(HOME), body: new URLSearchParams({ password: PASSWORD }) },
    });
    expect(set.status).toBeLessThan(400);
    expect(await logIn(PASSWORD, HOME)).toBe(200);
    const statuses = new Map<number, number>();
    const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
    let sent = 0;
    const attack = async () => {
      while (sent < ADDRESSES) {
        const n = sent++;
        const ip = n % 3 === 0 ? `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` : `2001:db8:${n.toString(16)}::1`;
        count(await logIn(`guess ${n}`, ip));
        if (chance.fraction() < 0.1) await reset(ip);
      }
    };
    const owner = async () => {
      while (sent < ADDRESSES) expect(await logIn(PASSWORD, HOME)).toBe(200);
    };
    await Promise.all([owner(), ...Array.from({ length: AT_ONCE }, attack)]);
    expect([...statuses.keys()].sort()).toEqual([401, 429]);
    expect(statuses.get(401)).toBeLessThanOrEqual(MAX_JUDGED);
    expect(await logIn(PASSWORD, HOME)).toBe(200);
    expect(await reset(HOME)).toBe(303);
    expect(server.output).not.toContain('"level":"error"');
  } finally {
    await server.kill();
    await organization.close();
  }
});
