import type { QueueOwner } from '@parley/domain/events';
import type { RealmId, UserId } from '@parley/domain/shared';
import { DrivenTime } from '@parley/testkit';
import { WarmUp } from './warm-up.js';

const ownerOf = (realm: number): QueueOwner => ({ realmId: realm as RealmId, userId: (realm * 10) as UserId });

describe('warming up', () => {
  const reports: [string, Readonly<Record<string, unknown>>][] = [];
  let time: DrivenTime;
  let calls: string[];
  /** How long each organization's call takes, in milliseconds. */
  let took: (realmId: number) => number;

  function warmUpFor(owners: readonly QueueOwner[], paths: readonly string[] = ['/streams']): WarmUp {
    time = new DrivenTime();
    calls = [];
    reports.length = 0;
    const routes = paths.map((path) => ({
      method: 'GET' as const,
      path,
      warmUp: async ({ realmId, userId }: QueueOwner) => {
        calls.push(`${path} of ${realmId} as ${userId}`);
        const ms = took(realmId);
        if (Number.isNaN(ms)) throw new Error('no');
        await new Promise<void>((resolve) => time.after(ms, resolve));
      },
    }));
    return new WarmUp(
      [{ method: 'GET', path: '/messages', warmUp: undefined }, ...routes],
      () => {
        throw new Error('nothing is asked for');
      },
      { execute: async ({ limit }) => owners.slice(0, limit) },
      time,
      (message, fields) => void reports.push([message, fields]),
    );
  }

  it('does what is quick once, for each organization', async () => {
    took = () => 1;
    warmUpFor([ownerOf(1), ownerOf(2)], ['/register', '/streams']).start();
    await time.advance(1);
    expect(calls).toEqual([
      '/register of 1 as 10',
      '/register of 2 as 20',
      '/streams of 1 as 10',
      '/streams of 2 as 20',
    ]);
    expect(time.pending).toBe(0);
  });

  it('repeats what is slow until it is quick', async () => {
    took = () => (calls.length < 3 ? 100 : 1);
    warmUpFor([ownerOf(1)]).start();
    await time.advance(5);
    expect(calls).toHaveLength(3);
  });

  it('repeats what stays slow twelve times, and does it once for every further organization', async () => {
    took = () => 20;
    warmUpFor([ownerOf(1), ownerOf(2), ownerOf(3)]).start();
    await time.advance(5);
    expect(calls).toEqual([
      ...Array.from({ length: 12 }, () => '/streams of 1 as 10'),
      '/streams of 2 as 20',
      '/streams of 3 as 30',
    ]);
  });

  it('does it for ten organizations at most', async () => {
    took = () => 1;
    warmUpFor(Array.from({ length: 12 }, (_, n) => ownerOf(n + 1))).start();
    await time.advance(5);
    expect(calls).toHaveLength(10);
  });

  it('rests as long as it worked', async () => {
    took = () => 1000;
    warmUpFor([ownerOf(1)]).start();
    await time.advance(0.25 + 1);
    expect(calls).toHaveLength(1);
    await time.advance(0.9);
    expect(calls).toHaveLength(1);
    await time.advance(0.2);
    expect(calls).toHaveLength(2);
  });

  it('ends with what it is at when it is stopped, before it begins as well', async () => {
    took = () => 1000;
    const warmUp = warmUpFor([ownerOf(1)]);
    warmUp.start();
    await time.advance(0.5);
    const stopped = warmUp.stop();
    await time.advance(1);
    await stopped;
    await time.advance(10);
    expect(calls).toHaveLength(1);

    const never = warmUpFor([ownerOf(1)]);
    never.start();
    await never.stop();
    await time.advance(10);
    expect(calls).toEqual([]);
  });

  it('ends at once when it is stopped while it rests', async () => {
    took = () => 1000;
    const warmUp = warmUpFor([ownerOf(1)]);
    warmUp.start();
    await time.advance(1.5);
    expect(calls).toHaveLength(1);
    // Time stands still: nothing but being stopped ends the rest.
    await warmUp.stop();
    expect(time.pending).toBe(0);
    await time.advance(10);
    expect(calls).toHaveLength(1);
  }, 5000);

  it('logs what fails, and goes on with the others', async () => {
    took = () => (calls.length === 1 ? Number.NaN : 1);
    warmUpFor([ownerOf(1)], ['/register', '/streams']).start();
    await time.advance(1);
    expect([calls.length, reports]).toEqual([2, [['warming up failed', { path: '/register', err: new Error('no') }]]]);
  });
});
