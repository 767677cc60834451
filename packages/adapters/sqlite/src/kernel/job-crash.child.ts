import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeJob, type JobHandler, type JobKind, JobRunner, type Transaction } from '@parley/domain/kernel';
import { openSqliteStorage } from '../index.js';
import { crashMessage } from '../testing/crash-message.js';
import { MAIL, type Payload, POST } from './job-crash.kinds.js';

const clock = { now: () => Math.floor(Date.now() / 1000), nowMs: Date.now };

/** Sends a message for each executed job until killed. Argument: the database. */
async function main(path: string): Promise<void> {
  const { uow } = openSqliteStorage({ path, clock });
  const { realm, channel, sender } = await uow.readAcross(async (r) => {
    const [realm] = await r.realms.list();
    const [channel] = await r.channels.listAll(realm!.id);
    const [sender] = await r.users.listEntries(realm!.id);
    return { realm: realm!, channel: channel!, sender: sender! };
  });

  const post = (tx: Transaction, content: string) =>
    tx.messages.append(crashMessage(channel, sender.id, content, clock.now()));

  const handlerOf = (kind: JobKind<Payload>): JobHandler => ({
    kind,
    async prepare(job) {
      const { name, subscribers } = job.payload as Payload;
      await sleep(Math.random() * 5);
      return async (tx) => {
        await post(tx, name);
        if (subscribers === 0) return;
        const payload = { name: `${name}+`, subscribers: subscribers - 1 };
        await tx.jobs.schedule(encodeJob(kind, { realmId: realm.id, dueAt: clock.now(), payload }));
      };
    },
  });

  const runOn = async (kind: JobKind<Payload>): Promise<never> => {
    const report = (message: string, { err }: Readonly<Record<string, unknown>>) => console.error(message, err);
    const runner = new JobRunner(handlerOf(kind), { uow, clock, report });
    for (;;) {
      await runner.run();
      await sleep(2);
    }
  };
  writeSync(1, 'ready');
  await Promise.all([runOn(POST), runOn(MAIL)]);
}

void main(process.argv[2]!);
