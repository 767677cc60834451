import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { encodeJob, jobKind, Leases } from '@parley/domain/kernel';
import { createFixture } from '@parley/testkit';
import { EndedLeases, newServerId } from './ended-leases.js';

const MAIL = jobKind({ name: 'test.mail', readPayload: (stored) => stored, leaseSeconds: 300 });
const SELECTION = { kind: MAIL.name, maxFormat: 1 };

async function stage() {
  const { uow, clock, realm } = await createFixture();
  const now = clock.now();
  /** Leases a job and recurring work as this server. */
  const leaseAs = async (holder: string) => {
    await uow.write(realm.id, (tx) => tx.jobs.schedule(encodeJob(MAIL, { realmId: realm.id, dueAt: now, payload: 0 })));
    await uow.writeAcross((tx) => tx.jobs.lease(SELECTION, { now, until: now + 300, attempts: 1, holder }, 1));
    await new Leases(uow, clock, holder).take(`work of ${holder}`, 3600);
  };
  const isWorkFree = async (holder: string) =>
    (await new Leases(uow, clock, 'next').take(`work of ${holder}`, 3600)) === 0;
  const dueJobs = () => uow.readAcross(async ({ jobs }) => (await jobs.listDue(SELECTION, now, 10)).length);
  return { leases: new EndedLeases(uow, clock), leaseAs, isWorkFree, dueJobs };
}

describe('EndedLeases', () => {
  it('ends the leases of ended processes of this machine', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    const { leases, leaseAs, isWorkFree, dueJobs } = await stage();
    const ended = [`${hostname()} ${child.pid} a`, `${hostname()} ${process.pid} a`];
    for (const holder of ended) await leaseAs(holder);
    expect(await dueJobs()).toBe(0);
    await leases.releaseLocal();
    expect(await dueJobs()).toBe(2);
    for (const holder of ended) expect(await isWorkFree(holder)).toBe(true);
  });

  it('keeps the leases of running processes, of other machines and of unknown holders', async () => {
    const { leases, leaseAs, isWorkFree, dueJobs } = await stage();
    const others = [newServerId(), `${hostname()} ${process.ppid} a`, `elsewhere ${process.pid} a`, 'unknown'];
    for (const holder of others) await leaseAs(holder);
    await leases.releaseLocal();
    expect(await dueJobs()).toBe(0);
    for (const holder of others) expect(await isWorkFree(holder)).toBe(false);
  });
});
